"""Probing an answer that is a PyTorch module: build it, fill it from numbers, call it, look at gradients."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.probes import ModuleProbe


def call_module(answer: Callable[..., Any], probe: ModuleProbe) -> tuple[Any, str]:
    """(what forward gives, what became of the gradients: "finite", "not finite", "none" or "not asked").

    Raises what the answer raises, and ImportError without PyTorch.
    """
    import torch

    module = build(answer, probe.init, probe.training, probe.seed)
    torch.manual_seed(probe.seed)
    result = module(*map(_tensor, probe.call), **{name: _tensor(value) for name, value in probe.kwargs.items()})
    return result, _gradients(module, result) if probe.gradients else "not asked"


def build(answer: Callable[..., Any], init: dict[str, Any], training: bool, seed: int, scale: float = 1.0) -> Any:
    """`answer(**init)` in float64, filled from `seed`. Raises what the answer raises."""
    module = answer(**init).double()
    module.load_state_dict({name: scale * _numbers(name, tensor, seed) for name, tensor in module.state_dict().items()})
    return module.train(training)


def gradients_to(inputs: list[Any], result: Any) -> list[Any]:
    """The gradient of the sum of all results, to each of `inputs`; None where none arrives."""
    total = _total(result)
    if hasattr(total, "backward"):
        total.backward()
    return [tensor.grad for tensor in inputs]


def _numbers(name: str, tensor: Any, seed: int) -> Any:
    """A parameter's values, from its name and the seed alone; what is no float stays."""
    import torch

    if not tensor.is_floating_point():
        return tensor
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    width = tensor.shape[-1] if tensor.ndim else 1
    return torch.from_numpy(rng.normal(size=tuple(tensor.shape)) / np.sqrt(max(width, 1)))


def _tensor(value: Any) -> Any:
    import torch

    if not isinstance(value, np.ndarray):
        return value
    return torch.from_numpy(np.ascontiguousarray(value, dtype=np.float64 if value.dtype.kind == "f" else None))


def _gradients(module: Any, result: Any) -> str:
    total = _total(result)
    if not hasattr(total, "backward"):
        return "none"
    total.backward()
    gradients = [p.grad for p in module.parameters() if p.grad is not None]
    if not gradients:
        return "none"
    return "finite" if all(bool(gradient.isfinite().all()) for gradient in gradients) else "not finite"


def _total(result: Any) -> Any:
    """The sum of all outputs that have a gradient; 0 where none has."""
    outputs = result if isinstance(result, list | tuple) else [result]
    return sum(output.sum() for output in outputs if getattr(output, "requires_grad", False))
