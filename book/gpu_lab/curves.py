"""Attention alone, for longer and longer texts: time and memory of each way to compute it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from gpu_lab.attention import ATTENTIONS
from gpu_lab.device import PRECISIONS
from gpu_lab.timing import milliseconds, peak_mib

LENGTHS = (512, 1024, 2048, 4096, 8192, 16_384)
SMALL_LENGTHS = LENGTHS[:4]


def measure_attention(
    kind: str, n: int, heads: int, head_size: int, precision: str, backward: bool, device: torch.device, repeats: int
) -> dict[str, float]:
    """One text of n tokens: milliseconds and peak MiB of one call, with its gradients when `backward`.

    teraflops counts what the task needs, the same for each kind: the two products of a causal table, half of
    4 · heads · n² · head size operations; backward two and a half times as many (Dao 2023, FlashAttention-2, 4.1).
    """
    generator = torch.Generator().manual_seed(0)
    shape, dtype = (1, heads, n, head_size), PRECISIONS[precision] or torch.float32

    def drawn() -> torch.Tensor:
        return torch.randn(shape, generator=generator).to(device, dtype).requires_grad_(backward)

    q, k, v = drawn(), drawn(), drawn()
    gradient = torch.ones_like(q)
    attention = ATTENTIONS[kind]

    def call() -> None:
        out = attention(q, k, v)
        if backward:
            torch.autograd.grad(out, (q, k, v), gradient)

    median = milliseconds(call, device, warmup=2, repeats=repeats)
    peak = peak_mib(call, device)
    operations = 4 * heads * n**2 * head_size / 2 * (3.5 if backward else 1.0)
    return {"milliseconds": median, "peak_mib": peak, "teraflops": operations / median / 1e9}


def growth_exponent(lengths: Sequence[int], memory: Sequence[float]) -> float:
    """The p of memory ∝ n^p, by least squares between the logarithms: 1 grows along a line, 2 as a square."""
    slope, _ = np.polyfit(np.log(lengths), np.log(memory), deg=1)
    return float(slope)
