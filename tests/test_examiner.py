"""One submission through both processes: verdicts, messages, points."""

from __future__ import annotations

import json
from functools import partial

import pytest
from made_up import TEST_DOUBLE, answer_cell, check_cell, handed_in, made_up, notebook, own_cell, source_cells

from autograder.course import Course
from autograder.examiner import Examination
from autograder.intake import make_plan
from autograder.link import connect
from autograder.misconceptions import fingerprints, load
from autograder.notebooks import parse_cells
from autograder.proof import reference_plan
from autograder.submission import Submission, grade_submission

RIGHT = "def double(x):\n    return x + x"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    assignment, source = made_up(tmp_path_factory.mktemp("course"))
    found = fingerprints(source, load(assignment.folder))
    return assignment, found


@pytest.fixture
def graded(course, warm):
    """Grade one notebook; the results by exercise, and the whole."""
    assignment, known = course

    def grade(content):
        result = grade_submission(
            Submission("kim", "01_numbers", (("numbers", content),)), assignment, warm.start, "", known
        )
        return {exercise.exercise: exercise for exercise in result.exercises}, result

    return grade


def double(graded, body):
    return graded(handed_in(double=body))[0]["double"]


def test_right_answers_earn_every_point(graded):
    _, result = graded(handed_in(double=RIGHT, quadruple="def quadruple(x):\n    return double(double(x))"))
    assert (result.score, result.max_score) == (5, 5)
    assert {exercise.status for exercise in result.exercises} == {"passed"}


def test_stubs_earn_nothing_and_are_unanswered(graded):
    exercises, result = graded(handed_in())
    assert result.score == 0
    assert {exercise.status for exercise in exercises.values()} == {"unanswered"}


def test_a_known_mistake_is_named_to_the_learner(graded):
    exercise = double(graded, "def double(x):\n    return x ** 2")
    assert exercise.status == "failed"
    assert exercise.misconception == "squared"
    assert "You square x" in exercise.message


HIDDEN = "### BEGIN HIDDEN TESTS\nassert double(3) == 6\n### END HIDDEN TESTS\n"


@pytest.mark.parametrize(
    ("first", "processes"), [("assert double(2) == 4", 1), (f"assert double(2) == 6\n{HIDDEN}", 2)], ids=["one", "anew"]
)
def test_an_answer_with_several_checks_is_put_to_the_probes_once_in_each_process(
    tmp_path, warm, monkeypatch, first, processes
):
    folder = tmp_path / "solutions" / "01_numbers"
    folder.mkdir(parents=True)
    checks = [check_cell("test_double", first), check_cell("test_double_again", "assert double(2) == 4")]
    (folder / "numbers.ipynb").write_text(json.dumps(notebook(answer_cell("double", RIGHT), *checks)), encoding="utf-8")
    asked = []
    monkeypatch.setattr("autograder.hints.find_mistake", lambda *_: asked.append(examination._link.process))
    (source,) = Course(tmp_path).assignment("01_numbers").notebooks
    wrong = notebook(answer_cell("double", "def double(x):\n    return 3 * x"), *checks)
    plan = make_plan(source, parse_cells(json.dumps(wrong).encode()))
    with Examination(plan, source.exercises, partial(connect, warm.start, False)) as examination:
        examination.run()
    assert [result.status for result in examination.results.values()] == ["failed", "failed"]
    assert len(set(map(id, asked))) == len(asked) == processes


def test_a_hidden_check_says_no_without_its_expected_values(graded):
    exercise = double(graded, "def double(x):\n    return x + x if x.ndim == 1 else x")
    assert (exercise.status, exercise.score) == ("failed", 0)
    assert exercise.checks[0].visible_passed
    assert "All visible checks passed" in exercise.message
    for secret in ("246", "-15"):
        assert secret not in exercise.message


def test_an_error_names_the_learners_line(graded):
    exercise = double(graded, "def double(x):\n    y = x\n    return y @ 'a'")
    assert exercise.status == "error"
    assert "your line 3: return y @ 'a'" in exercise.message


