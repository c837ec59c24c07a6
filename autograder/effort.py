"""How much an answer computes with PyTorch: a right result can be reached wastefully.

    with effort(model) as spent:
        answer(...)
    assert spent.rows["encoder.0.norm1.weight"] <= N * S  # nothing went through the encoder twice

Whatever way an answer is written, PyTorch is asked for each step, and that is what is counted. In grading
the answer runs in another process: it is counted there, and told here (`link`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

KERNEL = "scaled_dot_product_attention"  # what it holds inside is its own affair
LARGEST = "largest"  # names `Effort.largest` among the limits of `beyond`
NAMES = 10_000  # functions and parameters of one call that are told apart


@dataclass
class Effort:
    """What was asked of PyTorch."""

    calls: Counter[str] = field(default_factory=Counter)  # a function's name → how often it was called
    rows: Counter[str] = field(default_factory=Counter)  # a parameter's name → to how many rows it was applied
    largest: int = 0  # numbers in the largest tensor that was made, outside of attention's own kernel

    def plain(self) -> dict[str, Any]:
        """As JSON data."""
        return {"calls": dict(self.calls), "rows": dict(self.rows), LARGEST: self.largest}

    def add(self, plain: Any) -> None:
        """Add what `plain()` gave on another side. Raises TypeError, LookupError or ValueError for anything else."""
        for ours, theirs in ((self.calls, plain["calls"]), (self.rows, plain["rows"])):
            if len(theirs) > NAMES or not all(type(count) is int and count >= 0 for count in theirs.values()):
                raise ValueError("no counts")
            ours.update(theirs)
        if type(plain[LARGEST]) is not int:
            raise ValueError("no count")
        self.largest = max(self.largest, plain[LARGEST])

    def beyond(self, most: Mapping[str, int], needed: Iterable[str] = ()) -> list[str]:
        """The names in `most` (parameters, or "largest") that were exceeded, and those in `needed` never called."""
        spent = {**self.rows, LARGEST: self.largest}
        exceeded = [name for name, limit in most.items() if spent.get(name, 0) > limit]
        return sorted([*exceeded, *(name for name in needed if not self.calls[name])])


_spent: ContextVar[Effort | None] = ContextVar("spent", default=None)  # None: nobody asks


@contextmanager
def effort(*modules: Any) -> Iterator[Effort]:
    """Within it everything that is asked of PyTorch is counted, for parameters of `modules` by their names."""
    from torch.overrides import TorchFunctionMode

    spent = Effort()
    own = {
        parameter.untyped_storage().data_ptr(): name
        for module in modules
        for name, parameter in module.named_parameters()
    }

    class Watch(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            if _spent.get() is spent:
                _note(spent, own, getattr(func, "__name__", ""), (*args, *(kwargs or {}).values()), result)
            return result

    token = _spent.set(spent)
    try:
        with Watch():
            yield spent
    finally:
        _spent.reset(token)


@contextmanager
def told_elsewhere() -> Iterator[Effort | None]:
    """Within it nothing counts here; what another process spends is to be added to what is given, if anything."""
    spent = _spent.get()
    token = _spent.set(None)
    try:
        yield spent
    finally:
        _spent.reset(token)


def _note(spent: Effort, own: Mapping[int, str], name: str, args: tuple[Any, ...], result: Any) -> None:
    """Count one call of a function of PyTorch's."""
    if len(spent.calls) < NAMES:
        spent.calls[name] += 1
    made = [tensor for tensor in _tensors([result]) if tensor.dim()]
    taken = {tensor.untyped_storage().data_ptr() for tensor in _tensors(args)}
    fresh = [tensor for tensor in made if tensor.untyped_storage().data_ptr() not in taken]  # a view is no new tensor
    if name != KERNEL:
        sizes = (tensor.untyped_storage().nbytes() // tensor.element_size() for tensor in fresh)
        spent.largest = max(spent.largest, *sizes, 0)
    for tensor in fresh[:1]:
        for place in taken & own.keys():
            spent.rows[own[place]] += tensor.numel() // max(tensor.shape[-1], 1)


def _tensors(values: Iterable[Any]) -> list[Any]:
    """The tensors among values, and in the lists and tuples among them."""
    import torch

    flat = (part for value in values for part in (value if isinstance(value, list | tuple) else (value,)))
    return [part for part in flat if isinstance(part, torch.Tensor) and part.layout == torch.strided]
