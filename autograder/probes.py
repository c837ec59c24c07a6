"""Probes: the fixed inputs on which wrong answers tell themselves apart, as plain data.

A probe is one call: arguments that stand in a JSON file and come back exactly. Where an exercise
takes a function or a random generator, the argument is made from numbers (`Cubic`, `StepTable`,
`Mixing`, `Draws`), so that what travels with the released exercises is data, never code.
NumPy alone is needed; PyTorch only where a probe holds tensors or builds a module.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

CALL_LIMIT = 10_000  # calls of one data-made function: an endless loop around it ends, and shows as RuntimeError


class _Counted:
    """A function made of data that refuses to be called without end."""

    calls = 0

    def _count(self) -> None:
        self.calls += 1
        if self.calls > CALL_LIMIT:
            raise RuntimeError(f"the function was called more than {CALL_LIMIT} times")


class Cubic(_Counted):
    """f(x) = Σ w·x³, a scalar function of x (the shape of w); its gradient is 3·w·x²."""

    def __init__(self, w: Any) -> None:
        self.data = np.asarray(w, dtype=np.float64)

    def __call__(self, x: Any) -> float:
        self._count()
        return float(np.sum(self.data * np.asarray(x) ** 3))


class StepTable(_Counted):
    """A decoder of one step: step(token, h) → (scores[token] (V,), h + 1); scores (V, V).

    With scores (K, V, V) the state counts too: scores[h modulo K, token], h a whole number.
    """

    def __init__(self, scores: Any) -> None:
        self.data = np.asarray(scores, dtype=np.float64)

    def __call__(self, token: Any, h: Any) -> tuple[np.ndarray, Any]:
        self._count()
        table = self.data if self.data.ndim == 2 else self.data[int(h) % len(self.data)]
        return table[int(token)].copy(), h + 1


class Mixing(_Counted):
    """An attention of fixed weights: attention(X) = M X; M (T, T), X (T, d)."""

    def __init__(self, M: Any) -> None:
        self.data = np.asarray(M, dtype=np.float64)

    def __call__(self, X: Any) -> np.ndarray:
        self._count()
        return self.data @ np.asarray(X)


@dataclass(frozen=True)
class Draws:
    """Stands for a random generator: each call gets a fresh `np.random.default_rng(seed)`."""

    seed: int


@dataclass(frozen=True)
class ModuleProbe:
    """A PyTorch module built, filled with numbers, and called once, in place of a plain call.

    The module is `answer(**init)` in float64. Each parameter is filled from `seed` and its own
    name, so that it does not matter in which order they were made. It runs in evaluation mode
    unless `training`. Arrays of floats in `call` and `kwargs` become float64 tensors; gradients of
    the outputs' sum are looked at where `gradients` says so.
    """

    init: dict[str, Any] = field(default_factory=dict)
    call: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    training: bool = False
    seed: int = 0
    gradients: bool = True


@dataclass(frozen=True)
class Built:
    """An argument that is a PyTorch module: the notebook's own class `name`, built and filled from numbers.

    As in ModuleProbe: `name(**init)` in float64, each parameter filled from `seed` and its own name, times `scale`.
    """

    name: str
    init: dict[str, Any] = field(default_factory=dict)
    training: bool = False
    seed: int = 0
    scale: float = 1.0


FUNCTIONS = {cls.__name__: cls for cls in (Cubic, StepTable, Mixing)}
RECORDS = {cls.__name__: cls for cls in (ModuleProbe, Built)}
EMPTY: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Probe:
    """One call in encoded form.

    `naming` holds the words that the message of the raised error must hold (the offending length,
    say); each is looked for as a whole word. `most` and `needed` say what the call may spend, as
    `effort.Effort.beyond` takes them.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    naming: tuple[str, ...] = ()
    most: Mapping[str, int] = field(default_factory=dict)
    needed: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        naming: tuple[Any, ...] = (),
        most: Mapping[str, int] | None = None,
        needed: tuple[str, ...] = (),
    ) -> Probe:
        """The probe of a call. Raises TypeError for an argument that cannot be written as data."""
        return cls(
            args=tuple(encode(value) for value in args),
            kwargs={name: encode(value) for name, value in kwargs.items()},
            naming=tuple(str(word) for word in naming),
            most=dict(most or {}),
            needed=tuple(needed),
        )

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Probe:
        """The probe that `plain()` wrote."""
        parts = {name: tuple(plain.get(name, ())) for name in ("args", "naming", "needed")}
        return cls(**parts, kwargs=dict(plain.get("kwargs", {})), most=dict(plain.get("most", {})))

    def plain(self) -> dict[str, Any]:
        """The probe as JSON data; what is empty is left out."""
        parts = {"args": list(self.args), "kwargs": self.kwargs, "naming": list(self.naming)}
        parts |= {"most": dict(self.most), "needed": list(self.needed)}
        return {name: part for name, part in parts.items() if part}

    def arguments(self, namespace: Mapping[str, Any] = EMPTY) -> tuple[list[Any], dict[str, Any]]:
        """Fresh arguments for one call: nothing that an earlier call changed is in them.

        `namespace` holds the notebook's own classes, for `Built`. Raises LookupError where one is not there.
        """
        args = [_for_call(decode(value), namespace) for value in self.args]
        return args, {name: _for_call(decode(value), namespace) for name, value in self.kwargs.items()}


