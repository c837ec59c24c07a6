"""A hint says what came, what was expected and which known mistake it is; it never fails itself."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from made_up import make_course

from autograder import hints
from autograder.differences import describe_difference
from autograder.fingerprints import Mistake
from autograder.hints import explain, find_mistake, hide_expected, use
from autograder.hints_table import make_table
from autograder.misconceptions import load
from autograder.observations import observe
from autograder.shipped import files_needed

TEXT = """
import numpy as np
from autograder.misconceptions import probe, right, wrong

probe("double", np.array([1.0, -2.0, 5.0]))
probe("double", np.array([[3.0, 0.5], [7.0, -1.0]]))
probe("double", "three", naming=("three",))
probe("quadruple", 5.0)


@wrong("double", "You square x.", "Two times x, not x times x.")
def squared(x):
    return x * x


@wrong("double", "You add two.")
def plus_two(x):
    return x + 2


@wrong("double", "A word should be doubled too.")
def no_words(x):
    if isinstance(x, str):
        raise TypeError("no words")
    return 2 * x


@wrong("double", "You change x itself.")
def in_place(x):
    if isinstance(x, np.ndarray):
        x += x
        return x
    return 2 * x


@wrong("quadruple", "Only doubled.")
def once(x):
    return 2 * x
"""


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> dict:
    course = make_course(tmp_path_factory.mktemp("course"))
    assignment = course.assignment("01_numbers")
    (assignment.folder / "misconceptions.py").write_text(TEXT)
    return json.loads(make_table(assignment, load(assignment.folder), {}))


@pytest.fixture(autouse=True)
def _fresh(table):
    use(table)
    yield
    use(None)


def double(x):
    return 2 * x


X = np.array([[0.5, 1.5, 2.5], [3.5, 4.5, 5.5]])


@pytest.mark.parametrize(
    ("got", "want", "said"),
    [
        (np.zeros(4), np.zeros(3), "shape (4,) came, (3,) was expected."),
        (np.ones((3, 2)), X, "shape (3, 2) came, (2, 3) was expected."),  # shapes before values
        (None, X, "nothing was returned: is a `return` missing?"),
        ([1.0, 2.0], np.array([1.0, 2.0]), "a list came, an array was expected."),
        (X.tolist(), X, "a list came, an array was expected."),
        (X.astype(np.float16), X, "float16 came"),
        (np.array([0, 1]), np.array([0.5, 1.5]), "whole numbers (int64) came"),
        (
            X + np.array([[0, 0, 0], [0, 0.25, 0]]),
            X,
            "at [1, 1]: 4.75 came, 4.5 was expected. Different: 1 of 6 values.",
        ),
        (np.array([1.0, np.nan, np.nan]), np.ones(3), "NaN (not a number): 2 of 3 values."),
        (np.nan, 1.0, "nan came, 1 was expected."),
        (1.0000049, 1.0, "1.0000049 came, 1.0 was expected."),  # the same at six digits
        ((X, X + 1), (X, X), "the second result: the first difference is at [0, 0]: 1.5 came, 0.5 was expected."),
        ((X,), (X, X), "length 1 came, 2 was expected"),
        (X, (X, X), "an array came, a tuple was expected."),
        ([1, 2, 9], [1, 2, 3], "at item 2: 9 came, 3 was expected."),
        ([1, 2], [1, 2, 3], "length 2 came, 3 was expected: [1, 2]."),
        ({2: 1.0, 1: 0.5}, {1: 0.5, 2: 1.0}, "the keys came in the order [2, 1]"),
        ({1: 0.5}, {1: 0.5, 2: 1.0}, "the keys [1] came, [1, 2] were expected."),
        ({1: 0.5, 2: 0.9}, {1: 0.5, 2: 1.0}, "at key 2: 0.9 came, 1 was expected."),
        ("a", 1.0, "a string came, a number was expected."),
        (np.array([True, False]), np.array([True, True]), "at [1]: False came, True was expected."),
        (3, X, "shape () came, (2, 3) was expected."),
    ],
)
def test_the_difference_is_said(got, want, said):
    assert said in explain(double, got, want)


def test_what_is_equal_has_no_difference_to_say():
    assert explain(double, X, X.copy()) == "double is not right yet"
    assert explain(double) == "double is not right yet"


def test_a_tensor_is_compared_as_its_array():
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(X, requires_grad=True)
    assert "shape (6,) came" in explain(double, tensor.reshape(-1), torch.tensor(X))
    assert "3.5 came, 4.5 was" in explain(double, tensor - torch.tensor([[0.0, 0, 0], [0, 1, 0]]), X)


@pytest.mark.parametrize(
    ("got", "want"),
    [(np.array([1.0, 8.0]), np.array([1.0, 77.0])), (8, 77), ([8], [77]), ({1: 8}, {1: 77}), ({8: 1}, {77: 1})],
)
def test_no_value_is_written_where_they_must_be_hidden(got, want):
    assert "77" in explain(double, got, want)
    with hide_expected():
        hidden = explain(double, got, want)
    assert "77" not in hidden
    assert "8" not in hidden.replace("[8]", "")
    assert "77" in explain(double, got, want)


def test_a_hidden_nan_is_told():
    with hide_expected():
        assert "nan came" in explain(double, np.array([1.0, np.nan]), np.ones(2))


def test_a_hidden_list_does_not_tell_its_length():
    with hide_expected():
        assert "77" not in explain(double, [1], list(range(77)))


# Known mistakes


def test_a_known_mistake_is_named_and_then_said_more_explicitly_and_at_last_shown():
    def double(x):
        return x**2

    first, second, third, fourth = (explain(double, X**2, 2 * X) for _ in range(4))
    assert "0.25 came, 1 was expected" in first
    assert first.endswith("You square x.")
    assert second.endswith("Two times x, not x times x.")
    shown = "\nTry `double(np.array([1.0, -2.0, 5.0]))`: your answer gives [1, 4, 25]."
    assert third == second + shown
    assert fourth == third


def test_where_a_run_says_how_often_a_mistake_came_nothing_is_counted():
    def double(x):
        return x**2

    with hints.telling(lambda exercise, mistake: {("double", "squared"): 1}[exercise, mistake]):
        assert [explain(double)[-27:] for _ in range(3)] == ["Two times x, not x times x."] * 3
    assert not hints._said.times


def test_a_hint_is_said_even_where_its_example_fails(monkeypatch):
    def double(x):
        return x**2

    monkeypatch.setattr("autograder.hints.example", _fail)
    assert hints.tell(double, find_mistake(double), 9) == "Two times x, not x times x."


def _fail(*arguments):
    raise RuntimeError


def test_an_answer_that_makes_no_mistake_is_called_once_on_each_probe(table):
    calls = []

    def double(x):
        calls.append(x)
        return 2 * x

    assert find_mistake(double) is None
    assert len(calls) == len(table["exercises"]["double"]["probes"])


def test_an_answer_that_is_a_mistake_once_and_not_again_is_not_named():
    calls = []

    def double(x):
        calls.append(x)
        return x**2 if len(calls) <= 3 else 2 * x

    assert find_mistake(double) is None


def test_each_mistake_of_each_exercise_counts_on_its_own():
    def double(x):
        return x**2

    def quadruple(x):
        return 2 * x

    explain(double)
    assert explain(quadruple).endswith("Only doubled.")


def test_a_right_answer_makes_no_mistake():
    assert find_mistake(double) is None


def test_an_answer_in_another_style_makes_the_same_mistake():
    def double(x):
        if isinstance(x, str):
            raise TypeError("can't multiply sequence")
        return np.stack([row * row for row in x.astype(np.float32)])

    assert find_mistake(double).id == "squared"


def test_a_mistake_is_recognised_beside_a_second_one_of_its_own():
    def double(x):
        return 3 if isinstance(x, str) else x * x  # `squared` raises for a word

    assert find_mistake(double).id == "squared"


def test_a_mistake_that_does_not_show_where_it_should_is_not_named():
    def double(x):
        return x + 2 if np.ndim(x) == 2 else 2 * x  # `plus_two` shows on the first probe too

    assert find_mistake(double) is None


def test_an_answer_that_only_crashes_is_not_taken_for_a_mistake_that_raises():
    def double(x):
        raise TypeError("no words")

    assert find_mistake(double) is None


def test_an_in_place_change_is_recognised():
    def double(x):
        if isinstance(x, str):
            return x + x
        x *= 2
        return x

    assert find_mistake(double).id == "in_place"


def test_anything_with_a_name_that_can_be_called_is_an_answer():
    class Proxy:
        __name__ = "double"

        def __call__(self, x):
            return x + 2

    assert find_mistake(Proxy()).id == "plus_two"


@pytest.mark.parametrize("name", ["unknown", "double"])
def test_a_hint_never_raises(name):
    class Hostile:
        def __getattr__(self, attribute):
            raise RuntimeError(attribute)

        def __eq__(self, other):
            raise RuntimeError

        def __len__(self):
            raise RuntimeError

        __hash__ = None

    def answer(x):
        raise SystemExit

    answer.__name__ = name
    assert name in explain(answer, Hostile(), X)
    assert name in explain(answer, X, Hostile())
    assert name in explain(answer, [[1], [2, 3]], X)
    assert "not right yet" in explain(Hostile())


def test_the_table_beside_the_notebook_is_used(table, tmp_path, monkeypatch):
    def double(x):
        return x + 2

    use(None)
    monkeypatch.chdir(tmp_path)
    assert find_mistake(double) is None
    Path("hints.json").write_text(json.dumps(table))
    assert find_mistake(double).id == "plus_two"
    Path("hints.json").write_text('{"exercises": {"double": 3}}')  # damaged: the check works, and says less
    assert explain(double, 1, 2) == "double: 1 came, 2 was expected."
    use(table | {"exercises": {}})
    assert find_mistake(double) is None
    Path("elsewhere.json").write_text(json.dumps(table))
    use("elsewhere.json")
    assert find_mistake(double).id == "plus_two"


def test_few_files_and_numpy_are_all_it_needs(table, tmp_path):
    package = tmp_path / "autograder"
    package.mkdir()
    for file in files_needed("hints"):
        shutil.copy(file, package)
    (tmp_path / "hints.json").write_text(json.dumps(table))
    script = """