def test_an_error_inside_another_function_names_both_lines(graded):
    exercise = double(graded, "def double(x):\n    return helper(x)\n\ndef helper(x):\n    return x @ 'a'")
    assert "your line 2: return helper(x)" in exercise.message
    assert "helper comes to: return x @ 'a'" in exercise.message


def test_nothing_returned_is_said(graded):
    assert "return" in double(graded, "def double(x):\n    2 * x").message


def test_a_syntax_error_is_told_where_it_is(graded):
    exercise = double(graded, "def double(x)\n    return 2 * x")
    assert exercise.status == "error"
    assert "SyntaxError" in exercise.message
    assert "line 1" in exercise.message


def test_a_stub_with_code_above_its_error_is_told_to_remove_it(graded):
    exercise = double(graded, "def double(x):\n    y = 2 * x\n    raise NotImplementedError()")
    assert "NotImplementedError" in exercise.message
    assert exercise.score == 0


def test_a_change_of_the_argument_fails_even_where_no_check_looks(graded):
    exercise = double(graded, "def double(x):\n    x *= 2\n    return x")
    assert exercise.status == "failed"
    assert "in place" in exercise.message


def test_an_answer_that_leans_on_a_wrong_one_says_so_first(graded):
    exercises, _ = graded(
        handed_in(
            double="def double(x):\n    return x ** 2", quadruple="def quadruple(x):\n    return double(double(x))"
        )
    )
    assert exercises["quadruple"].message.startswith("This answer calls double, not right yet")


def test_an_answer_that_leans_on_an_unanswered_one_says_so_first(graded):
    exercises, _ = graded(handed_in(quadruple="def quadruple(x):\n    return double(double(x))"))
    assert exercises["quadruple"].status == "error"
    assert exercises["quadruple"].message.startswith("This answer calls double, not right yet")


@pytest.mark.parametrize("double_is_right", [True, False])
def test_a_further_mistake_is_told_only_where_no_other_answer_is_the_cause(tmp_path, warm, double_is_right):
    folder = made_up(tmp_path)[0].folder
    cells = source_cells()
    cells[-1] = check_cell("test_quadruple", "got = quadruple(3)\nassert got == 12, explain(quadruple, got, 12)")
    (folder / "numbers.ipynb").write_text(json.dumps(notebook(*cells)), encoding="utf-8")
    misconceptions = folder / "misconceptions.py"
    refusing = "def refusing(x):\n    if x < 0:\n        raise KeyError(x)\n    return double(double(x))"
    wrong = f'probe("quadruple", -5.0)\n\n\n@wrong("quadruple", "You refuse numbers below 0.")\n{refusing}\n'
    misconceptions.write_text(misconceptions.read_text(encoding="utf-8") + wrong, encoding="utf-8")
    assignment = Course(tmp_path).assignment("01_numbers")
    known = fingerprints(assignment.notebooks[0], load(folder))

    answer = refusing.replace("refusing", "quadruple") + (" + 1" if double_is_right else "")
    content = handed_in(double=RIGHT if double_is_right else "def double(x):\n    return x ** 2", quadruple=answer)
    submission = Submission("kim", "01_numbers", (("numbers", content),))
    exercise = grade_submission(submission, assignment, warm.start, "", known).exercises[1]
    assert exercise.status == "failed"
    assert ("Also: You refuse numbers below 0." in exercise.message) == double_is_right
    assert exercise.message.startswith("This answer calls double") != double_is_right
    assert exercise.misconception == ("refusing" if double_is_right else "")


def test_a_right_answer_keeps_its_points_beside_a_wrong_one(graded):
    exercises, _ = graded(
        handed_in(double="def double(x):\n    return x ** 2", quadruple="def quadruple(x):\n    return 4 * x")
    )
    assert exercises["quadruple"].score == 3


