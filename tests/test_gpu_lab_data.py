"""The lab's task: number words, what is held out, and batches that depend on seed, step and rank alone."""

from __future__ import annotations

import random

import pytest
import torch
from gpu_lab.data import (
    ENGLISH,
    EOS,
    KOREAN,
    LONGEST_SOURCE,
    LONGEST_TARGET,
    PADDING,
    batch,
    english,
    is_held_out,
    korean,
    pairs,
    questions,
)
from num2words import num2words

EDGES = [0, 1, 9, 10, 11, 19, 20, 21, 100, 110, 999, 1000, 1001, 9999, 10**4, 10**4 + 1, 11_000, 10**5, 110_000]
EDGES += [10**6, 10**7, 10**8, 10**8 + 10**4, 10**8 + 1, 10**9, 10**11, 3_412_005, 111_111_111_111, 10**12 - 1]
RNG = random.Random(0)
DRAWN = [RNG.randrange(10**digits) for digits in range(1, 13) for _ in range(50)]


def test_the_number_of_the_text_is_translated_as_the_text_says():
    assert " ".join(english(3_412_005)) == "three million four hundred twelve thousand five"
    assert korean(3_412_005) == "삼백사십일만 이천오"


@pytest.mark.parametrize("number", EDGES)
def test_edges_agree_with_num2words(number):
    agrees_with_num2words(number)


def test_drawn_numbers_agree_with_num2words():
    for number in DRAWN:
        agrees_with_num2words(number)


def agrees_with_num2words(number):
    plain = num2words(number).replace(",", "").replace("-", " ").replace(" and ", " ")
    assert " ".join(english(number)) == plain
    assert korean(number) == num2words(number, lang="ko")


@pytest.mark.parametrize("number", [-1, 10**12])
def test_a_number_outside_the_task_is_refused(number):
    with pytest.raises(ValueError, match=str(number)):
        english(number)
    with pytest.raises(ValueError, match=str(number)):
        korean(number)


def test_what_is_encoded_is_decoded_to_the_same():
    for number in EDGES:
        assert ENGLISH.decode(ENGLISH.encode(english(number))) == english(number)
        assert "".join(KOREAN.decode([*KOREAN.encode(korean(number)), EOS, 7, 7])) == korean(number)


def test_about_one_long_number_in_ten_is_held_out_and_no_short_one():
    assert not any(map(is_held_out, range(1000)))
    for digits in (4, 5, 8, 12):
        rng = random.Random(digits)
        drawn = [rng.randrange(10 ** (digits - 1), 10**digits) for _ in range(5000)]
        assert 0.08 < sum(map(is_held_out, drawn)) / 5000 < 0.12  # 0.1, and five standard deviations


def test_training_shows_no_number_that_is_held_out():
    shown = [number for step in range(200) for number in batch(3, step).numbers]
    assert not any(map(is_held_out, shown))


def test_training_shows_every_length_long_ones_more_often_and_many_zeros():
    shown = [str(number) for step in range(200) for number in batch(3, step).numbers]
    shares = [sum(len(number) == digits for number in shown) / len(shown) for digits in range(1, 13)]
    wanted = [(2 * digits - 1) / 144 for digits in range(1, 13)]  # the larger of two even draws
    assert shares == pytest.approx(wanted, abs=0.02)
    longest = "".join(number[1:] for number in shown if len(number) == 12)
    assert longest.count("0") / len(longest) == pytest.approx(0.75 * 0.1 + 0.25 * 0.55, abs=0.02)


@pytest.mark.parametrize("digits", [4, 5, 8, 12])
def test_questions_are_different_held_out_numbers_of_their_length(digits):
    asked = questions(digits, 300, seed=1)
    assert len(set(asked)) == 300
    assert all(is_held_out(number) and len(str(number)) == digits for number in asked)
    assert set(questions(digits, 300, seed=2)) != set(asked)
    assert questions(digits, 300, seed=1) == asked


def test_questions_with_few_digits_are_all_there_are():
    assert sorted(questions(1, 300, seed=0)) == list(range(10))
    assert sorted(questions(2, 300, seed=0)) == list(range(10, 100))
    assert len(questions(3, 300, seed=0)) == 300
    with pytest.raises(ValueError, match="13"):
        questions(13, 1, seed=0)


def test_a_batch_is_the_same_whenever_it_is_asked_for_and_differs_by_seed_and_step():
    asked = batch(5, 7)
    assert torch.equal(asked.source, batch(5, 7).source)
    assert torch.equal(asked.target, batch(5, 7).target)
    assert asked.numbers != batch(5, 8).numbers
    assert asked.numbers != batch(6, 7).numbers


def test_ranks_share_the_batch_of_one_process():
    whole = batch(5, 7, size=12)
    shares = [batch(5, 7, rank, world=3, size=12) for rank in range(3)]
    for rank, share in enumerate(shares):
        assert torch.equal(share.source, whole.source[rank::3])
        assert torch.equal(share.target, whole.target[rank::3])
        assert share.step_tokens == whole.step_tokens == int((whole.target != PADDING).sum())
    with pytest.raises(ValueError, match="3 processes"):
        batch(5, 7, rank=0, world=3, size=64)


def test_all_batches_have_one_shape_and_the_longest_number_fits_it():
    longest = pairs([10**12 - 1])
    assert longest.source.shape == (1, LONGEST_SOURCE)
    assert longest.target.shape == longest.target_in.shape == (1, LONGEST_TARGET)
    assert batch(0, 0, size=2).source.shape == (2, LONGEST_SOURCE)
    assert max(len(korean(number)) for number in DRAWN) < LONGEST_TARGET
    assert max(len(english(number)) for number in DRAWN) <= LONGEST_SOURCE


def test_the_decoder_hears_the_target_one_step_late():
    both = pairs([7, 3_412_005])
    real = both.target != PADDING
    assert torch.equal(both.target_in[1, 1:], both.target[1, :-1])
    assert both.target[1, real[1]][-1] == EOS
    assert torch.equal(both.target_in != PADDING, real)
