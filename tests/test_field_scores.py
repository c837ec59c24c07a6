"""FIELD, "Scores": points are what the checks say, and nothing else.

How scores are written and read back is tested in `test_grades`; that the order of students changes
nothing, there and in `test_cli`.
"""

from __future__ import annotations

import json

import pytest
from made_up import answer_cell, check_cell, given_cell, notebook, own_cell

from autograder.course import Course
from autograder.submission import Submission, grade_submission

GIVEN = "import numpy as np\n"
ANSWER = "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION\n"


@pytest.fixture
def graded(tmp_path, warm):
    """Grade an answer to `double` with some checks; its result."""

    def grade(answer, *checks, own=()):
        cells = [given_cell("given", GIVEN), answer_cell("double", ANSWER)]
        cells += [check_cell(name, source, points=points) for name, source, points in checks]
        folder = tmp_path / "solutions" / "01_numbers"
        folder.mkdir(parents=True)
        (folder / "numbers.ipynb").write_text(json.dumps(notebook(*cells)), encoding="utf-8")
        assignment = Course(tmp_path).assignment("01_numbers")
        cells[1] = answer_cell("double", answer)
        content = json.dumps(notebook(*map(own_cell, own), *cells)).encode()
        submission = Submission("kim", "01_numbers", (("numbers", content),))
        (exercise,) = grade_submission(submission, assignment, warm.start, "", {}).exercises
        return exercise

    return grade


RIGHT = "def double(x):\n    return x + x"
CHECK = (
    "rng = np.random.default_rng(1)\nx = rng.normal(size=5)\nassert np.allclose(double(x), x + x, rtol=1e-6, atol=0)"
)


@pytest.mark.parametrize("value", ["0", "float('nan')", "-1", "'2'", "float('inf')", "np.float64(1.0)", "None", "True"])
def test_a_value_is_no_number_of_points(graded, value):
    exercise = graded(f"def double(x):\n    return {value}\n{value}", ("test_double", CHECK, 2))
    assert (exercise.score, exercise.status) == (0, "failed")


@pytest.mark.parametrize("value", ["0", "0.5", "1000", "float('nan')"])
def test_the_last_line_of_a_check_is_no_number_of_points(graded, value):
    exercise = graded(RIGHT, ("test_double", f"{CHECK}\n{value}", 2))
    assert (exercise.score, exercise.status) == (2, "passed")


def test_a_check_without_points_is_run_and_told(graded):
    exercise = graded(RIGHT, ("test_double", CHECK, 2), ("test_double_more", "assert double(1) == 3", 0))
    assert (exercise.score, exercise.max_score, exercise.status) == (2, 2, "failed")


def test_sixths_sum_to_the_whole(graded):
    exercise = graded(RIGHT, *((f"test_double_{n}", CHECK, 1 / 6) for n in range(6)))
    assert exercise.score == exercise.max_score == pytest.approx(1)
    assert exercise.status == "passed"


def test_points_of_a_public_check_stay_when_a_hidden_one_fails(graded):
    hidden = "### BEGIN HIDDEN TESTS\nassert double(7) == 14\n### END HIDDEN TESTS\n"
    exercise = graded(
        "def double(x):\n    return x + x if np.ndim(x) else 0",
        ("test_double", CHECK, 2),
        ("test_double_more", hidden, 1),
    )
    assert (exercise.score, exercise.max_score) == (2, 3)
    assert "All visible checks passed; more run at grading" in exercise.message


def test_nan_is_no_right_answer_not_even_where_nan_is_expected(graded):
    nan = "assert np.allclose(double(np.array([np.nan])), np.array([np.nan]))"
    assert graded(RIGHT, ("test_double", nan, 2)).score == 0


@pytest.mark.parametrize("own", ["x * np.nan", "np.full_like(x, np.nan)"])
def test_an_error_that_is_nan_is_not_within_the_tolerance(graded, own):
    check = f"{CHECK.rpartition(chr(10))[0]}\nerror = np.abs(double(x) - 2 * x).max()\nassert error <= 1e-6"
    assert graded(f"def double(x):\n    return {own}", ("test_double", check, 2)).score == 0


def test_three_digits_are_not_enough(graded):
    assert graded("def double(x):\n    return (2 * x).astype(np.float16)", ("test_double", CHECK, 2)).score == 0


def test_a_change_of_the_argument_is_named(graded):
    exercise = graded("def double(x):\n    x += x\n    return x", ("test_double", "double(np.ones(2))", 2))
    assert exercise.score == 0
    assert "in place" in exercise.message


def test_a_global_in_place_of_the_argument_is_seen(graded):
    own = "data = np.array([1.0, 2.0])"
    exercise = graded("def double(x):\n    return 2 * data", ("test_double", CHECK, 2), own=(own,))
    assert (exercise.score, exercise.status) == (0, "failed")
