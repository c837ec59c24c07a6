"""A small made-up course for tests: two exercises, one of which calls the other."""

from __future__ import annotations

import json
from pathlib import Path

from autograder.course import Assignment, Course, SourceNotebook

GIVEN = "import numpy as np\n\ntry:\n    from autograder.hints import explain\nexcept ImportError:\n    def explain(answer, *values):\n        return ''\n"

DOUBLE = '''def double(x):
    """Twice x."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION
'''

TEST_DOUBLE = """want = np.array([2.0, 4.0])
x = np.array([1.0, 2.0])
got = double(x)
assert np.shape(got) == (2,), explain(double, got, want)
assert np.allclose(got, want), explain(double, got, want)
### BEGIN HIDDEN TESTS
secret = np.array([[123.25, -7.5, 3.0]])
expected = np.array([[246.5, -15.0, 6.0]])
got = double(secret)
assert np.allclose(got, expected), explain(double, got, expected)
### END HIDDEN TESTS
"""

QUADRUPLE = '''def quadruple(x):
    """Four times x."""
    ### BEGIN SOLUTION
    return double(double(x))
    ### END SOLUTION
'''

TEST_QUADRUPLE = """assert quadruple(3) == 12
### BEGIN HIDDEN TESTS
assert quadruple(-1.5) == -6.0
### END HIDDEN TESTS
"""

MISCONCEPTIONS = '''"""What people really answer."""

import numpy as np

from autograder.misconceptions import probe, right, wrong

probe("double", np.array([1.0, -2.0, 5.0]))
probe("quadruple", 5.0)


@wrong("double", "You square x: 2 is the one number where that looks right.")
def squared(x):
    return x * x


@right("double")
def added(x):
    return x + x


@wrong("quadruple", "You doubled once: four is two times two.")
def only_doubled(x):
    return double(x)


@right("quadruple")
def multiplied(x):
    return 4 * x
'''


def answer_cell(name: str, source: str) -> dict:
    return _cell(name, source, solution=True)


def check_cell(name: str, source: str, points: int = 2) -> dict:
    return _cell(name, source, grade=True, locked=True, points=points)


def given_cell(name: str, source: str) -> dict:
    return _cell(name, source, locked=True)


def own_cell(source: str) -> dict:
    """A cell that a learner added."""
    return {"cell_type": "code", "id": "own", "metadata": {}, "source": source, "outputs": [], "execution_count": None}


def _cell(
    name: str, source: str, grade: bool = False, solution: bool = False, locked: bool = False, points: int | None = None
) -> dict:
    nbgrader = {
        "grade": grade,
        "grade_id": name,
        "locked": locked,
        "schema_version": 3,
        "solution": solution,
        "task": False,
    }
    if points is not None:
        nbgrader["points"] = points
    return {
        "cell_type": "code",
        "id": name,
        "metadata": {"nbgrader": nbgrader},
        "source": source,
        "outputs": [],
        "execution_count": None,
    }


def notebook(*cells: dict) -> dict:
    return {
        "cells": list(cells),
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def source_cells() -> list[dict]:
    return [
        given_cell("given_numbers", GIVEN),
        answer_cell("double", DOUBLE),
        check_cell("test_double", TEST_DOUBLE),
        answer_cell("quadruple", QUADRUPLE),
        check_cell("test_quadruple", TEST_QUADRUPLE, points=3),
    ]


def make_course(root: Path) -> Course:
    """Write the course into `root`."""
    folder = root / "solutions" / "01_numbers"
    folder.mkdir(parents=True)
    (folder / "numbers.ipynb").write_text(json.dumps(notebook(*source_cells())), encoding="utf-8")
    (folder / "misconceptions.py").write_text(MISCONCEPTIONS, encoding="utf-8")
    return Course(root)


def make_two_chapters(root: Path) -> Course:
    """The course, and a second chapter of two notebooks."""
    course = make_course(root)
    folder = root / "solutions" / "02_words"
    folder.mkdir()
    for name in ("shout", "whisper"):
        (folder / f"{name}.ipynb").write_text(json.dumps(notebook(*word_cells(name))), encoding="utf-8")
    (folder / "misconceptions.py").write_text("", encoding="utf-8")
    return course


def word_cells(name: str) -> list[dict]:
    method = {"shout": "upper", "whisper": "lower"}[name]
    answer = f"def {name}(text):\n    ### BEGIN SOLUTION\n    return text.{method}()\n    ### END SOLUTION\n"
    return [
        given_cell(f"given_{name}", "import numpy as np\n"),
        answer_cell(name, answer),
        check_cell(f"test_{name}", f"assert {name}('aB') == '{getattr('aB', method)()}'\n"),
    ]


def made_up(tmp_path: Path) -> tuple[Assignment, SourceNotebook]:
    assignment = make_course(tmp_path).assignment("01_numbers")
    return assignment, assignment.notebooks[0]


def handed_in(*, before: tuple[dict, ...] = (), after: tuple[dict, ...] = (), **answers: str) -> bytes:
    """A learner's notebook: the answers given by name, stubs elsewhere, own cells before and after."""
    from autograder.course import stub_of

    cells = []
    for cell in source_cells():
        name = cell["metadata"]["nbgrader"]["grade_id"]
        released = stub_of(cell["source"]).partition("### BEGIN HIDDEN TESTS")[0]
        cell = {**cell, "source": answers.get(name, released)}
        cells.append(cell)
    return json.dumps(notebook(*before, *cells, *after)).encode()
