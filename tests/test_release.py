"""A release shows stubs and visible tests and nothing else, is the same every time, and is refused otherwise."""

from __future__ import annotations

import json
import os
import shutil
import sys
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT
from made_up import DOUBLE, GIVEN, TEST_DOUBLE, answer_cell, check_cell, given_cell, make_course, notebook, own_cell

from autograder import release as release_module
from autograder.course import Course
from autograder.errors import UsageError
from autograder.hints_table import readable, same_but_for_rounding
from autograder.leaks import leaks
from autograder.lint import faults
from autograder.misconceptions import load
from autograder.release import release

CHAPTER = "01_numbers"
SECRETS = ("return 2 * x", "double(double(x))", "secret", "123.25", "246.5", "BEGIN", "END ", "x * x", "x + x", "4 * x")


@pytest.fixture
def course(tmp_path) -> Course:
    return make_course(tmp_path)


def source(course: Course) -> Path:
    return course.root / "solutions" / CHAPTER


def released(course: Course) -> dict[str, bytes]:
    folder = course.root / "exercises"
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def rewrite(course: Course, *cells: dict) -> None:
    (source(course) / "numbers.ipynb").write_text(json.dumps(notebook(*cells)))


def refused(course: Course) -> str:
    with pytest.raises(UsageError) as error:
        release(course)
    return str(error.value)


# What is released


def test_nothing_secret_is_released_whatever_lies_beside_the_source(course):
    (source(course) / "reference.py").write_text("def double(x):\n    return 2 * x\n")
    (source(course) / "answers.txt").write_text("double: return 2 * x\n")
    (source(course) / "pictures").mkdir()
    (source(course) / "pictures" / "answer.png").write_bytes(b"return 2 * x")
    release(course)
    files = released(course)
    assert sorted(files) == [f"{CHAPTER}/hints.json", f"{CHAPTER}/numbers.ipynb"]
    for name, content in files.items():
        for secret in SECRETS:
            assert secret not in content.decode(), (name, secret)


def test_the_released_notebook_is_clean_and_its_ids_are_stable(course):
    raw = notebook(*json.loads((source(course) / "numbers.ipynb").read_text())["cells"])
    raw["metadata"]["vscode"] = {"interpreter": {"hash": "1"}}
    raw["cells"][0]["metadata"]["jupyter"] = {"source_hidden": True}
    (source(course) / "numbers.ipynb").write_text(json.dumps(raw))
    release(course)
    made = json.loads(released(course)[f"{CHAPTER}/numbers.ipynb"])
    assert [cell["id"] for cell in made["cells"]] == [
        "given_numbers",
        "double",
        "test_double",
        "quadruple",
        "test_quadruple",
    ]
    assert made["metadata"] == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
        "mystnb": {"execution_mode": "off"},
    }
    assert (made["nbformat"], made["nbformat_minor"]) == (4, 5)
    for cell in made["cells"]:
        assert cell["outputs"] == []
        assert cell["execution_count"] is None
        assert set(cell["metadata"]) <= {"nbgrader", "deletable", "editable"}
    assert "raise NotImplementedError()" in "".join(made["cells"][1]["source"])


def test_the_hints_hold_what_check_needs_of_the_released_cells(course):
    release(course)
    table = json.loads(released(course)[f"{CHAPTER}/hints.json"])
    assert table["assignment"] == CHAPTER
    assert sorted(table["exercises"]) == ["double", "quadruple"]
    made = json.loads(released(course)[f"{CHAPTER}/numbers.ipynb"])
    cells = table["notebooks"]["numbers"]
    assert [cell["source"] for cell in cells] == ["".join(cell["source"]) for cell in made["cells"]]
    assert cells[2]["is_check"]
    assert cells[2]["points"] == 2


def test_two_releases_give_the_same_bytes(course, tmp_path):
    release(course, zip_path=tmp_path / "one.zip")
    first = released(course)
    shutil.rmtree(course.root / "exercises")
    release(course, zip_path=tmp_path / "two.zip")
    assert released(course) == first
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


def test_the_zip_holds_the_released_files(course, tmp_path):
    release(course, zip_path=tmp_path / "exercises.zip")
    with zipfile.ZipFile(tmp_path / "exercises.zip") as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == released(course)


def test_a_notebook_that_has_no_source_any_more_is_removed(course):
    release(course)
    stray = course.root / "exercises" / CHAPTER / "old.ipynb"
    stray.write_text("{}")
    assert release(course, check=True).changed == (f"exercises/{CHAPTER}/old.ipynb",)
    release(course)
    assert not stray.exists()


