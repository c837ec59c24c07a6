"""Causal attention in several ways that give the same numbers, and differ in speed and memory.

Each takes q, k, v (N, h, T, d) and gives (N, h, T, d). `naive` writes down all N·h·T·T scores; `fused` is PyTorch's
kernel, which goes through them in tiles and keeps none (Dao et al. 2022, FlashAttention); `compiled` is `naive`, left to
PyTorch's compiler; `flex` is compiled too, from a rule for the mask (FlexAttention). `flash`, `efficient` and `cudnn`
are the kernels that `fused` chooses from on a GPU.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import BlockMask, create_block_mask, flex_attention
from torch.nn.functional import scaled_dot_product_attention

Attention = Callable[[Tensor, Tensor, Tensor], Tensor]


def naive(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """As chapter 5 writes it: scores, mask, softmax, sum."""
    T, d = q.shape[-2:]
    scores = q @ k.transpose(-2, -1) / math.sqrt(d)  # (N, h, T, T)
    future = torch.ones(T, T, dtype=torch.bool, device=q.device).triu(1)  # (T, T)
    return scores.masked_fill(future, -torch.inf).softmax(dim=-1) @ v


def fused(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """One kernel for all of it."""
    return scaled_dot_product_attention(q, k, v, is_causal=True)


def compiled(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """`naive`, as PyTorch's compiler joins its steps."""
    if torch.compiler.is_compiling():
        return naive(q, k, v)
    return _compiled(naive)(q, k, v)


def flex(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """FlexAttention; on a CPU forward only."""
    blocks = _causal_blocks(q.shape[-2], q.device)
    if torch.compiler.is_compiling():  # as a part of a model that is compiled as a whole
        return flex_attention(q, k, v, block_mask=blocks)
    return _compiled(flex_attention)(q, k, v, block_mask=blocks)


def _with_kernel(kernel: SDPBackend, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    with sdpa_kernel(kernel):
        return fused(q, k, v)


KERNELS: dict[str, Attention] = {  # raise RuntimeError where they cannot serve
    "flash": partial(_with_kernel, SDPBackend.FLASH_ATTENTION),
    "efficient": partial(_with_kernel, SDPBackend.EFFICIENT_ATTENTION),
    "cudnn": partial(_with_kernel, SDPBackend.CUDNN_ATTENTION),
}
ATTENTIONS: dict[str, Attention] = {"naive": naive, "compiled": compiled, "fused": fused, "flex": flex} | KERNELS


@cache
def _compiled(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return torch.compile(function, dynamic=False)  # one program for each length: they are to be compared at their best


_CAUSAL: dict[tuple[int, torch.device], BlockMask] = {}  # by length; no @cache, which a compiler would step into


def _causal_blocks(T: int, device: torch.device) -> BlockMask:
    if (T, device) not in _CAUSAL:
        _CAUSAL[T, device] = create_block_mask(lambda n, h, query, key: key <= query, None, None, T, T, device=device)
    return _CAUSAL[T, device]