def test_an_endless_loop_costs_only_its_own_exercise(graded, short_limits):
    exercises, _ = graded(
        handed_in(double="def double(x):\n    while True: pass", quadruple="def quadruple(x):\n    return 4 * x")
    )
    assert exercises["double"].status == "timeout"
    assert "took longer than 2 seconds" in exercises["double"].message
    assert exercises["quadruple"].status == "passed"


def test_a_cell_that_never_ends_costs_only_its_own_exercise(graded, short_limits):
    exercises, result = graded(
        handed_in(
            before=(own_cell("while True: pass"),),
            double="while True: pass",
            quadruple="def quadruple(x):\n    return 4 * x",
        )
    )
    assert exercises["double"].status == "timeout"
    assert exercises["quadruple"].status == "passed"
    assert any("stopped" in flag for flag in result.flags)


def test_a_process_that_ends_costs_only_its_own_exercise(graded):
    exercises, _ = graded(
        handed_in(double="import os\ndef double(x):\n    os._exit(0)", quadruple="def quadruple(x):\n    return 4 * x")
    )
    assert (exercises["double"].status, exercises["double"].score) == ("died", 0)
    assert exercises["quadruple"].status == "passed"


def test_a_helper_below_the_answer_is_found_and_said(graded):
    exercises, result = graded(
        handed_in(after=(own_cell("def helper(x):\n    return x + x"),), double="def double(x):\n    return helper(x)")
    )
    assert exercises["double"].status == "passed"
    assert any("below" in repair for repair in result.repairs)


def test_a_cell_below_cannot_spoil_an_answer_above(graded):
    exercises, _ = graded(handed_in(after=(own_cell("def double(x):\n    return 0"),), double=RIGHT))
    assert exercises["double"].status == "passed"


def test_a_broken_cell_above_does_not_hold_up_a_good_answer(graded):
    exercises, _ = graded(handed_in(before=(own_cell("this is not python ("), own_cell("1 / 0")), double=RIGHT))
    assert exercises["double"].status == "passed"


def test_warnings_and_text_on_stderr_keep_the_points(graded):
    body = "import warnings, sys\ndef double(x):\n    warnings.warn('careful')\n    print('hm', file=sys.stderr)\n    return 2 * x"
    exercise = double(graded, body)
    assert exercise.status == "passed"
    assert "hm" in exercise.printed


def test_what_is_printed_in_hidden_checks_is_not_shown(graded):
    exercise = double(graded, "def double(x):\n    print(x)\n    return 2 * x")
    assert "1." in exercise.printed
    assert "123.25" not in exercise.printed


@pytest.mark.parametrize(
    "value",
    [
        "float('nan')",
        "None",
        "'text'",
        "-1",
        "float('inf')",
        "np.float64(1.0)",
        "[]",
        "{}",
        "True",
        "x.astype('float16') * 3",
    ],
)
def test_odd_results_are_no_points(graded, value):
    exercise = double(graded, f"def double(x):\n    return {value}")
    assert (exercise.score, exercise.status) == (0, "failed")


def test_an_object_that_equals_everything_equals_nothing(graded):
    body = (
        "class Right(np.ndarray):\n"
        "    def __eq__(self, other): return True\n"
        "    __lt__ = __gt__ = __ne__ = __eq__\n"
        "    def __array__(self, *a, **k): raise RuntimeError\n"
        "def double(x):\n    return x.view(Right)"
    )
    assert double(graded, body).score == 0


@pytest.mark.parametrize(
    "body",
    [
        "np.allclose = lambda *a, **k: True",
        "np.shape = lambda x: (2,)",
        "import builtins; builtins.AssertionError = type('E', (Exception,), {}); builtins.len = lambda x: 0",
        "import autograder.hints, autograder.wire; autograder.wire.decode = None",
        "import ast\nfor t in get_ipython().ast_transformers: pass\nget_ipython().ast_transformers.append(ast.NodeTransformer())",
        "import sys; sys.settrace(lambda *a: None)",
        "import sys; sys.displayhook = sys.excepthook = lambda *a: None",
    ],
)
def test_patching_their_own_process_earns_nothing(graded, body):
    assert double(graded, f"{body}\ndef double(x):\n    return x").score == 0