def test_a_chapter_that_has_no_source_any_more_is_removed_and_other_folders_stay(course):
    release(course)
    folder = course.root / "exercises"
    shutil.copytree(folder / CHAPTER, folder / "09_gone")
    (folder / "pictures").mkdir()
    assert release(course, [CHAPTER]).changed == ()  # only the named chapter is looked at
    assert release(course).changed == ("exercises/09_gone/",)
    assert sorted(path.name for path in folder.iterdir()) == [CHAPTER, "pictures"]


# --check


def test_check_names_what_differs_and_writes_nothing(course):
    assert release(course, check=True).changed == (
        f"exercises/{CHAPTER}/hints.json",
        f"exercises/{CHAPTER}/numbers.ipynb",
    )
    assert not (course.root / "exercises").exists()
    release(course)
    assert release(course, check=True).changed == ()
    path = course.root / "exercises" / CHAPTER / "numbers.ipynb"
    path.write_text(path.read_text().replace("Twice", "Two times"))
    assert release(course, check=True).changed == (f"exercises/{CHAPTER}/numbers.ipynb",)


def test_jupyters_checkpoints_are_not_a_difference(course):
    release(course)
    (course.root / "exercises" / CHAPTER / ".ipynb_checkpoints").mkdir()
    (course.root / "exercises" / CHAPTER / ".ipynb_checkpoints" / "numbers-checkpoint.ipynb").write_text("{}")
    assert release(course, check=True).changed == ()


def test_rounding_on_another_machine_is_not_a_difference(course):
    release(course)
    path = course.root / "exercises" / CHAPTER / "hints.json"
    text = path.read_text()
    assert "25.0" in text  # what `squared` gives for 5.0
    path.write_text(text.replace("25.0", "25.0000000001"))
    before = path.read_bytes()
    assert release(course, check=True).changed == ()
    release(course)
    assert path.read_bytes() == before
    path.write_text(text.replace("25.0", "25.001"))
    assert release(course, check=True).changed == (f"exercises/{CHAPTER}/hints.json",)


@pytest.mark.parametrize("part", ["probes", "right", "sentences"])
def test_outside_the_mistakes_numbers_every_difference_counts(part):
    one = {"exercises": {"e": {"probes": [0.1], "right": [0.1], "mistakes": [{"sentences": "a", "shows": 0.1}]}}}
    other = json.loads(json.dumps(one))
    exercise = other["exercises"]["e"]
    exercise["mistakes"][0]["shows"] = 0.1 + 1e-12
    assert same_but_for_rounding(json.dumps(one).encode(), json.dumps(other).encode())
    if part == "sentences":
        exercise["mistakes"][0]["sentences"] = "b"
    else:
        exercise[part] = [0.1 + 1e-12]
    assert not same_but_for_rounding(json.dumps(one).encode(), json.dumps(other).encode())


# A release that fails


def test_a_failing_release_keeps_the_last(course):
    release(course)
    last = released(course)
    rewrite(course, given_cell("given", GIVEN), answer_cell("double", DOUBLE))  # no check any more
    refused(course)
    assert released(course) == last


def test_a_swap_that_breaks_off_puts_the_last_release_back(course, monkeypatch):
    shutil.copytree(source(course), course.root / "solutions" / "02_more")
    release(course)
    last = released(course)
    for chapter in course.chapters:  # both change
        path = course.root / "solutions" / chapter / "numbers.ipynb"
        path.write_text(path.read_text().replace("Twice x", "Two times x"))
    move, count = release_module._move, []

    def broken(origin, target, moved):
        count.append(target)
        if len(count) == 4:
            raise OSError("disk full")
        move(origin, target, moved)

    monkeypatch.setattr(release_module, "_move", broken)
    with pytest.raises(OSError, match="disk full"):
        release(course)
    assert released(course) == last


def test_an_unfair_exercise_is_refused_with_what_the_proof_says(course):
    asked = []

    def prove(assignment, misconceptions, table):
        asked.append((assignment.name, sorted(table["exercises"])))
        yield "the stub earns a point"

    with pytest.raises(UsageError, match="the stub earns a point"):
        release(course, prove=prove)
    assert asked == [(CHAPTER, ["double", "quadruple"])]
    assert not (course.root / "exercises").exists()


