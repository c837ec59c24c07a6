"""Probes come back exactly from their file, and observations say what a call gave, whatever it did."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

from autograder.observations import describe, differences, observe, observe_probe
from autograder.probes import CALL_LIMIT, Built, Cubic, Draws, Mixing, ModuleProbe, Probe, StepTable, decode, encode


def through_json(value):
    return decode(json.loads(json.dumps(encode(value), allow_nan=False)))


@pytest.mark.parametrize(
    "array",
    [
        np.array([[0.1, -0.0, 1e-308], [np.nan, np.inf, -np.inf]]),
        np.array([1 / 3, 2 / 3], dtype=np.float32),
        np.array([[1, -2], [3, 4]], dtype=np.int32),
        np.array([True, False]),
        np.zeros((0, 4)),
        np.array(2.5),
        np.array(["a", "bc"]),
        np.arange(6.0).reshape(2, 3).T,
        np.arange(12.0).reshape(3, 4)[:, ::2],
    ],
)
def test_an_array_comes_back_with_its_values_dtype_shape_and_layout(array):
    back = through_json(array)
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    assert back.tobytes() == array.tobytes()  # bit for bit, the sign of zero too
    assert back.flags.c_contiguous == array.flags.c_contiguous
    assert back.flags.f_contiguous == array.flags.f_contiguous
    assert back.flags.writeable


@pytest.mark.parametrize("value", [None, True, 3, 0.1, "words", [1, [2.5]], (1, "a"), {3: [1, 2], "b": (None,)}])
def test_plain_values_come_back_as_they_were(value):
    back = through_json(value)
    assert back == value
    assert type(back) is type(value)


@pytest.mark.parametrize("value", [float("inf"), float("-inf")])
def test_infinity_comes_back(value):
    assert through_json(value) == value


def test_nan_comes_back():
    assert np.isnan(through_json(float("nan")))


def test_what_is_no_data_is_refused():
    with pytest.raises(TypeError, match="cannot be written"):
        encode(object())
    with pytest.raises(TypeError, match="cannot be written"):
        encode(np.array([object()]))


def test_functions_made_of_data_come_back_as_functions():
    w, x = np.array([[1.0, -2.0]]), np.array([[0.5, 3.0]])
    assert through_json(Cubic(w))(x) == pytest.approx(0.125 - 54.0)
    scores, h = through_json(StepTable([[0.0, 1.0], [2.0, 3.0]]))(1, 5.0)
    assert scores.tolist() == [2.0, 3.0]
    assert h == 6.0
    assert through_json(Mixing([[0.0, 1.0], [1.0, 0.0]]))(np.array([[1.0], [2.0]])).tolist() == [[2.0], [1.0]]


def test_the_gradient_of_cubic_is_as_documented():
    w, x, step = np.array([1.5, -2.0]), np.array([0.3, 1.1]), 1e-6
    measured = [(Cubic(w)(x + step * e) - Cubic(w)(x - step * e)) / (2 * step) for e in np.eye(2)]
    assert np.allclose(measured, 3 * w * x**2, rtol=1e-8)  # central differences err by step²


def test_each_call_gets_fresh_arguments():
    probe = Probe.of((np.zeros(3), Draws(7)), {})
    (first, rng), _ = probe.arguments()
    first += 1
    drawn = rng.random()
    (second, rng), _ = probe.arguments()
    assert second.tolist() == [0.0, 0.0, 0.0]
    assert rng.random() == drawn


def test_a_loop_without_end_around_a_function_of_data_ends():
    def answer(step):
        while True:
            step(0, 0.0)

    assert observe_probe(answer, Probe.of((StepTable([[1.0]]),), {})) == {"raised": "RuntimeError"}
    assert CALL_LIMIT < 100_000  # it must not take long either


def test_an_error_is_observed_by_its_nearest_built_in_name():
    class Own(ValueError):
        pass

    def answer():
        raise Own("no")

    assert observe(answer, [], {}) == {"raised": "ValueError"}
    assert observe(exit, [], {}) == {"raised": "SystemExit"}


def test_a_person_who_presses_stop_is_obeyed():
    def answer():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        observe(answer, [], {})


def test_an_argument_changed_in_place_is_observed_by_position_or_name():
    def answer(x, items, y):
        x += 1
        items.append(3)
        return y

    seen = observe(answer, [np.zeros(2), [1]], {"y": np.ones(2)})
    assert seen["changed"] == [0, 1]
    assert observe(lambda x, y: y.fill(0), [np.zeros(2)], {"y": np.ones(2)})["changed"] == ["y"]


def test_a_numerical_warning_is_observed_and_not_shown():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        seen = observe(lambda x: np.log(x), [np.zeros(1)], {})
    assert seen["warned"]
    assert "warned" not in observe(lambda x: x, [np.zeros(1)], {})


def test_what_an_answer_prints_is_not_shown(capsys):
    observe(lambda: print("debugging"), [], {})
    assert capsys.readouterr().out == ""


def test_a_message_must_name_the_word_as_a_whole():
    def answer(word):
        raise ValueError(f"length {word} is too long")

    assert observe(answer, ["5"], {}, ("5",))["named"]
    assert not observe(answer, ["15"], {}, ("5",))["named"]
    assert not observe(answer, ["5.2"], {}, ("5",))["named"]


def test_an_answer_that_differs_from_call_to_call_is_unsteady():
    rng = np.random.default_rng()
    probe = Probe.of((np.zeros(3),), {})
    assert observe_probe(lambda x: x + rng.random(3), probe) == {"unsteady": True}
    assert "unsteady" not in observe_probe(lambda x: x + 1, probe)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (np.array([1.0, 2.0]), np.array([1.0, 2.0], dtype=np.float32)),
        (np.array([1.0, 2.0]), np.array([1.0, 2.0 + 1e-9])),
        (np.float64(3.0), 3.0),
        (np.array(3.0), 3.0),
        ([np.int64(3)], [3]),
        ((1, 2), [1, 2]),
        (np.array([np.nan, 0.0]), np.array([np.nan, -0.0])),
    ],
)
def test_what_differs_in_style_only_agrees(one, other):
    assert not differences({"result": describe(one)}, {"result": describe(other)})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (np.array([1.0, 2.0]), np.array([1.0, 2.001])),
        (np.array([1.0, 2.0]), [1.0, 2.0]),
        (np.array([1.0, 2.0]), np.array([[1.0, 2.0]])),
        (np.array([1.0, 2.0]), np.array([1, 2])),
        (np.array([1.0, 2.0]), np.array([1.0, 2.0], dtype=np.float16)),
        (np.array([1.0, np.nan]), np.array([1.0, 2.0])),
        ({1: 0.5, 2: 1.0}, {2: 1.0, 1: 0.5}),  # the order of keys is part of a dict's meaning here
        (True, 1),
        (None, 0.0),
    ],
)
def test_what_a_learner_would_call_different_differs(one, other):
    assert differences({"result": describe(one)}, {"result": describe(other)})


# PyTorch modules


def linear_module(name: str, dropout: float = 0.0):
    """Two layers, made in the usual order or "reversed", or called in the wrong order ("swapped")."""
    from torch import nn

    class Answer(nn.Module):
        def __init__(self, width):
            super().__init__()
            if name == "reversed":  # made in another order
                self.second, self.first = nn.Linear(width, width), nn.Linear(width, width)
            else:
                self.first, self.second = nn.Linear(width, width), nn.Linear(width, width)
            self.dropout = nn.Dropout(dropout)

        def forward(self, x):
            one, two = (self.second, self.first) if name == "swapped" else (self.first, self.second)
            return self.dropout(two(one(x).relu()))

    return Answer


def module_probe(**changed) -> Probe:
    x = np.arange(6.0).reshape(2, 3)
    return Probe.of((ModuleProbe(init={"width": 3}, call=(x,), **changed),), {})


def test_a_module_is_filled_by_parameter_name_and_seed():
    pytest.importorskip("torch")
    one = observe_probe(linear_module("straight"), module_probe())
    assert not differences(one, observe_probe(linear_module("reversed"), module_probe()))
    assert differences(one, observe_probe(linear_module("straight"), module_probe(seed=1)))
    assert differences(one, observe_probe(linear_module("swapped"), module_probe()))
    output, gradients = one["result"]["items"]
    assert output["is"] == "tensor"
    assert gradients["value"] == "finite"


def test_dropout_left_on_in_evaluation_shows():
    torch = pytest.importorskip("torch")

    class LeftOn(linear_module("straight", 0.5)):
        def forward(self, x):
            return torch.nn.functional.dropout(self.second(self.first(x).relu()), 0.5)

    right = observe_probe(linear_module("straight", 0.5), module_probe())
    assert differences(right, observe_probe(LeftOn, module_probe()))


def test_a_gradient_that_a_tensor_asks_for_is_observed():
    torch = pytest.importorskip("torch")
    probe = Probe.of((torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([3, 4])), {})
    seen = observe_probe(lambda x, y: (x * y).sum(), probe)
    total, gradients = seen["result"]["items"]
    assert total["values"] == [11.0]
    assert gradients["items"][0]["values"] == [3.0, 4.0]
    assert differences(seen, observe_probe(lambda x, y: (x.detach() * y).sum(), probe))


def test_an_argument_can_be_a_module_of_the_notebooks_own_class():
    pytest.importorskip("torch")
    probe = Probe.of((Built("Model", {"width": 3}, seed=2), np.ones((1, 3))), {})
    probe = Probe.from_plain(json.loads(json.dumps(probe.plain())))

    def answer(model, x):
        import torch

        assert not model.training
        return model(torch.tensor(x)).detach().numpy()

    namespace = {"Model": linear_module("straight")}
    seen = observe_probe(answer, probe, namespace)
    assert seen["result"]["shape"] == [1, 3]
    assert not differences(seen, observe_probe(answer, probe, {"Model": linear_module("reversed")}))
    with pytest.raises(LookupError, match="Model is not defined"):
        observe_probe(answer, probe)


def test_a_constructor_that_raises_is_observed():
    pytest.importorskip("torch")

    def answer(width):
        raise ValueError(f"width {width}")

    assert observe_probe(answer, module_probe())["raised"] == "ValueError"
