"""Plain data between the learner's process and the test process: numbers, text, arrays, nothing that runs.

A value becomes a tree of JSON and one block of bytes that holds the arrays. There is no pickle:
what arrives is checked against the few kinds below, and sizes are capped. Both ends import this
module; only what comes *from* the learner's end is hostile.

| kind | crosses as |
| --- | --- |
| None, bool, int, float, complex, str | itself |
| list, tuple, dict | itself, item by item |
| NumPy array or scalar of bool, int, float, complex | dtype, shape, memory layout, bytes |
| PyTorch tensor | dtype, shape, bytes, and whether it wants a gradient |
| PyTorch module (as a result) | a number, and what it looks like: a mirror is made of it |
| PyTorch module (as an argument) | its parts and its state: it is made again of the given classes |
| NumPy Generator as `default_rng` makes it | the state of its bit generator |
| function (as an argument) | a number: a call comes back for it |
"""

from __future__ import annotations

import json
import math
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import numpy as np
import numpy.random  # which NumPy loads at its first use: ten milliseconds, in every forked process

from autograder.limits import LIMITS

_HEADER = struct.Struct(">QQ")
_KINDS = "biufc"  # NumPy's letters for bool, int, unsigned, float, complex
_TENSOR_KINDS = {"bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"}
_DEPTH = 50
_TO_JSON = json.JSONEncoder(separators=(",", ":")).encode  # made once: json.dumps would make one for each message
_FROM_JSON = json.JSONDecoder().decode


class Refused(TypeError):
    """A value of a kind that does not cross; the message names it."""


class Broken(Exception):
    """The bytes that came are not a message; the other end is not to be trusted any more."""


@dataclass
class Luggage:
    """What one message carries beside its tree: the arrays' bytes, and the objects they were.

    `sent` remembers array and generator objects by their number, so that the same object given
    twice arrives as one object, and in-place changes can be reported and applied by number.
    """

    parts: list[bytes] = field(default_factory=list)
    size: int = 0
    sent: list[Any] = field(default_factory=list)
    describe_module: Callable[[Any], dict] | None = None  # where modules may cross
    numbers: dict[int, int] = field(default_factory=dict)

    def pack(self, data: bytes) -> tuple[int, int]:
        """Add bytes; their offset and length."""
        start = self.size
        self.parts.append(data)
        self.size += len(data)
        if self.size > LIMITS.frame_bytes:
            raise Refused(f"more than {LIMITS.frame_bytes >> 20} MiB of data")
        return start, len(data)

    def number(self, value: Any) -> int | None:
        """The number of an object that was sent before in this message, or None; remember it."""
        if id(value) in self.numbers:
            return self.numbers[id(value)]
        self.numbers[id(value)] = len(self.sent)
        self.sent.append(value)
        return None


def encode(value: Any, luggage: Luggage, name_function: Callable[[Callable], int] | None = None, depth: int = 0) -> Any:
    """The tree of `value`. Functions cross only where `name_function` gives them a number. Raises Refused."""
    if depth > _DEPTH:
        raise Refused(f"data nested more than {_DEPTH} deep")
    if value is None or type(value) in (bool, float, str):
        return value
    if isinstance(value, int) and value.bit_length() > LIMITS.integer_bits:
        raise Refused(f"a whole number of more than {LIMITS.integer_bits} bits")
    if type(value) is int:
        return value
    if isinstance(value, np.ndarray):
        return _encode_array(value, luggage)
    if isinstance(value, np.generic):
        if value.dtype.kind not in _KINDS:
            raise Refused(f"a NumPy value of dtype {value.dtype}")
        at, _ = luggage.pack(value.tobytes())
        return {"#": "scalar", "dtype": value.dtype.str, "at": at}
    if isinstance(value, bool | int | float | str):  # a subclass: its plain value
        return next(kind(value) for kind in (int, float, str) if isinstance(value, kind))
    if isinstance(value, complex):
        return {"#": "complex", "of": [value.real, value.imag]}
    if isinstance(value, list | tuple):
        items = [encode(item, luggage, name_function, depth + 1) for item in value]
        return items if isinstance(value, list) else {"#": "tuple", "of": items}
    if isinstance(value, dict):
        if len(value) > LIMITS.dict_items:
            raise Refused(f"a dict of more than {LIMITS.dict_items} items")
        pairs = [[encode(part, luggage, name_function, depth + 1) for part in pair] for pair in value.items()]
        return {"#": "dict", "of": pairs}
    torch = sys.modules.get("torch")  # no tensor without it, and importing it takes seconds
    if torch is not None and isinstance(value, torch.Tensor):
        return _encode_tensor(value, luggage)
    if torch is not None and isinstance(value, torch.nn.Module) and luggage.describe_module:
        seen = luggage.describe_module(value)
        return {"#": "module", **seen, "state": encode(seen["state"], luggage, None, depth + 1)}
    if isinstance(value, np.random.Generator):
        if type(value.bit_generator) is not np.random.PCG64:
            raise Refused(f"a generator of type {type(value.bit_generator).__name__}")
        number = luggage.number(value)
        if number is not None:
            return {"#": "again", "number": number}
        return {"#": "generator", "state": encode(value.bit_generator.state, luggage, None, depth + 1)}
    if callable(value) and name_function is not None:
        return {"#": "function", "number": name_function(value)}
    raise Refused(f"an object of type {type(value).__name__}")