def test_a_sentence_that_quotes_the_answer_is_a_leak(course):
    path = source(course) / "misconceptions.py"
    path.write_text(path.read_text().replace("You square x: 2", "Write `return 2 * x`: 2"))
    assert "hints.json holds a line of the solution of 'double': return 2 * x" in refused(course)


def test_what_is_unchanged_is_not_proven_again_but_hidden_tests_that_changed_are(course):
    asked = []

    def prove(assignment, misconceptions, table):
        asked.append(assignment.name)
        return ()

    release(course, prove=prove)
    release(course, prove=prove)
    assert asked == [CHAPTER]
    path = source(course) / "numbers.ipynb"
    path.write_text(path.read_text().replace("-7.5, 3.0", "-7.5, 4.0").replace("-15.0, 6.0", "-15.0, 8.0"))
    assert release(course, check=True).changed == (f"exercises/{CHAPTER}/hints.json",)
    release(course, prove=prove)
    assert asked == [CHAPTER, CHAPTER]


# The scan, on files that another tool might have made


@pytest.fixture
def scan(course):
    assignment = course.assignment(CHAPTER)
    misconceptions = load(assignment.folder)
    made = release_module.make(assignment)

    def scanned(**changed: bytes) -> list[str]:
        files = made | {name.replace("__", "."): content for name, content in changed.items()}
        return leaks(assignment, misconceptions, files, ("hints.json",))

    scanned.notebook = made["numbers.ipynb"].decode()
    return scanned


def test_what_release_makes_has_no_leak(scan):
    assert scan() == []


def test_a_stray_file_is_a_leak(scan):
    assert scan(reference__py=b'"x"') == ["reference.py would be released, and is no notebook of the chapter."]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("return 2 * x", "a line of the solution of 'double'"),
        ("secret = np.array([[123.25, -7.5, 3.0]])", "a line of the hidden tests of 'test_double'"),
        ("return double(x)", "a line of the answer 'only_doubled' in misconceptions.py"),
        ("### BEGIN SOLUTION", "the marker 'BEGIN SOLUTION'"),
        ("### END HIDDEN TESTS", "the marker 'END HIDDEN TESTS'"),
    ],
)
@pytest.mark.parametrize("place", ["source", "outputs", "metadata"])
def test_a_secret_line_is_a_leak_wherever_it_stands(scan, line, said, place):
    file = json.loads(scan.notebook)
    if place == "source":
        file["cells"][0]["source"].append(f"\n    {line}")
    elif place == "outputs":
        file["cells"][0]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": [f"{line}\n", "more\n"]}]
    else:
        file["metadata"]["note"] = f"as in: {line}"
    found = scan(numbers__ipynb=json.dumps(file).encode())
    assert any(said in leak for leak in found)


def test_a_cell_that_is_not_the_public_part_of_its_source_is_a_leak(scan):
    file = json.loads(scan.notebook)
    file["cells"][2]["source"].append("# one more line")
    assert scan(numbers__ipynb=json.dumps(file).encode()) == [
        "numbers.ipynb, cell 'test_double': it is not the public part of its source."
    ]
    del file["cells"][2]
    assert any("has 4 cells" in leak for leak in scan(numbers__ipynb=json.dumps(file).encode()))


# Faults of the source


def linted(course: Course, *cells: dict) -> list[str]:
    rewrite(course, *cells)
    return faults(course.assignment(CHAPTER))


def test_a_good_source_has_no_fault(course):
    assert faults(course.assignment(CHAPTER)) == []


G, A, T = given_cell("given", GIVEN), answer_cell("double", DOUBLE), check_cell("test_double", TEST_DOUBLE)


