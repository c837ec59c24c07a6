"""A run's way from what was handed in to grades.csv, the gradebook and the learner's page, beside the notebook's own."""

from __future__ import annotations

import csv
import json
import os
import sqlite3
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT
from made_up import DOUBLE, GIVEN, TEST_DOUBLE, answer_cell, check_cell, given_cell, handed_in, notebook
from test_run_grading import LINES, MODEL, SIZES, files

from autograder.__main__ import main
from autograder.attempts import Attempts
from autograder.check import check_notebook, report
from autograder.collected import collect
from autograder.course import Course
from autograder.recognise import Recogniser
from autograder.run_files import CONFIG, METRICS, NAMES, WEIGHTS, run_file_name, run_of

RUN_CELL = "from autograder.run_grading import run_fault\n\nfault = run_fault('{check}')\nassert not fault, fault\n"
CHECKS = {"test_run": 1, "test_run_5_digits": 2, "test_run_12_digits": 3}


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """The made-up course, of one exercise and a run."""
    root = tmp_path_factory.mktemp("course")
    folder = root / "solutions" / "01_numbers"
    folder.mkdir(parents=True)
    cells = [given_cell("given_numbers", GIVEN), answer_cell("double", DOUBLE), check_cell("test_double", TEST_DOUBLE)]
    cells.append(given_cell("given_model", "\n\n\n".join(MODEL)))
    cells += [check_cell(name, RUN_CELL.format(check=name), points) for name, points in CHECKS.items()]
    (folder / "numbers.ipynb").write_text(json.dumps(notebook(*cells)), encoding="utf-8")
    (folder / "misconceptions.py").write_text("", encoding="utf-8")
    assert main(["--course", str(root), "release"]) == 0
    return Course(root)


def write(folder, contents):
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (folder / name).write_bytes(content)


