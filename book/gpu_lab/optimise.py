"""From a batch to better weights: the loss, its optimiser, and how large each step is."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from gpu_lab.data import PADDING, Batch
from gpu_lab.settings import Settings


def adamw(model: nn.Module, settings: Settings) -> torch.optim.AdamW:
    """AdamW (Loshchilov & Hutter 2019): Adam, with the decay of the weights kept out of its averages."""
    return torch.optim.AdamW(model.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay)


def learning_rate(step: int, settings: Settings) -> float:
    """Up along a line for `warmup` steps, then down along a cosine to 0 at the last step (step counts from 0)."""
    if step < settings.warmup:
        return settings.learning_rate * (step + 1) / settings.warmup
    done = (step - settings.warmup) / max(settings.steps - settings.warmup, 1)
    return settings.learning_rate * (1 + math.cos(math.pi * done)) / 2


def share_of_loss(logits: Tensor, batch: Batch, processes: int) -> Tensor:
    """This process's share of the step's loss; the mean over processes is the mean over all real tokens of the step.

    logits (N, L, V) → scalar. Dividing by the tokens of one's own rows would be wrong: processes whose numbers are
    short would then count for more.
    """
    losses = cross_entropy(logits.flatten(0, 1).float(), batch.target.flatten(), ignore_index=PADDING, reduction="sum")
    return losses * (processes / batch.step_tokens)


def seed_step(seed: int, step: int, rank: int) -> None:
    """Set PyTorch's random numbers (dropout) for one step, so that no random state belongs into a checkpoint."""
    torch.manual_seed(int(np.random.SeedSequence([seed, step, rank]).generate_state(1, np.uint64)[0] >> 1))


def take_step(
    model: nn.Module,
    optimiser: torch.optim.Optimizer,
    scaler: torch.amp.GradScaler,
    loss: Tensor,
    rate: float,
    clip: float,
) -> Tensor:
    """One step against the gradient of `loss`, no longer than `clip` allows; returns the gradient's norm before that."""
    for group in optimiser.param_groups:
        group["lr"] = rate
    scaler.scale(loss).backward()
    scaler.unscale_(optimiser)  # the norm to clip is that of the true gradient
    norm = nn.utils.clip_grad_norm_(model.parameters(), clip)
    scaler.step(optimiser)  # left out when fp16 overflowed, and the scale made smaller
    scaler.update()
    optimiser.zero_grad(set_to_none=True)
    return norm