def mark(cell: dict, **changed) -> dict:
    return cell | {"metadata": {"nbgrader": cell["metadata"]["nbgrader"] | changed}}


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ((G, A), "cell 'double': 'double' has no test cell"),
        ((G, T, A), "its test 'test_double' stands above it"),
        ((G, A, T, check_cell("test_triple", "assert 1 == 1")), "cell 'test_triple': it checks no exercise"),
        ((G, A, T, T | {"id": "other"}), "several cells have the grade_id 'test_double'"),
        ((G, A, T | {"id": "double"}), "another cell has the same id"),
        ((G, A, T | {"id": "test-double"}), "its cell id is 'test-double', and should be its grade_id"),
        ((G, A | {"id": "dou ble"}, T), "no cell id of letters"),
        ((G, A | {"source": DOUBLE.replace("### END SOLUTION\n", "")}, T), "'### BEGIN SOLUTION' has no '### END"),
        ((G, A | {"source": DOUBLE.replace("### BEGIN SOLUTION\n", "")}, T), "'### END SOLUTION' has no '### BEGIN"),
        ((G, A | {"source": DOUBLE.replace("### BEGIN", "# BEGIN")}, T), "line 3: 'BEGIN SOLUTION' should stand alone"),
        ((G, A | {"source": "def double(x):\n    return 2 * x"}, T), "an answer cell without '### BEGIN SOLUTION'"),
        ((G, A | {"source": DOUBLE.replace("def double", "def twice")}, T), "no function or class 'double'"),
        ((G, A | {"source": DOUBLE.replace("(x):", "(x)")}, T), "line 1: expected ':'"),
        ((G | {"source": DOUBLE}, A, T), "holds a solution and is not marked as an answer"),
        ((G | {"source": TEST_DOUBLE}, A, T), "holds hidden tests and is not marked as a test"),
        ((G, A, T | {"source": TEST_DOUBLE.replace("### END HIDDEN TESTS\n", "")}), "'### BEGIN HIDDEN TESTS' has no"),
        ((G, A, T | {"source": TEST_DOUBLE + "assert True\n"}), "something stands after its hidden tests"),
        ((G, A, T | {"source": TEST_DOUBLE + TEST_DOUBLE}), "several blocks of hidden tests"),
        (
            (G, A, T | {"source": "x = 1\nif x:\n    ### BEGIN HIDDEN TESTS\n    x = 2\n    ### END HIDDEN TESTS\n"}),
            "its hidden tests are indented",
        ),
        (
            (G, A, T | {"source": "# a\n### BEGIN HIDDEN TESTS\nassert double(1) == 2\n### END HIDDEN TESTS\n"}),
            "all of its tests are hidden",
        ),
        ((G, A, mark(T, points=0)), "its points are 0"),
        ((G, A, mark(T, points=1.5)), "its points are 1.5"),
        ((G, A, mark(T, points=True)), "its points are True"),
        ((G, A, mark(T, points="2")), "its points are 2"),
        ((G, A, mark(T, locked=False)), "not locked"),
        ((mark(G, locked=False), A, T), "not locked"),
        ((G, mark(A, locked=True), T), "an answer cell, and locked"),
        ((G, mark(A, grade=True, points=1), T), "graded by hand"),
        ((G, A, mark(T, schema_version=1)), "schema_version is 1"),
        ((G, A, T | {"outputs": [{"output_type": "stream", "name": "stdout", "text": "4"}]}), "it holds outputs"),
        ((G, A, T | {"execution_count": 3}), "it holds outputs or an execution count"),
        ((own_cell("x = 1"), A, T), "cell 'own': it is code without a grade_id"),
    ],
)
def test_a_fault_of_the_source_is_named_with_its_cell(course, cells, said):
    assert any(said in fault for fault in linted(course, *cells)), linted(course, *cells)


def test_faults_name_their_notebook(course):
    assert str(source(course) / "numbers.ipynb") in linted(course, G, A)[0]


def test_a_course_without_chapters_is_said(tmp_path):
    (tmp_path / "solutions").mkdir()
    with pytest.raises(UsageError, match="no chapter"):
        release(Course(tmp_path))


# The file's look


def test_lists_of_numbers_stand_on_one_line_and_the_file_is_plain_json():
    value = {"values": [0.1] * 60, "words": ["a" * 60, "b" * 60], "none": None, "short": {"a": [1, {"b": "nan"}]}}
    text = readable(value)
    assert json.loads(text) == value
    assert len(text.splitlines()) == 9


# This course, and stock nbgrader


@pytest.mark.slow
def test_the_committed_exercises_are_what_a_release_makes_today():
    assert release(Course(ROOT), check=True).changed == ()


def test_with_the_courses_settings_stock_nbgrader_releases_no_stray_file(course, monkeypatch):
    from nbgrader.apps.api import NbGraderAPI
    from traitlets.config.loader import PyFileConfigLoader

    # nbgrader calls alembic as a command: it lies where Python's other commands do
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(course.root)
    for stray in ("reference.py", "answers.txt", "notes.md"):
        (source(course) / stray).write_text("return 2 * x\n")
    nbgrader = NbGraderAPI(config=PyFileConfigLoader("nbgrader_config.py", path=str(ROOT)).load_config())
    said = nbgrader.generate_assignment(CHAPTER)
    assert said["success"], said
    assert sorted(released(course)) == [f"{CHAPTER}/numbers.ipynb"]
