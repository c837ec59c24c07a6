"""The task of the lab: a number in English words becomes the same number in Korean words.

    three million four hundred twelve thousand five  →  삼백사십일만 이천오        (3,412,005)

English counts in groups of 10³ (thousand, million, billion), Korean in groups of 10⁴ (만, 억), so a group on one
side has its digits in two groups on the other. Everything is made by program: a batch is a pure function of
(seed, step, rank), and nothing has to be stored or downloaded.

Letters: N numbers, S English words, L Korean characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from zlib import crc32

import numpy as np
import torch
from torch import Tensor

LONGEST = 12  # digits
ALL_PRACTISED = 3  # up to this many digits there are too few numbers to keep some back
SPARSE = 0.25  # of the numbers for training have many zeros
KEPT_BACK = 10  # of the longer numbers, one in this many is never shown in training

PADDING, BOS, EOS = 0, 1, 2
_SPECIAL = ("<padding>", "<bos>", "<eos>")

_BELOW_TWENTY = """zero one two three four five six seven eight nine
ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"""
_TIMES_TEN = "twenty thirty forty fifty sixty seventy eighty ninety"
_ONES, _TENS = tuple(_BELOW_TWENTY.split()), tuple(_TIMES_TEN.split())
_THOUSANDS = ("", "thousand", "million", "billion")
_DIGITS = tuple("영일이삼사오육칠팔구")
_PLACES = ("", "십", "백", "천")
_MYRIADS = ("", "만", "억")
_SPACE = " "  # Korean spelling puts one between groups of 10⁴


def english(number: int) -> list[str]:
    """The English words of a number below 10¹², without "and" and commas: 412 → four hundred twelve."""
    words: list[str] = []
    for name, group in _groups(number, 1000, _THOUSANDS):
        hundreds, rest = divmod(group, 100)
        if hundreds:
            words += [_ONES[hundreds], "hundred"]
        if rest >= len(_ONES):
            words.append(_TENS[rest // 10 - 2])
            rest %= 10
        if rest:
            words.append(_ONES[rest])
        if name:
            words.append(name)
    return words or [_ONES[0]]


def korean(number: int) -> str:
    """The Korean words of a number below 10¹², a space between groups of 10⁴: 3412005 → 삼백사십일만 이천오.

    일 is not said before 십, 백 and 천, nor in 만 for 10⁴; it is said in 일억 for 10⁸.
    """
    groups = []
    for name, group in _groups(number, 10_000, _MYRIADS):
        said = ""
        for place, character in reversed(list(enumerate(_PLACES))):
            digit = group // 10**place % 10
            if digit:
                said += ("" if digit == 1 and place else _DIGITS[digit]) + character
        groups.append(name if name == "만" and group == 1 else said + name)
    return _SPACE.join(groups) or _DIGITS[0]


def _groups(number: int, base: int, names: Sequence[str]) -> list[tuple[str, int]]:
    """The groups of a number that are not 0, with their names, the largest first."""
    if not 0 <= number < 10**LONGEST:
        raise ValueError(f"{number} is not a number of 1 to {LONGEST} digits")
    groups = [(name, number // base**i % base) for i, name in enumerate(names)]
    return [(name, group) for name, group in reversed(groups) if group]


class Vocabulary:
    """Tokens and their ids: 0 padding, 1 begin (bos), 2 end (eos), then `tokens` in their order."""

    def __init__(self, tokens: Iterable[str]) -> None:
        self.tokens = (*_SPECIAL, *tokens)
        self._ids = {token: i for i, token in enumerate(self.tokens)}

    def __len__(self) -> int:
        return len(self.tokens)

    def encode(self, tokens: Iterable[str]) -> list[int]:
        """The ids of tokens; an unknown one raises KeyError."""
        return [self._ids[token] for token in tokens]

    def decode(self, ids: Iterable[int]) -> list[str]:
        """The tokens of ids, up to the first end, without begin and padding."""
        tokens = []
        for i in ids:
            if i == EOS:
                break
            if i not in (PADDING, BOS):
                tokens.append(self.tokens[i])
        return tokens


ENGLISH = Vocabulary((*_ONES, *_TENS, "hundred", *_THOUSANDS[1:]))  # a token is a word
KOREAN = Vocabulary((*_DIGITS, *_PLACES[1:], *_MYRIADS[1:], _SPACE))  # a token is a character

# 999,999,999,999 is the longest on both sides: four words for each of four groups and three names; seven characters
# for each of three groups, two names, two spaces, and the end (or the begin).
LONGEST_SOURCE = 4 * 4 + 3
LONGEST_TARGET = 3 * 7 + 2 + 2 + 1


def is_held_out(number: int) -> bool:
    """Whether training never shows this number: one in ten from four digits up, for ever the same ones."""
    return number >= 10**ALL_PRACTISED and crc32(str(number).encode()) % KEPT_BACK == 0


@dataclass(frozen=True)
class Batch:
    """Pairs as token ids, 0 where a row has ended."""

    source: Tensor  # (N, S) English
    target_in: Tensor  # (N, L) Korean as the decoder hears it: begins with bos
    target: Tensor  # (N, L) Korean as it should be said: ends with eos
    numbers: tuple[int, ...]  # N
    step_tokens: int  # real target tokens of the whole step, those of other ranks included

    def to(self, device: torch.device | str) -> Batch:
        """The same pairs on another device."""
        moved = (tensor.to(device, non_blocking=True) for tensor in (self.source, self.target_in, self.target))
        return Batch(*moved, self.numbers, self.step_tokens)


def batch(seed: int, step: int, rank: int = 0, world: int = 1, size: int = 64) -> Batch:
    """What process `rank` of `world` practises on at `step`: its share of the step's `size` pairs.

    A pure function of its arguments, so that a run can go on anywhere: nothing of the data belongs into a
    checkpoint. The step's pairs are the same ones for any `world`; rank r takes every world-th, beginning at r.
    Always padded to the longest number there is: one shape for `torch.compile`.
    """
    if size % world or not 0 <= rank < world:
        raise ValueError(f"a batch of {size} cannot be shared by rank {rank} of {world} processes")
    numbers = _practised(np.random.default_rng([seed, step]), size)
    tokens = sum(len(korean(number)) + 1 for number in numbers)
    return pairs(numbers[rank::world], LONGEST_SOURCE, LONGEST_TARGET, tokens)


def pairs(
    numbers: Sequence[int],
    source_length: int | None = None,
    target_length: int | None = None,
    step_tokens: int | None = None,
) -> Batch:
    """Any numbers as a batch, padded to the longest of them where no length is given."""
    said = [KOREAN.encode(korean(number)) for number in numbers]
    target = padded([[*row, EOS] for row in said], target_length)
    return Batch(
        source=padded([ENGLISH.encode(english(number)) for number in numbers], source_length),
        target_in=padded([[BOS, *row] for row in said], target_length),
        target=target,
        numbers=tuple(numbers),
        step_tokens=int((target != PADDING).sum()) if step_tokens is None else step_tokens,
    )


def padded(rows: Sequence[Sequence[int]], length: int | None = None) -> Tensor:
    """Rows of ids as one tensor (N, length), 0 behind each row's end; without a length, that of the longest row."""
    table = torch.zeros(len(rows), length or max(map(len, rows)), dtype=torch.long)
    for n, row in enumerate(rows):
        table[n, : len(row)] = torch.tensor(row, dtype=torch.long)
    return table