@dataclass(frozen=True)
class Makers:
    """How the receiving end makes what is more than data; without a maker it does not cross."""

    function: Callable[[int], Any] | None = None  # from its number
    module: Callable[[dict, Any], Any] | None = None  # from what it looks like, and its state
    tensor: Callable[[Any, int], Any] | None = None  # a tensor that wants a gradient, and which of them it is


def decode(tree: Any, blob: memoryview, received: list[Any], makers: Makers = Makers()) -> Any:
    """The value of a tree. `received` collects arrays, tensors and generators by number. Raises Broken."""
    try:
        return _decode(tree, blob, received, makers)
    except Broken:
        raise
    except (ArithmeticError, AttributeError, LookupError, RecursionError, RuntimeError, TypeError, ValueError) as error:
        raise Broken(f"not a message: {error}") from None


def _decode(tree: Any, blob: memoryview, received: list[Any], makers: Makers) -> Any:
    if tree is None or isinstance(tree, bool | float | str):
        return tree
    if isinstance(tree, int):
        if tree.bit_length() > LIMITS.integer_bits:
            raise Broken("a whole number larger than the limit")
        return tree
    if isinstance(tree, list):
        return [_decode(item, blob, received, makers) for item in tree]
    kind = tree["#"]
    if kind == "array":
        return _decode_array(tree, blob, received)
    if kind == "scalar":
        dtype = _dtype(tree["dtype"])
        return np.frombuffer(_slice(blob, tree["at"], dtype.itemsize), dtype)[0]
    if kind == "complex":
        real, imaginary = tree["of"]
        return complex(real, imaginary)
    if kind == "tuple":
        return tuple(_decode(item, blob, received, makers) for item in tree["of"])
    if kind == "dict":
        if len(tree["of"]) > LIMITS.dict_items:
            raise Broken("a dict larger than the limit")
        return {
            _decode(key, blob, received, makers): _decode(value, blob, received, makers) for key, value in tree["of"]
        }
    if kind == "again":
        return received[tree["number"]]
    if kind == "generator":
        state = _decode(tree["state"], blob, [], Makers())
        generator = np.random.Generator(np.random.PCG64(0))  # others take a state that reads outside their memory
        generator.bit_generator.state = state
        received.append(generator)
        return generator
    if kind == "tensor":
        return _decode_tensor(tree, blob, received, makers)
    if kind == "function" and makers.function is not None:
        return makers.function(tree["number"])
    if kind == "module" and makers.module is not None:
        return makers.module(tree, _decode(tree["state"], blob, received, Makers()))
    raise Broken(f"an unknown kind of value: {kind!r}")


# Arrays keep their memory layout, because an answer may work on a contiguous array and fail on a view.


def _encode_array(array: np.ndarray, luggage: Luggage) -> Any:
    if array.dtype.kind not in _KINDS:
        raise Refused(f"a NumPy array of dtype {array.dtype}")
    number = luggage.number(array)
    if number is not None:
        return {"#": "again", "number": number}
    array = np.asarray(array)
    at, _ = luggage.pack(array.tobytes())  # C order, whatever the layout
    tree = {"#": "array", "dtype": array.dtype.str, "shape": array.shape, "at": at}
    if not array.flags.writeable:
        tree["locked"] = True
    if not array.flags.c_contiguous:
        order = sorted(range(array.ndim), key=lambda axis: (-abs(array.strides[axis]), axis))
        tree["layout"] = [order, not array.transpose(order).flags.c_contiguous]
    return tree