import sys
from autograder.hints import explain
def double(x): return x * x
print(explain(double, 4, 6))
print(sorted({name.partition(".")[0] for name in sys.modules} & {"torch", "IPython", "nbformat", "nbgrader"}))
import autograder; print(autograder.__file__)
"""
    found = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert found.stderr == ""
    said, others, where = found.stdout.splitlines()
    assert said == "double: 4 came, 6 was expected. You square x."
    assert others == "[]"
    assert Path(where).parent == package


def test_the_state_of_one_test_does_not_reach_the_next():
    assert not hints._said.times


def test_a_worked_example_with_four_decimals_finds_no_fault_in_its_rounding():
    text = describe_difference(np.array([0.905148, 0.5]), np.array([0.9051, 0.3]))
    assert "[1]" in text
    assert "1 of 2" in text


def test_a_difference_below_the_decimals_is_told_where_there_is_no_other():
    assert "0.905148" in describe_difference(np.array([0.905148]), np.array([0.9051]))


def test_a_hint_that_does_not_account_for_the_failure_comes_as_a_further_one():
    raising = Mistake("a", ("It raises.",), {0: {"raised": "KeyError"}})
    wrong = Mistake("b", ("It is wrong.",), {0: describe_call(2.0)})
    changing = Mistake("c", ("It changes x.",), {0: {"result": {"kind": "array", "shape": [2]}, "changed": ["0"]}})
    assert raising.accounts_for("KeyError")
    assert not raising.accounts_for("value")
    assert wrong.accounts_for("value")
    assert not wrong.accounts_for("IndexError")
    assert not changing.accounts_for("value")
    assert all(mistake.accounts_for("") for mistake in (raising, wrong, changing))
    assert hints.fitting(changing, "value", "It changes x.") == "Also: It changes x."


def test_a_further_mistake_is_left_out_within_the_block_and_stays_so_when_less_is_known():
    raising = Mistake("a", ("It raises.",), {0: {"raised": "KeyError"}})
    with hints.leave_out_further():
        assert hints.is_told(raising, "KeyError")
        assert not hints.is_told(raising, "value")
        assert not hints.is_told(raising, "")
    assert hints.is_told(raising, "value")


def describe_call(value):
    return observe(lambda: value, [], {})