def _practised(rng: np.random.Generator, count: int) -> list[int]:
    """Numbers for training, none of them held out: long ones more often than short ones, and many zeros.

    There are only 1,000 numbers of up to three digits, and they are soon known: the digits are the larger of two
    draws from 1 to 12. And a zero is said on neither side, so that what follows it stands somewhere else; evenly
    drawn numbers have few. In one of four, half of the digits become zeros.
    """
    numbers: list[int] = []
    while len(numbers) < count:
        digits = str(_draw(rng, int(rng.integers(1, LONGEST + 1, size=2).max())))
        if rng.random() < SPARSE:
            kept = rng.random(len(digits)) < 0.5
            digits = digits[0] + "".join(digit if keep else "0" for digit, keep in zip(digits, kept, strict=True))[1:]
        if not is_held_out(int(digits)):
            numbers.append(int(digits))
    return numbers


def _draw(rng: np.random.Generator, digits: int) -> int:
    return int(rng.integers(10 ** (digits - 1) if digits > 1 else 0, 10**digits))


@cache
def questions(digits: int, count: int, seed: int) -> tuple[int, ...]:
    """Different numbers of `digits` digits to ask a trained model: `count`, or as many as there are.

    From four digits up no training has shown any of them. Below that every number is practised: what the
    model says there tells of its memory.
    """
    if not 1 <= digits <= LONGEST:
        raise ValueError(f"digits must be 1 to {LONGEST}, and came as {digits}")
    rng = np.random.default_rng([seed, digits])
    if digits <= ALL_PRACTISED + 1:  # few enough to look at each: small sets would be drawn again and again
        everyone = np.arange(10 ** (digits - 1) if digits > 1 else 0, 10**digits)
        kept = [n for n in everyone.tolist() if digits <= ALL_PRACTISED or is_held_out(n)]
        return tuple(rng.permutation(kept)[:count].tolist())
    drawn: dict[int, None] = {}
    while len(drawn) < count:
        number = _draw(rng, digits)
        if is_held_out(number):
            drawn[number] = None
    return tuple(drawn)
