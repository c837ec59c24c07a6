"""What a trained model gets right: whole answers, greedily decoded, by the number of digits."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from gpu_lab.data import BOS, EOS, KOREAN, LONGEST, LONGEST_TARGET, PADDING, korean, pairs, questions

QUESTIONS_SEED = 20_000  # the questions of the course's figures; a grader takes another


@torch.no_grad()
def answers(model: nn.Module, source: Tensor) -> list[str]:
    """What the model says to each row of source (N, S): the token with the largest logit, until it says "end".

    Each token is decoded with all tokens before it once more, so that any model can be asked. A cache of keys and
    values does the same faster; it is an exercise of this chapter.
    """
    was_training = model.training
    model.eval()
    memory = model.encode(source)
    said = torch.full((len(source), 1), BOS, device=source.device)  # (N, 1)
    ended = torch.zeros(len(source), dtype=torch.bool, device=source.device)  # (N,)
    while said.shape[1] <= LONGEST_TARGET and not ended.all():
        token = model.decode(said, memory, source)[:, -1].argmax(dim=-1)  # (N,)
        token = token.masked_fill(ended, PADDING)
        said = torch.cat([said, token[:, None]], dim=1)  # (N, L)
        ended |= token == EOS
    model.train(was_training)
    return ["".join(KOREAN.decode(row)) for row in said.tolist()]


def accuracy_by_digits(
    model: nn.Module,
    count: int,
    seed: int = QUESTIONS_SEED,
    digits: Iterable[int] = range(1, LONGEST + 1),
    device: torch.device | str = "cpu",
) -> dict[int, float]:
    """The share of right answers to up to `count` questions for each number of digits."""
    shares = {}
    for number_of_digits in digits:
        asked = questions(number_of_digits, count, seed)
        said = answers(model, pairs(asked).source.to(device))
        shares[number_of_digits] = sum(map(str.__eq__, said, map(korean, asked))) / len(asked)
    return shares