def _for_call(value: Any, namespace: Mapping[str, Any]) -> Any:
    if isinstance(value, Draws):
        return np.random.default_rng(value.seed)
    if isinstance(value, Built):
        from autograder.modules import build

        if value.name not in namespace:
            raise LookupError(f"{value.name} is not defined")
        return build(namespace[value.name], value.init, value.training, value.seed, value.scale)
    return value


def encode(value: Any) -> Any:
    """`value` as JSON data that `decode` turns back exactly. Raises TypeError where that cannot be.

    Known are numbers, strings, None, lists, tuples, dicts, NumPy arrays (with dtype, shape and
    memory layout), tensors, and the functions and stand-ins of this module.
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, bool | str):  # it was a NumPy scalar
        return value
    if isinstance(value, np.ndarray):
        return {"array": _encode_array(value)}
    if isinstance(value, list):
        return [encode(item) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [encode(item) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[encode(key), encode(item)] for key, item in value.items()]}
    if isinstance(value, Draws):
        return {"Draws": value.seed}
    if type(value) in RECORDS.values():
        return {type(value).__name__: {name: encode(getattr(value, name)) for name in value.__dataclass_fields__}}
    if type(value).__name__ in FUNCTIONS and isinstance(value, _Counted):
        return {type(value).__name__: _encode_array(value.data)}
    if is_tensor(value):
        plain = _encode_array(value.detach().cpu().numpy())
        return {"tensor": plain | ({"requires_grad": True} if value.requires_grad else {})}
    raise TypeError(f"{type(value).__name__} cannot be written as data")


def decode(plain: Any) -> Any:
    """What `encode` was given, newly made. Tensors need PyTorch: ImportError without it."""
    if isinstance(plain, list):
        return [decode(item) for item in plain]
    if not isinstance(plain, dict):
        return plain
    ((kind, data),) = plain.items()
    if kind == "float":
        return float(data)
    if kind == "array":
        return _decode_array(data)
    if kind == "tuple":
        return tuple(decode(item) for item in data)
    if kind == "dict":
        return {decode(key): decode(item) for key, item in data}
    if kind == "Draws":
        return Draws(data)
    if kind in RECORDS:
        return RECORDS[kind](**{name: decode(item) for name, item in data.items()})
    if kind == "tensor":
        import torch

        array = _decode_array(data).copy()  # in C order, which changes no tensor's values
        return torch.from_numpy(array).requires_grad_(data.get("requires_grad", False))
    return FUNCTIONS[kind](_decode_array(data))


def is_tensor(value: Any) -> bool:
    """Whether `value` is a PyTorch tensor, or stands for one, found without importing PyTorch."""
    return hasattr(value, "detach") and hasattr(value, "numpy") and hasattr(value, "shape")


def _encode_array(array: np.ndarray) -> dict[str, Any]:
    if array.dtype.kind not in "fiubU":
        raise TypeError(f"an array of {array.dtype} cannot be written as data")
    plain = {"dtype": array.dtype.name if array.dtype.kind != "U" else "str", "shape": list(array.shape)}
    if array.ndim and not array.flags.c_contiguous:  # some mistakes show on such arrays alone
        plain["layout"] = "F" if array.flags.f_contiguous else "strided"
    values = array.ravel().tolist()
    return plain | {"values": [number_or_word(value) for value in values]}


def number_or_word(value: Any) -> Any:
    """JSON knows no NaN and no infinity: such floats are written as words."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _decode_array(plain: dict[str, Any]) -> np.ndarray:
    dtype, shape, layout = np.dtype(plain["dtype"]), tuple(plain["shape"]), plain.get("layout", "C")
    values = plain["values"]
    if dtype.kind == "f":
        values = [float(value) for value in values]
    array = np.array(values, dtype=dtype if dtype.kind != "U" else None).reshape(shape)
    if layout == "F":
        return np.asfortranarray(array)
    if layout == "strided":
        wide = np.zeros((*shape[:-1], 2 * shape[-1]), dtype=array.dtype)
        wide[..., ::2] = array
        return wide[..., ::2]
    return array
