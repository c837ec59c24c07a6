"""What crosses between the two processes, and what does not."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from autograder import wire


def crossed(value, function_number=None, makers=None):
    luggage = wire.Luggage()
    tree = wire.encode(value, luggage, function_number)
    message = memoryview(wire.frame(tree, luggage))
    position = 0

    def read(size):
        nonlocal position
        position += size
        return bytes(message[position - size : position])

    return wire.decode(*wire.read_frame(read), [], makers or wire.Makers())


@pytest.mark.parametrize(
    "value",
    [None, True, 3, -(2**80), 1.5, math.inf, "한글 \x00 \ud800", [1, [2.5]], (1, (None,)), {"a": 1, 2: (3,)}, 2j],
    ids=repr,
)
def test_plain_values_arrive_as_they_were(value):
    got = crossed(value)
    assert got == value
    assert type(got) is type(value)


def test_nan_arrives_as_nan():
    assert math.isnan(crossed(math.nan))


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", "f4", "f8", "c16", ">f4"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 4), (2, 3, 4)])
def test_arrays_arrive_with_dtype_shape_and_values(dtype, shape):
    array = (np.arange(np.prod(shape, dtype=int)) % 2).reshape(shape).astype(dtype)
    got = crossed(array)
    assert got.dtype == array.dtype
    assert got.shape == array.shape
    assert np.array_equal(got, array)


def test_numpy_scalars_keep_their_dtype():
    assert crossed(np.float32(1.5)).dtype == np.float32


@pytest.mark.parametrize(
    "view",
    [lambda a: a.T, lambda a: a[:, ::2], lambda a: a[::-1], lambda a: a.transpose(1, 2, 0), np.asfortranarray],
    ids=["transposed", "strided", "reversed", "rolled", "fortran"],
)
def test_an_array_that_is_not_contiguous_arrives_so(view):
    array = view(np.arange(60.0).reshape(3, 4, 5))
    got = crossed(array)
    assert np.array_equal(got, array)
    assert got.flags.c_contiguous == array.flags.c_contiguous


def test_a_read_only_array_arrives_read_only():
    assert not crossed(np.broadcast_to(np.ones(3), (2, 3))).flags.writeable


def test_the_same_array_twice_arrives_as_one():
    array = np.ones(3)
    first, second = crossed([array, array])
    assert first is second


def test_a_generator_goes_on_where_it_was():
    rng = np.random.default_rng(5)
    rng.random(3)
    assert crossed(rng).random() == rng.random()


def test_a_function_crosses_only_where_it_is_given_a_number():
    assert crossed(len, lambda function: 7, wire.Makers(function=int)) == 7
    with pytest.raises(wire.Refused, match="builtin_function"):
        crossed(len)


@pytest.mark.parametrize("value", [object(), {1, 2}, b"bytes", np.array([object()]), np.array(["text"]), iter([])])
def test_anything_else_is_refused_by_name(value):
    with pytest.raises(wire.Refused, match=r"type|dtype"):
        crossed(value)


def test_data_nested_in_itself_is_refused():
    loop: list = []
    loop.append(loop)
    with pytest.raises(wire.Refused, match="nested"):
        crossed(loop)


@pytest.mark.parametrize("number", [10**400, -(10**400), 10**5000], ids=["large", "negative", "unprintable"])
def test_a_whole_number_beyond_every_float_is_refused(number):
    with pytest.raises(wire.Refused, match="whole number"):
        crossed([number])
    with pytest.raises(wire.Broken):
        wire.decode([number], memoryview(b""), [])
    assert crossed(10**300) == 10**300


def test_a_subclass_crosses_as_its_plain_value():
    class AlwaysRight(float):
        def __eq__(self, other):
            return True

        __hash__ = float.__hash__

    assert crossed(AlwaysRight(2.0)) != 3.0


ARRAY = {"#": "array", "dtype": "<f8", "shape": [2], "at": 0, "layout": [[0], False]}


@pytest.mark.parametrize(
    "tree",
    [
        {},
        {"#": "pickle"},
        {"#": "array"},
        {**ARRAY, "dtype": "O"},
        {**ARRAY, "dtype": "nonsense"},
        {**ARRAY, "shape": [-1]},
        {**ARRAY, "shape": [10**9]},
        {**ARRAY, "at": -8},
        {**ARRAY, "layout": [[5], False]},
        {**ARRAY, "layout": [[], True]},
        {**ARRAY, "layout": 7},
        {"#": "again", "number": 3},
        {"#": "dict", "of": [[[], 1]]},
        {"#": "function", "number": 0},
        {"#": "generator", "state": {"#": "dict", "of": [["bit_generator", "default_rng"]]}},
        {"#": "generator", "state": {"#": "dict", "of": [["bit_generator", "seed"]]}},
    ],
    ids=lambda tree: json.dumps(tree)[:60],
)
def test_a_forged_message_is_broken_and_not_believed(tree):
    with pytest.raises(wire.Broken):
        wire.decode(tree, memoryview(bytes(16)), [])


def test_a_truth_value_is_0_or_1_whatever_the_bytes_say():
    tree = {**ARRAY, "dtype": "|b1", "shape": [2]}
    assert wire.decode(tree, memoryview(b"\x02\x00"), []).view(np.uint8).tolist() == [1, 0]


def test_lists_that_would_fill_the_memory_are_refused():
    with pytest.raises(wire.Refused, match="lists"):
        crossed(["a" * (9 << 20)])


def test_a_message_larger_than_the_limit_is_refused_before_it_is_read():
    header = (2**60).to_bytes(8, "big") + bytes(8)
    with pytest.raises(wire.Broken, match="limit"):
        wire.read_frame(lambda size: header)