def _decode_array(tree: dict, blob: memoryview, received: list[Any]) -> np.ndarray:
    dtype, shape = _dtype(tree["dtype"]), tuple(tree["shape"])
    if any(type(size) is not int or size < 0 for size in shape) or len(shape) > 32:
        raise Broken("not a shape")
    data = np.frombuffer(_slice(blob, tree["at"], dtype.itemsize * math.prod(shape)), dtype).reshape(shape)
    if dtype.kind == "b":  # a byte that is neither 0 nor 1 would be a truth value of its own kind
        data = data.view(np.uint8) != 0
    array = _laid_out(data, *tree["layout"]) if "layout" in tree else data.copy()
    if tree.get("locked"):
        array.flags.writeable = False
    received.append(array)
    return array


def _laid_out(data: np.ndarray, order: list[int], gaps: bool) -> np.ndarray:
    """A copy whose axes lie in memory in this order, from the outermost to the innermost; `gaps`: not side by side."""
    shape = [data.shape[axis] for axis in order]
    base = np.empty([*shape[:-1], 2 * shape[-1]], data.dtype)[..., ::2] if gaps else np.empty(shape, data.dtype)
    array = base.transpose(np.argsort(order))
    array[...] = data
    return array


def _encode_tensor(tensor: Any, luggage: Luggage) -> Any:
    import torch

    dtype = str(tensor.dtype).removeprefix("torch.")
    if dtype not in _TENSOR_KINDS or tensor.layout != torch.strided:
        raise Refused(f"a PyTorch tensor of dtype {dtype}, layout {tensor.layout}")
    number = luggage.number(tensor)
    if number is not None:
        return {"#": "again", "number": number}
    flat = tensor.detach().cpu().contiguous().reshape(-1)
    at, size = luggage.pack(flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b"")
    wants = bool(tensor.requires_grad and torch.is_grad_enabled())
    return {"#": "tensor", "dtype": dtype, "shape": list(tensor.shape), "at": at, "size": size, "grad": wants}


def _decode_tensor(tree: dict, blob: memoryview, received: list[Any], makers: Makers) -> Any:
    import torch

    if tree["dtype"] not in _TENSOR_KINDS:
        raise Broken(f"dtype {tree['dtype']} does not cross")
    dtype = getattr(torch, tree["dtype"])
    data = bytearray(_slice(blob, tree["at"], tree["size"]))
    if dtype == torch.bool:
        data = bytearray((np.frombuffer(data, np.uint8) != 0).tobytes())
    tensor = torch.frombuffer(data, dtype=dtype) if data else torch.empty(0, dtype=dtype)
    tensor = tensor.reshape(tree["shape"])
    if tree["grad"] is True:
        wanting = sum(1 for item in received if isinstance(item, torch.Tensor) and item.requires_grad)
        tensor = makers.tensor(tensor, wanting) if makers.tensor else tensor.requires_grad_()
    received.append(tensor)
    return tensor


def _dtype(text: Any) -> np.dtype:
    dtype = np.dtype(str(text))
    if dtype.kind not in _KINDS:
        raise Broken(f"dtype {dtype} does not cross")
    return dtype


def _slice(blob: memoryview, at: Any, size: Any) -> memoryview:
    if type(at) is not int or type(size) is not int or at < 0 or size < 0 or at + size > len(blob):
        raise Broken("an array outside its message")
    return blob[at : at + size]


def frame(tree: Any, luggage: Luggage) -> bytes:
    """One message, ready to be written."""
    text = _TO_JSON(tree).encode("ascii")
    if len(text) > LIMITS.tree_bytes:
        raise Refused(f"lists and texts of more than {LIMITS.tree_bytes >> 20} MiB")
    return b"".join([_HEADER.pack(len(text), luggage.size), text, *luggage.parts])


def read_frame(read: Callable[[int], bytes]) -> tuple[Any, memoryview]:
    """One message's tree and bytes; `read(n)` gives exactly n bytes or raises EOFError. Raises Broken."""
    text_size, blob_size = _HEADER.unpack(read(_HEADER.size))
    if text_size > LIMITS.tree_bytes or blob_size > LIMITS.frame_bytes:
        raise Broken("a message larger than the limit")
    text, blob = read(text_size), read(blob_size)
    try:
        return _FROM_JSON(text.decode("ascii")), memoryview(blob)
    except (ValueError, RecursionError) as error:
        raise Broken(f"not a message: {error}") from None


def exact_reader(stream: BinaryIO) -> Callable[[int], bytes]:
    """`read(n)` over a blocking stream, for read_frame."""

    def read(size: int) -> bytes:
        data = stream.read(size)
        if len(data) < size:
            raise EOFError("the other process has ended")
        return data

    return read
