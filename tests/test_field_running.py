"""FIELD, "Running": what answers do when they run.

The processes themselves, and that nothing of one is left for the next, are tested in `test_learner`; that what
fails through our own fault is tried again and is `ungraded` until then, in `test_cli`.
"""

from __future__ import annotations

import dataclasses

import pytest
from made_up import handed_in, made_up, own_cell

from autograder import check, limits, link
from autograder.submission import Submission, grade_submission

RIGHT = "def quadruple(x):\n    return 4 * x"


@pytest.fixture(scope="module")
def assignment(tmp_path_factory):
    return made_up(tmp_path_factory.mktemp("course"))[0]


@pytest.fixture
def graded(assignment, warm):
    """Grade one notebook; the result of `double`, which it is about, and the whole."""

    def grade(double, **cells):
        content = handed_in(double=double, quadruple=RIGHT, **cells)
        submission = Submission("kim", "01_numbers", (("numbers", content),))
        result = grade_submission(submission, assignment, warm.start, "", {})
        return result.exercises[0], result

    return grade


def body(*lines):
    return "\n    ".join(["def double(x):", *lines])


ENDLESS = {
    "a loop": body("while True: pass"),
    "a loop that swallows every error": body(
        "while True:", "    try:", "        while True: pass", "    except BaseException: pass"
    ),
    "a loop that eats memory slowly": body("kept = []", "while True: kept.append(len(kept) % 7)"),
    "sleep": body("import time", "time.sleep(1000)"),
    "in its cell": "while True: pass",
    "in C": body("import re", "re.match(r'(a+)+$', 'a' * 60 + 'b')"),
}


@pytest.mark.parametrize("answer", ENDLESS.values(), ids=ENDLESS.keys())
def test_what_never_ends_is_stopped_and_named_and_the_other_points_stay(graded, short_limits, answer):
    exercise, result = graded(answer)
    assert exercise.status in ("timeout", "memory")
    assert exercise.score == 0
    assert "KeyboardInterrupt" not in exercise.message
    if exercise.status == "timeout":
        assert "2 seconds" in exercise.message
        assert "double" in exercise.message
    assert result.exercises[1].status == "passed"


def test_check_and_grade_have_one_limit_in_one_place():
    assert link.LIMITS is limits.LIMITS
    assert not hasattr(check, "LIMITS")
    assert {field.name for field in dataclasses.fields(limits.Limits)} >= {"cell_seconds", "memory_bytes"}


@pytest.mark.parametrize("large", ["list(range(10**10))", "np.ones((10**6, 10**6))", "'x' * 10**11"])
def test_too_much_memory_is_named_and_the_next_exercise_runs(graded, large):
    exercise, result = graded(body(f"return {large}"))
    assert (exercise.status, exercise.score) == ("memory", 0)
    assert result.exercises[1].status == "passed"


ENDINGS = {
    "_exit": "import os; os._exit(0)",
    "quit": "quit()",
    "exit": "exit()",
    "sys.exit": "import sys; sys.exit(0)",
    "SystemExit": "raise SystemExit",
    "abort": "import os; os.abort()",
}


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS.keys())
@pytest.mark.parametrize("where", ["in the answer", "in its cell"])
def test_ending_python_is_never_a_pass_and_never_without_a_row(graded, ending, where):
    answer = body(f"{ending}") if where == "in the answer" else f"{ending}\n{body('return 2 * x')}"
    exercise, result = graded(answer)
    assert exercise.score == 0
    assert exercise.status == "died"
    assert result.exercises[1].status == "passed"


def test_asking_for_input_ends_at_once_and_says_so(graded):
    exercise, _ = graded(body("return 2 * float(input('x? '))"))
    assert exercise.score == 0
    assert "input() is not available here" in exercise.message


NEUTRAL = {
    "qt": "%matplotlib qt",
    "inline": "%matplotlib inline",
    "show": "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()",
    "time": "%%time\n1 + 1",
    "timeit": "%timeit -n 1 -r 1 1 + 1",
    "pip": "!pip install numpy",
    "pip magic": "%pip install numpy",
    "bash": "%%bash\nsleep 1000",
    "widget": "import ipywidgets\nipywidgets.IntSlider()",
    "display": "display(np.eye(2))",
    "help": "double?",
    "load_ext": "%load_ext autoreload\n%autoreload 2",
    "unknown": "%no_such_magic",
}


@pytest.mark.parametrize("cell", NEUTRAL.values(), ids=NEUTRAL.keys())
def test_what_only_a_notebook_knows_is_neutral(graded, cell):
    exercise, result = graded(body("return 2 * x"), before=(own_cell(cell),))
    assert exercise.status == "passed"
    assert result.flags == ()


def test_ten_thousand_small_writes_are_cut_and_that_is_said(graded):
    exercise, _ = graded(body("for _ in range(10_000): print('hello')", "return 2 * x"))
    assert exercise.status == "passed"
    assert len(exercise.printed) < limits.LIMITS.printed_chars + 200
    assert "were printed" in exercise.printed


def test_warnings_and_text_on_stderr_keep_the_points(graded):
    exercise, _ = graded(
        "import logging, sys, warnings\n"
        + body("warnings.warn('careful')", "logging.warning('hm')", "print('oh', file=sys.stderr)", "return 2 * x")
    )
    assert exercise.status == "passed"


def test_threads_and_children_do_not_hold_up_a_submission(graded):
    exercise, result = graded(
        "import subprocess, threading, time\n"
        + body(
            "threading.Thread(target=time.sleep, args=(1000,)).start()",
            "try: subprocess.Popen(['sleep', '1000'])",
            "except OSError: pass",
            "return 2 * x",
        )
    )
    assert exercise.status == "passed"
    assert result.exercises[1].status == "passed"