@pytest.fixture(scope="module")
def graded(course, sandbox, tmp_path_factory):
    """A class, graded: the rows by student and exercise, and where the results lie."""
    home = tmp_path_factory.mktemp("class")
    whole = dict(files().files)
    numbers = {"numbers.ipynb": handed_in(double="def double(x):\n    return x + x")}
    write(home / "class" / "nothing", {})
    write(home / "class" / "no_run" / "01_numbers", numbers)
    write(home / "class" / "untrained" / "01_numbers", numbers)
    write(home / "class" / "untrained" / "01_numbers" / "run", whole)
    write(home / "class" / "only_a_run" / "01_numbers", whole)
    write(home / "class" / "two_files" / "01_numbers", {name: whole[name] for name in (WEIGHTS, CONFIG)})
    linked = home / "class" / "a_link" / "01_numbers" / "run"
    write(linked, {name: whole[name] for name in (CONFIG, METRICS)})
    (linked / WEIGHTS).symlink_to(ROOT / "README.md")
    huge = home / "class" / "ten_gigabytes" / "01_numbers"
    write(huge, whole)
    os.truncate(huge / WEIGHTS, 10 << 30)  # sparse
    two = home / "class" / "two_runs" / "01_numbers"
    write(two / "run", dict.fromkeys(NAMES, b"broken"))
    write(two / "run 2", dict.fromkeys(NAMES, b"newer"))
    for name in NAMES:
        os.utime(two / "run" / name, (1e9, 1e9))
    packed = home / "class" / "packed"
    packed.mkdir()
    with zipfile.ZipFile(packed / "01_numbers.zip", "w") as archive:
        for name, content in whole.items():
            archive.writestr(f"run/{name}", content if name != WEIGHTS else b"cut off")
    assert (
        main(["--course", str(course.root), "grade", str(home / "class"), "--out", str(home / "out"), "--jobs", "2"])
        == 0
    )
    with (home / "out" / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = {(row["student"], row["exercise"]): row for row in csv.DictReader(file)}
    return rows, home / "out"


EXPECTED = {
    "nothing": ("missing", 0, "no run was handed in"),
    "no_run": ("missing", 0, "no run was handed in"),
    "untrained": ("failed", 1, "At 5 digits 0% of the answers are right"),
    "only_a_run": ("failed", 1, "At 5 digits 0% of the answers are right"),
    "two_files": ("failed", 0, "The run is not whole: metrics.jsonl is missing."),
    "a_link": ("failed", 0, "it is a link, and links are not followed"),
    "ten_gigabytes": ("failed", 0, "model.safetensors is larger than 16 MiB"),
    "two_runs": ("failed", 0, "config.json is not JSON"),
    "packed": ("failed", 0, "model.safetensors is no file of that kind, or is cut off"),
}


@pytest.mark.parametrize(("student", "row"), EXPECTED.items(), ids=EXPECTED.keys())
def test_each_run_has_a_clear_row(graded, student, row):
    status, score, message = row
    came = graded[0][student, "run"]
    assert (came["status"], float(came["score"]), float(came["max_score"])) == (status, score, 6)
    assert message in came["message"]


def test_the_notebooks_own_points_do_not_depend_on_the_run(graded):
    rows, _ = graded
    assert [rows[student, "double"]["score"] for student in ("no_run", "untrained")] == ["2", "2"]
    assert rows["only_a_run", "double"]["status"] == "missing"


def test_the_gradebook_holds_the_runs_points_cell_by_cell(graded):
    query = (
        "select base_cell.name, grade.auto_score from grade join grade_cells on grade_cells.id = grade.cell_id "
        "join base_cell on base_cell.id = grade_cells.id join submitted_notebook on submitted_notebook.id = grade.notebook_id "
        "join submitted_assignment on submitted_assignment.id = submitted_notebook.assignment_id "
        "where submitted_assignment.student_id = 'untrained'"
    )
    with sqlite3.connect(graded[1] / "gradebook.db") as database:
        scores = dict(database.execute(query).fetchall())
    assert scores == {"test_double": 2.0, "test_run": 1.0, "test_run_5_digits": 0.0, "test_run_12_digits": 0.0}


def test_the_learners_page_tells_what_the_run_can(graded):
    page = (graded[1] / "feedback" / "untrained" / "01_numbers.html").read_text(encoding="utf-8")
    assert "Right answers, of 200 for each number of digits: 5 digits 0%" in page
    assert "At 12 digits 0% of the answers are right, and 90% are asked for." in page
    assert "tokens per second on cpu" in page
    page = (graded[1] / "feedback" / "no_run" / "01_numbers.html").read_text(encoding="utf-8")
    assert "hand in the folder <code>run</code>" in page
    page = (graded[1] / "feedback" / "two_runs" / "01_numbers.html").read_text(encoding="utf-8")
    assert "2 runs were handed in" in page


def test_a_run_that_may_lie_where_this_machine_cannot_read_is_no_zero(course, tmp_path, monkeypatch):
    write(tmp_path / "class" / "kim" / "01_numbers" / "run", dict(files().files))
    write(tmp_path / "class" / "kim" / "01_numbers", {METRICS: b"{}"})
    scandir = os.scandir

    def refuse(path):
        if Path(path).name == "run":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    kim = collect(tmp_path / "class", course.chapters, Recogniser(course.readable()[0].values())).students["kim"]
    run = run_of(kim, "01_numbers")
    assert run.status.name == "ungraded"
    assert "Permission denied" in run.fault


def test_a_run_that_is_graded_is_known_the_next_time_and_a_changed_one_is_not(course, graded, tmp_path, capsys):
    folder, out = tmp_path / "class" / "kim" / "01_numbers", tmp_path / "out"
    command = ["--course", str(course.root), "grade", str(tmp_path / "class"), "--out", str(out)]
    broken = dict.fromkeys(NAMES, b"{}")
    for contents, known in ((broken, 0), (broken, 1), (broken | {WEIGHTS: b"[]"}, 0)):
        write(folder, contents)
        assert main(command) == 0
        assert f"1 submissions graded ({known} of them were known already)" in capsys.readouterr().out


def test_check_tells_a_learner_the_same(course, tmp_path):
    path = tmp_path / "numbers.ipynb"
    path.write_bytes(handed_in(double="def double(x):\n    return x + x"))
    said = report(check_notebook(path, course.root, Attempts()))
    assert f"✗ run     There is no run yet: {tmp_path / 'run'} holds no model.safetensors" in said
    write(tmp_path / "run", dict(files(lines=[LINES[0] | {"parameters": 5}]).files))
    said = report(check_notebook(path, course.root, Attempts()))
    assert "metrics.jsonl tells of 5 parameters" in said
    assert "1 of 2 right so far." in said


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("model.safetensors", WEIGHTS),
        ("model (1).safetensors", WEIGHTS),
        ("Config.JSON", CONFIG),
        ("metrics-Copy1.jsonl", METRICS),
        ("model.pt", ""),
        ("numbers.ipynb", ""),
        ("tokenizer_config.json", ""),
    ],
)
def test_a_runs_files_are_known_by_their_names(name, known):
    assert run_file_name(name) == known


def test_the_made_up_run_is_of_the_sizes_that_its_config_says():
    assert json.loads(dict(files().files)[CONFIG])["sizes"] == SIZES
