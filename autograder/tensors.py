"""PyTorch's tensors across the two processes: gradients that are wanted, changes, and random draws.

Nothing here imports PyTorch before something of PyTorch's is there: the NumPy chapters never wait
for it. What becomes of modules is in `mirrors`.
"""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import torch

# PyTorch's generator is a Mersenne twister: it makes 624 numbers at a time, and its state is those and a place.
_BLOCK = 624
_WORDS = slice(24, 24 + 8 * _BLOCK)  # in the bytes of the state: behind the seed, a count, a flag and the place
MOST_BLOCKS = 4096  # how far an answer is followed: two and a half million numbers, some tens of milliseconds


def get_ready() -> None:
    """Import PyTorch, on one thread, and what it imports with the first gradient: seconds, once."""
    import torch

    torch.set_num_threads(1)
    torch.ones((), requires_grad=True).backward()


def is_tensor(value: Any) -> bool:
    """Whether it is a PyTorch tensor; False where PyTorch was never imported."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def wants_gradient(value: Any) -> bool:
    """Whether it is a tensor through which a gradient is to come back."""
    return is_tensor(value) and value.requires_grad and sys.modules["torch"].is_grad_enabled()


def gradients_enabled() -> bool:
    """Whether PyTorch records what a gradient needs; True without PyTorch, where nobody asks."""
    torch = sys.modules.get("torch")
    return torch is None or torch.is_grad_enabled()


def with_gradients(enabled: bool) -> contextlib.AbstractContextManager:
    """Record what a gradient needs, or not, as on the other side."""
    torch = sys.modules.get("torch")
    return contextlib.nullcontext() if torch is None else torch.set_grad_enabled(enabled)


def random_state() -> Any:
    """The state of PyTorch's generator, so that a seed set on one side holds on the other; None without it."""
    torch = sys.modules.get("torch")
    return torch.get_rng_state() if torch is not None else None


def set_random_state(state: Any) -> None:
    """Take over the other side's state."""
    if state is not None:
        import torch

        torch.set_rng_state(state)


def follow(ours: torch.Tensor, theirs: torch.Tensor) -> None:
    """Take over the state to which an answer brought PyTorch's generator, if drawing from `ours` leads there.

    Another one (an answer set a seed, or forged a state that gives the same number for ever) would let the
    answer choose what a test draws next: then the generator goes on to where only this side decides.
    """
    import torch

    if torch.equal(ours, theirs):
        return
    generator = torch.Generator().set_state(ours)
    for _ in range(MOST_BLOCKS):
        if torch.equal(generator.get_state()[_WORDS], theirs[_WORDS]):
            torch.set_rng_state(theirs)
            return
        torch.rand(_BLOCK, generator=generator)
    torch.manual_seed(int(torch.randint(2**62, ())))


def snapshot(value: Any) -> bytes | None:
    """The bytes of an array or tensor, to see later whether it was changed; None for anything else."""
    if isinstance(value, np.ndarray):
        return value.tobytes()
    if is_tensor(value):
        import torch

        flat = value.detach().contiguous().reshape(-1)
        return flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""
    return None
