"""A call on which a mistake shows can be pasted, and tells what the answer does, never what it should."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.examples import example
from autograder.fingerprints import Fingerprints, Mistake, observe_all, outline, shown
from autograder.probes import Cubic, Draws, ModuleProbe, Probe


def known(right, wrong, *calls):
    """The fingerprints of one exercise with one mistake. `calls`: (args, kwargs)."""
    probes = tuple(Probe.of(args, kwargs) for args, kwargs in calls)
    seen = observe_all(right, probes)
    mistake = Mistake("it", ("Wrong.",), shown(observe_all(wrong, probes), seen))
    return Fingerprints(probes, tuple(map(outline, seen)), (mistake,)), mistake


def shown_for(right, wrong, *calls):
    return example(wrong, *known(right, wrong, *calls))


@pytest.mark.parametrize(
    ("args", "call"),
    [
        ((np.array([1.0, np.inf]),), "wrong(np.array([1.0, np.inf]))"),
        ((np.array([-np.inf, np.nan]),), "wrong(np.array([-np.inf, np.nan]))"),
        ((np.array([1, 2]),), "wrong(np.array([1, 2]))"),
        ((np.array([1.5], dtype=np.float32),), "wrong(np.array([1.5], dtype=np.float32))"),
        ((np.zeros((0, 3)),), "wrong(np.zeros((0, 3)))"),
        (([1, [True, None]], "a", -0.5), "wrong([1, [True, None]], 'a', -0.5)"),
        ((Draws(3),), "wrong(np.random.default_rng(3))"),
    ],
)
def test_the_call_can_be_pasted_into_a_notebook(args, call):
    taken = []

    def wrong(*args):
        taken.append(args)
        return 7

    text = shown_for(lambda *args: 8, wrong, (args, {}))
    assert text == f"Try `{call}`: your answer gives 7."
    taken.clear()
    eval(call, {"np": np, "wrong": wrong})
    assert repr(taken[0]) == repr(tuple(Probe.of(args, {}).arguments()[0])) or "Generator" in repr(taken[0])


def test_keywords_are_written_too():
    def wrong(x, axis):
        return axis

    assert "`wrong(1, axis=0)`" in shown_for(lambda x, axis: x, wrong, ((1,), {"axis": 0}))


@pytest.mark.parametrize(
    ("result", "told"),
    [
        (np.array([[1.23456789, np.nan]]), "gives [[1.235, nan]]"),
        (np.zeros((0, 2)), "gives []"),
        (np.ones(17), "gives a result of shape (17,)"),
        ((1, "a"), "gives [1, 'a']"),
        ({2: 0.5}, "gives {2: 0.5}"),
        (None, "gives None"),
    ],
)
def test_what_the_answer_gives_is_told_in_a_few_digits(result, told):
    assert f"your answer {told}." in shown_for(lambda x: "right", lambda x: result, ((1,), {}))


def test_an_error_a_change_and_a_warning_are_told():
    def right(x):
        return 2 * x

    def raising(x):
        raise KeyError("no")

    def changing(x):
        x *= 2
        return x

    def warning(x):
        return 2 * x + 0 * np.sum(np.log(np.zeros(1)) * 0 == 0)

    call = ((np.array([1.0, 2.0]),), {})
    assert "your answer raises KeyError." in shown_for(right, raising, call)
    assert "gives [2, 4] and changes its argument." in shown_for(right, changing, call)
    assert "and a warning." in shown_for(right, warning, call)


def test_the_shortest_call_that_gives_something_goes_before_one_that_raises():
    def right(x):
        return 0

    def wrong(x):
        if x == 1:
            raise ValueError
        return x

    assert "`wrong(22)`: your answer gives 22" in shown_for(right, wrong, ((1,), {}), ((333,), {}), ((22,), {}))


def test_only_what_the_answer_does_itself_is_told():
    """A second mistake may hide the first on one probe."""

    def wrong(x):
        return x

    def answer(x):
        return x if x == 333 else 5

    made, mistake = known(lambda x: 0, wrong, ((22,), {}), ((333,), {}))
    assert "`answer(333)`" in example(answer, made, mistake)
    assert example(lambda x: 5, made, mistake) == ""


def test_of_large_arguments_the_shapes_are_told():
    x = np.arange(60.0).reshape(3, 20)
    text = shown_for(lambda x, n: x, lambda x, n: x[0], ((x, 2), {}))
    assert text.startswith(
        "It shows in a call like <lambda>(array (3, 20), 2): there your answer gives a result of shape"
    )


def test_of_a_shape_that_is_right_nothing_more_is_said():
    text = shown_for(lambda x: x, lambda x: x + 1, ((np.arange(60.0).reshape(3, 20),), {}))
    assert text.endswith("there your answer has the right shape and wrong values.")


@pytest.mark.parametrize("argument", [Cubic([1.0]), np.arange(6.0).reshape(2, 3).T])
def test_an_argument_that_cannot_be_pasted_is_not_pasted(argument):
    text = shown_for(lambda x: 1, lambda x: 2, ((argument,), {}))
    assert "Try" not in text


def test_of_a_module_its_settings_and_the_shapes_are_told():
    torch = pytest.importorskip("torch")

    class Plain(torch.nn.Module):
        def __init__(self, width):
            super().__init__()
            self.linear = torch.nn.Linear(width, 2)

        def forward(self, x):
            return self.linear(x)

    class Wrong(Plain):
        def forward(self, x):
            return self.linear(x)[0]

    probe = ModuleProbe(init={"width": 3}, call=(np.ones((4, 3)),))
    text = shown_for(Plain, Wrong, ((probe,), {}))
    assert "Wrong(width=3).eval()(array (4, 3)): there your answer gives a result of shape (2,)." in text
