"""FIELD, "Structure": what people do to the cells, and what becomes of it."""

from __future__ import annotations

import json

import pytest
from made_up import DOUBLE, answer_cell, check_cell, handed_in, made_up, own_cell

from autograder.course import stub_of
from autograder.submission import Submission, grade_submission

RIGHT = {"double": "def double(x):\n    return x + x", "quadruple": "def quadruple(x):\n    return 4 * x"}


@pytest.fixture(scope="module")
def assignment(tmp_path_factory):
    return made_up(tmp_path_factory.mktemp("course"))[0]


@pytest.fixture
def graded(assignment, warm):
    """Grade a right notebook after a change of its cells."""

    def grade(edit):
        book = json.loads(handed_in(**RIGHT))
        edit(book["cells"])
        submission = Submission("kim", "01_numbers", (("numbers", json.dumps(book).encode()),))
        return grade_submission(submission, assignment, warm.start, "", {})

    return grade


def scores(result):
    return {exercise.exercise: exercise.score for exercise in result.exercises}


def place(cells, name):
    return next(i for i, cell in enumerate(cells) if cell["metadata"].get("nbgrader", {}).get("grade_id") == name)


# Test cells: the source's own run, once, whatever became of the copy


def test_cell(cells):
    return cells[place(cells, "test_double")]


test_cell.__test__ = False  # no test itself


def copied(cells):
    cells.insert(0, dict(test_cell(cells)))


def split(cells):
    cell = test_cell(cells)
    lines = cell["source"].splitlines(keepends=True)
    cell["source"] = "".join(lines[:2])
    cells.insert(place(cells, "test_double") + 1, own_cell("".join(lines[2:])))


def deleted(cells):
    cells.remove(test_cell(cells))


def turned_into_markdown(cells):
    cell = test_cell(cells)
    cell["cell_type"] = "markdown"
    del cell["outputs"], cell["execution_count"]


def emptied(cells):
    test_cell(cells)["source"] = ""


def made_to_say_nothing(cells):
    test_cell(cells)["source"] = "pass"


def made_worth_more(cells):
    cells.insert(0, check_cell("test_double", "pass", points=1000))


EDITS = [split, deleted, turned_into_markdown, emptied, made_to_say_nothing, made_worth_more]


@pytest.mark.parametrize("edit", [copied, *EDITS])
def test_whatever_becomes_of_a_test_cell_the_sources_own_runs_once(graded, edit):
    result = graded(edit)
    assert scores(result) == {"double": 2, "quadruple": 3}
    assert result.max_score == 5
    assert [check.check for exercise in result.exercises for check in exercise.checks] == [
        "test_double",
        "test_quadruple",
    ]


@pytest.mark.parametrize("edit", EDITS)
def test_a_wrong_answer_gains_nothing_by_it(graded, edit):
    def and_wrong(cells):
        cells[place(cells, "double")]["source"] = "def double(x):\n    return x"
        edit(cells)

    assert scores(graded(and_wrong))["double"] == 0


@pytest.mark.parametrize("edit", EDITS)
def test_a_changed_test_cell_is_flagged_by_name(graded, edit):
    (flag,) = graded(edit).flags
    assert "test_double" in flag
    assert "test_quadruple" not in flag


def spaced(cells):
    cell = test_cell(cells)
    cell["source"] = cell["source"].replace("\n", "  \r\n") + "\n\n"


@pytest.mark.parametrize("edit", [copied, spaced], ids=["copied", "spaces and line ends"])
def test_a_test_cell_that_says_the_same_is_no_news(graded, edit):
    assert graded(edit).flags == ()


# Metadata


def stripped(cells):
    for cell in cells:
        cell["metadata"] = {}


def stripped_with_ids(cells):
    for cell in cells:
        cell["metadata"] = {}
        del cell["id"]


def half_there(cells):
    for cell in cells[::2]:
        cell["metadata"] = {}
        del cell["id"]


def only_the_name(cells):
    for cell in cells:
        cell["metadata"]["nbgrader"] = {"grade_id": cell["metadata"]["nbgrader"]["grade_id"]}


@pytest.mark.parametrize("edit", [stripped, stripped_with_ids, half_there, only_the_name])
def test_answers_are_found_without_their_metadata(graded, edit):
    result = graded(edit)
    assert scores(result) == {"double": 2, "quadruple": 3}
    assert result.flags == ()


# Own cells, order, pasting


def helper_above(cells):
    cells.insert(1, own_cell("def twice(x):\n    return x + x"))
    cells[place(cells, "double")]["source"] = "def double(x):\n    return twice(x)"


def helper_below(cells):
    cells.append(own_cell("def twice(x):\n    return x + x"))
    cells[place(cells, "double")]["source"] = "def double(x):\n    return twice(x)"


def out_of_order(cells):
    cells.reverse()
    for number, cell in enumerate(cells):
        cell["execution_count"] = 10 - number


def pasted_with_its_id(cells):
    cells.insert(1, answer_cell("double", "def double(x):\n    return x"))


def stub_pasted_below(cells):
    cells.append(answer_cell("double", stub_of(DOUBLE)))


def broken_cells_above(cells):
    cells[:0] = [own_cell("def double(x:"), own_cell("1 / 0"), own_cell("\tif"), own_cell("!ls"), own_cell("%%time")]


@pytest.mark.parametrize(
    "edit", [helper_above, helper_below, out_of_order, pasted_with_its_id, stub_pasted_below, broken_cells_above]
)
def test_a_good_answer_keeps_its_points_whatever_stands_around_it(graded, edit):
    assert scores(graded(edit)) == {"double": 2, "quadruple": 3}


def test_a_deleted_answer_is_unanswered_flagged_and_told_to_the_learner(graded):
    result = graded(lambda cells: cells.pop(place(cells, "double")))
    exercise = result.exercises[0]
    assert (exercise.status, exercise.score) == ("unanswered", 0)
    assert "the cell of double is missing" in exercise.message
    (flag,) = result.flags
    assert "the cell of double is not in the notebook" in flag
    assert not any("double" in repair for repair in result.repairs)