def test_a_constant_that_fits_the_visible_example_earns_nothing(graded):
    assert double(graded, "def double(x):\n    return np.array([2.0, 4.0])").score == 0


def test_neither_tests_nor_expected_values_can_be_read_where_the_answer_runs(graded):
    body = (
        "import sys, gc, os, glob\n"
        "def double(x):\n"
        "    found = []\n"
        "    frame = sys._getframe()\n"
        "    while frame:\n"
        "        found += [repr(v) for v in frame.f_locals.values()]\n"
        "        frame = frame.f_back\n"
        "    found += [repr(o) for o in gc.get_objects() if isinstance(o, (str, list, dict))][:200000]\n"
        "    for path in glob.glob('/proc/*/cmdline') + glob.glob('/proc/*/environ'):\n"
        "        try: found.append(open(path).read())\n"
        "        except OSError: pass\n"
        "    text = ''.join(found)\n"
        "    print('FOUND' if '246' '.5' in text or 'expected' ' = np' in text else 'nothing')\n"
        "    return 2 * x"
    )
    assert "FOUND" not in double(graded, body).printed


def test_a_missing_file_and_an_unreadable_one_are_rows_without_points(course, warm):
    assignment, known = course
    for content, status in ((None, "missing"), (b"<html>", "unreadable")):
        submission = Submission("kim", "01_numbers", (("numbers", content),))
        result = grade_submission(submission, assignment, warm.start, "", known)
        assert {(exercise.status, exercise.score) for exercise in result.exercises} == {(status, 0)}
        assert result.max_score == 5


def test_the_same_submission_gives_the_same_result_twice(graded):
    content = handed_in(double="def double(x):\n    return x ** 2")
    assert graded(content)[1] == graded(content)[1]


def test_points_earned_in_one_check_stay_when_another_check_fails(tmp_path, warm):
    folder = tmp_path / "solutions" / "02_split"
    folder.mkdir(parents=True)
    cells = [
        *source_cells()[:2],
        check_cell("test_double", TEST_DOUBLE),
        check_cell("test_double_more", "assert double(1) == 3", points=1),
    ]
    (folder / "split.ipynb").write_text(json.dumps(notebook(*cells)), encoding="utf-8")
    assignment = Course(tmp_path).assignment("02_split")
    content = json.dumps(notebook(cells[0], answer_cell("double", RIGHT))).encode()
    result = grade_submission(Submission("kim", "02_split", (("split", content),)), assignment, warm.start, "", {})
    (exercise,) = result.exercises
    assert (exercise.score, exercise.max_score, exercise.status) == (2, 3, "failed")
    assert "double(1) == 3" in exercise.message


def test_a_visible_failure_is_told_before_one_that_cannot_be_seen():
    from autograder.results import CheckResult
    from autograder.scoring import overall

    unseen = CheckResult("test_a", 0, 1, "failed", "more run at grading", visible_passed=True)
    seen = CheckResult("test_a_more", 0, 1, "failed", "the first difference is at [0]")
    assert overall([unseen, seen]) is seen
    assert overall([unseen]) is unseen


@pytest.mark.parametrize(("keeps_secrets", "processes"), [(True, 2), (False, 1)])
def test_only_a_learners_wrong_answer_needs_a_process_that_saw_no_hidden_test(course, warm, keeps_secrets, processes):
    (source,) = course[0].notebooks
    started = []

    def begin():
        started.append(True)
        return connect(warm.start)

    with Examination(reference_plan(source), source.exercises, begin, keeps_secrets=keeps_secrets) as examination:
        examination.run()
        (right,) = examination.try_answer(source.exercises[0], RIGHT)
        (wrong,) = examination.try_answer(source.exercises[0], "def double(x):\n    return x")
    assert (right.status, wrong.status, len(started)) == ("passed", "failed", processes)
