"""What a page's exercises say is what `autograder check` says, in one process and with nothing but NumPy."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

from autograder.attempts import Attempts
from autograder.check import check_notebook
from autograder.course import Course
from autograder.in_page import Door
from autograder.intake import imports_torch
from autograder.limits import LIMITS
from autograder.misconceptions import load
from autograder.shipped import files_needed, pack
from autograder.words import say

COURSE = Course(ROOT)
NOTEBOOKS = [
    (chapter, notebook)
    for chapter in COURSE.chapters
    for notebook in COURSE.assignment(chapter).notebooks
    if not any(imports_torch(cell.source) for cell in notebook.cells)
]
ROUNDS = 3  # how many wrong answers of each exercise are compared


def released(chapter, notebook):
    return ROOT / "exercises" / chapter / f"{notebook.name}.ipynb"


def references(notebook):
    return {exercise.name: exercise.reference for exercise in notebook.exercises}


def hand_in(chapter, notebook, answers, folder):
    """The released notebook with these answers in it, and its hints beside it."""
    content = json.loads(released(chapter, notebook).read_text(encoding="utf-8"))
    for cell in content["cells"]:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id")
        cell["source"] = answers.get(name, cell["source"])
    (folder / "hints.json").write_bytes(released(chapter, notebook).with_name("hints.json").read_bytes())
    path = folder / f"{notebook.name}.ipynb"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@pytest.fixture
def scores():
    return next(one for one in NOTEBOOKS if one[1].name == "scores")


@pytest.fixture
def door(scores):
    return Door(released(*scores))


@pytest.mark.parametrize(("chapter", "notebook"), NOTEBOOKS, ids=lambda value: getattr(value, "name", ""))
@pytest.mark.parametrize("number", range(ROUNDS))
def test_a_page_says_of_wrong_answers_what_check_says(chapter, notebook, number, tmp_path):
    wrong = load(ROOT / "solutions" / chapter).wrong
    answers = {}
    for exercise in notebook.exercises:
        sources = [variant.source for variant in wrong(exercise.name)]
        answers[exercise.name] = sources[number % len(sources)]
    found = Door(released(chapter, notebook)).check(answers, {})["exercises"]
    checked = check_notebook(hand_in(chapter, notebook, answers, tmp_path), tmp_path, Attempts())
    assert {name: (one["status"], one["message"]) for name, one in found.items()} == {
        one.exercise: (one.status, one.message) for one in checked.exercises
    }
    assert not any(one["passed"] for one in found.values())


@pytest.mark.parametrize(("chapter", "notebook"), NOTEBOOKS, ids=lambda value: getattr(value, "name", ""))
def test_the_references_pass_and_the_stubs_are_unanswered(chapter, notebook):
    door = Door(released(chapter, notebook))
    assert all(one["passed"] for one in door.check(references(notebook), {})["exercises"].values())
    assert {one["status"] for one in door.check({}, {})["exercises"].values()} == {"unanswered"}


def test_a_mistake_that_comes_back_gets_the_next_hint_also_in_another_visit(scores):
    wrong = "def softmax(s, axis=-1):\n    e = np.exp(s)\n    return e / e.sum(axis=axis, keepdims=True)"
    first = Door(released(*scores)).check({"softmax": wrong}, {})
    again = Door(released(*scores)).check({"softmax": wrong}, first["times"])
    assert first["exercises"]["softmax"]["message"] != again["exercises"]["softmax"]["message"]
    passing = Door(released(*scores)).check(references(scores[1]), again["times"])
    assert "softmax" not in passing["times"]


def test_what_runs_is_told_with_the_sentence_for_when_time_is_up(scores):
    told = []
    door = Door(released(*scores), lambda *one: told.append(one))
    door.check(references(scores[1]), {})
    limit = LIMITS.cell_seconds
    sentence = say("link.timeout", what=say("link.call", name="softmax"), seconds=f"{limit:g}")
    seconds = [seconds for *what, seconds in told if what == ["softmax", sentence]]
    assert seconds == pytest.approx([limit] * len(seconds), abs=0.5)
    assert seconds
    assert told[-1] == ("", "", 0.0)


def test_a_run_prints_what_the_cell_prints_and_the_value_of_its_last_line(door):
    ran = door.run("softmax", {"softmax": "print('two')\nnp.array([1.5, 2.0])", "dot_scores": "print('another')"})
    assert ran == {"printed": "two\narray([1.5, 2. ])\n", "error": ""}


def test_a_run_finds_the_answers_above_it_and_nothing_below(door):
    answers = {"dot_scores": "def dot_scores(hs, h):\n    return 7", "attend": "def attend(hs, h):\n    return 8"}
    assert door.run("softmax", answers | {"softmax": "dot_scores(1, 2)"})["printed"] == "7\n"
    assert "name 'attend' is not defined" in door.run("softmax", answers | {"softmax": "attend"})["error"]


def test_an_error_shows_the_lines_of_the_learner_and_no_others(door):
    answer = "def half(x):\n    return np.reshape(x, (2, 7))\n\nhalf(np.ones(3))"
    lines = door.run("softmax", {"softmax": answer})["error"].splitlines()
    assert lines[:2] == ["line 4: half(np.ones(3))", "line 2, in half: return np.reshape(x, (2, 7))"]
    assert lines[2].startswith("ValueError: cannot reshape array")
    assert len(lines) == 3


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("def softmax(s:\n    pass", "line 1: def softmax(s:\nSyntaxError: '(' was never closed"),
        ("exit()", say("link.exit", name="SystemExit")),
        ("input('x')", say("learner.no_input")),
        ("raise KeyError", "line 1: raise KeyError\nKeyError"),
    ],
)
def test_every_end_of_a_run_is_told(door, answer, said):
    assert said in door.run("softmax", {"softmax": answer})["error"]


def test_what_a_run_prints_is_capped_and_shows_no_control_characters(door):
    ran = door.run("softmax", {"softmax": "print('\\x1b[31mred' + 'x' * 20_000)"})
    assert len(ran["printed"]) < LIMITS.printed_chars + 200
    assert ran["printed"].startswith("redxx")


def test_what_an_answer_prints_while_its_mistake_is_looked_for_is_not_shown(door):
    answer = (
        "def softmax(s, axis=-1):\n    print('called')\n    return np.exp(s) / np.exp(s).sum(axis=axis, keepdims=True)"
    )
    found = door.check({"softmax": answer}, {})["exercises"]["softmax"]
    assert found["printed"].count("called") == 2  # the check's own calls


def test_one_check_leaves_nothing_for_the_next(door):
    door.check({"softmax": "kept = 1\ndef softmax(s, axis=-1):\n    return s"}, {})
    assert "NameError" in door.run("softmax", {"softmax": "kept"})["error"]
    message = door.check({"softmax": "def softmax(s, axis=-1):\n    return kept"}, {})["exercises"]["softmax"][
        "message"
    ]
    assert "NameError" in message


def test_the_program_for_the_browser_needs_numpy_and_itself_alone(scores, tmp_path):
    (tmp_path / "program.zip").write_bytes(pack("in_page"))
    script = f"""
import sys
sys.modules.update(dict.fromkeys(("IPython", "torch", "nbformat", "nbgrader")))  # as if they were not there
sys.path.insert(0, "program.zip")
from pathlib import Path
import autograder
from autograder.in_page import Door
door = Door(Path({str(released(*scores))!r}))
print(autograder.__file__)
print(door.serve('{{"do": "check", "answers": {{}}, "times": {{}}}}'))
print(door.serve('{{"do": "run", "exercise": "softmax", "answers": {{"softmax": "1 + 1"}}}}'))
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    where, checked, ran = done.stdout.splitlines()
    assert "program.zip" in where
    assert json.loads(checked)["exercises"]["softmax"]["status"] == "unanswered"
    assert json.loads(ran) == {"printed": "2\n", "error": ""}


def test_the_same_program_is_packed_into_the_same_bytes_and_holds_no_more_than_it_needs():
    assert pack("in_page") == pack("in_page")
    names = {path.stem for path in files_needed("in_page")}
    assert {"in_page", "check", "examiner", "hints", "words"} <= names
    assert not names & {"grade", "gradebook", "release", "warm", "watch"}
    assert all(Path(path).is_file() for path in files_needed("in_page"))
