"""A language model for the speed half: GPT-2's shape, with an attention that can be exchanged.

Each token says what may come next; a causal mask keeps the next one from it. Layers are pre-norm as in chapter 6, with
GELU, without biases, and the output layer has the embedding's weights (Radford et al. 2019).

Letters: N texts, T tokens, D = d_model, h heads, d = D / h, V = vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, gelu, scaled_dot_product_attention

from gpu_lab.attention import ATTENTIONS


@dataclass(frozen=True)
class Shape:
    """The sizes of a model; these are GPT-2's smallest, 124 million parameters."""

    n_layers: int = 12
    n_heads: int = 12
    d_model: int = 768
    length: int = 1024  # the longest text
    vocabulary: int = 50_304  # GPT-2's 50,257, made a multiple of 64, which GPUs like


@dataclass
class Cache:
    """Keys and values of the tokens so far, layer by layer: each token's are projected once."""

    length: int  # room for so many tokens
    used: int = 0
    _kept: dict[int, Tensor] = field(default_factory=dict, init=False)

    def extended(self, layer: int, keys_and_values: Tensor) -> Tensor:
        """Puts new ones, (2, N, h, T, d), behind those kept; returns all, (2, N, h, used + T, d)."""
        if layer not in self._kept:
            two, N, h, _, d = keys_and_values.shape
            self._kept[layer] = keys_and_values.new_empty(two, N, h, self.length, d)
        end = self.used + keys_and_values.shape[3]
        self._kept[layer][:, :, :, self.used : end] = keys_and_values
        return self._kept[layer][:, :, :, :end]


class SelfAttention(nn.Module):
    """Causal self-attention in h heads."""

    def __init__(self, shape: Shape, attention: str, layer: int) -> None:
        super().__init__()
        self.n_heads, self.layer = shape.n_heads, layer
        self.attention = ATTENTIONS[attention]
        self.qkv = nn.Linear(shape.d_model, 3 * shape.d_model, bias=False)
        self.out = nn.Linear(shape.d_model, shape.d_model, bias=False)

    def forward(self, x: Tensor, cache: Cache | None = None) -> Tensor:
        """x (N, T, D) → (N, T, D)"""
        q, *kv = (part.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
        k, v = kv if cache is None else cache.extended(self.layer, torch.stack(kv))  # (N, h, S, d)
        if q.shape[2] == k.shape[2]:
            mixed = self.attention(q, k, v)  # (N, h, T, d)
        elif q.shape[2] == 1:
            mixed = scaled_dot_product_attention(q, k, v)  # the newest token may see every key: no mask
        else:
            raise ValueError(
                f"{q.shape[2]} new tokens behind {k.shape[2] - q.shape[2]} cached ones: give them one by one"
            )
        return self.out(mixed.transpose(1, 2).flatten(-2))


class Block(nn.Module):
    """x + attention(norm(x)), then x + feed_forward(norm(x))."""

    def __init__(self, shape: Shape, attention: str, layer: int) -> None:
        super().__init__()
        D = shape.d_model
        self.norm1, self.norm2 = nn.LayerNorm(D, bias=False), nn.LayerNorm(D, bias=False)
        self.self_attention = SelfAttention(shape, attention, layer)
        self.up, self.down = nn.Linear(D, 4 * D, bias=False), nn.Linear(4 * D, D, bias=False)

    def forward(self, x: Tensor, cache: Cache | None = None) -> Tensor:
        """x (N, T, D) → (N, T, D)"""
        x = x + self.self_attention(self.norm1(x), cache)
        return x + self.down(gelu(self.up(self.norm2(x))))


class LanguageModel(nn.Module):
    """Tokens (N, T) → logits for the token after each, (N, T, V)."""

    def __init__(self, shape: Shape, attention: str = "fused") -> None:
        super().__init__()
        self.shape = shape
        self.tokens = nn.Embedding(shape.vocabulary, shape.d_model)
        self.positions = nn.Embedding(shape.length, shape.d_model)
        self.blocks = nn.ModuleList(Block(shape, attention, layer) for layer in range(shape.n_layers))
        self.norm = nn.LayerNorm(shape.d_model, bias=False)
        for weight in self.parameters():
            if weight.dim() == 2:
                nn.init.normal_(weight, std=0.02)

    def forward(self, tokens: Tensor, cache: Cache | None = None) -> Tensor:
        """With a cache, tokens are those behind the cached ones."""
        begin = cache.used if cache else 0
        places = torch.arange(begin, begin + tokens.shape[1], device=tokens.device)  # (T,)
        x = self.tokens(tokens) + self.positions(places)  # (N, T, D)
        for block in self.blocks:
            x = block(x, cache)
        if cache:
            cache.used += tokens.shape[1]
        return self.norm(x) @ self.tokens.weight.T  # (N, T, V)

    def loss(self, text: Tensor) -> Tensor:
        """The mean cross-entropy of each token of text (N, T + 1) but the first, given those before it."""
        logits = self(text[:, :-1])  # (N, T, V)
        return cross_entropy(logits.flatten(0, 1).float(), text[:, 1:].flatten())

    @torch.no_grad()
    def generate(self, prompt: Tensor, count: int, cached: bool = True) -> Tensor:
        """Go on with prompt (N, T) for `count` tokens, the likeliest each time: (N, count)."""
        cache = Cache(prompt.shape[1] + count) if cached else None
        text = new = prompt
        for _ in range(count):
            logits = self(new if cached else text, cache)  # the first time the whole prompt, then one token
            new = logits[:, -1:].argmax(dim=-1)  # (N, 1)
            text = torch.cat([text, new], dim=1)
        return text[:, prompt.shape[1] :]


def parameters_of(shape: Shape) -> int:
    """How many a model has, without its table of positions, which takes part in no product."""
    D = shape.d_model
    return shape.vocabulary * D + shape.n_layers * (12 * D * D + 2 * D) + D
