"""What people really answer in chapter 5, and what they need to hear."""

import numpy as np

from autograder.misconceptions import probe, right, wrong
from autograder.probes import Draws, Mixing

# ---------------------------------------------------------------------------------------------
# causal_mask. A square, more keys than queries, and what is refused: fewer keys, no keys.
probe("causal_mask", 4)
probe("causal_mask", 3, 5)
probe("causal_mask", 3, S=3)
probe("causal_mask", 5, 3, naming=(5, 3))
probe("causal_mask", 2, 0, naming=(2, 0))


@wrong(
    "causal_mask",
    "Your queries cannot see their own place. A query may see itself: only what comes after it is hidden.",
    "Compare the key's place with the query's by ≤ and not by <.",
)
def triangle_without_the_diagonal(L, S=None):
    S = L if S is None else S
    if S < L:
        raise ValueError(f"{L} queries, {S} keys")
    return np.tri(L, S, S - L - 1, dtype=bool)


@wrong(
    "causal_mask",
    "Every query sees one step ahead. The first step after a query is the very thing it has to predict.",
    "Your triangle is one diagonal too large.",
)
def triangle_one_step_too_large(L, S=None):
    S = L if S is None else S
    if S < L:
        raise ValueError(f"{L} queries, {S} keys")
    return np.tri(L, S, S - L + 1, dtype=bool)


@wrong(
    "causal_mask",
    "You let the queries see the future and hide the past: that is the upper triangle. Rows are queries, columns are keys.",
)
def upper_triangle_for_the_lower(L, S=None):
    S = L if S is None else S
    if S < L:
        raise ValueError(f"{L} queries, {S} keys")
    return np.triu(np.ones((L, S), dtype=bool), S - L)


@wrong(
    "causal_mask",
    "True and False are the wrong way round: in this course True means 'may attend'.",
    "You mark what is to be hidden. torch.nn.MultiheadAttention wants it so; this course does not.",
)
def mask_that_marks_the_hidden(L, S=None):
    S = L if S is None else S
    if S < L:
        raise ValueError(f"{L} queries, {S} keys")
    return np.triu(np.ones((L, S), dtype=bool), S - L + 1)


@wrong(
    "causal_mask",
    "With more keys than queries the triangle sits in the top left corner, so the last query misses the newest keys. The queries are the last of the steps.",
    "The last row should be True everywhere. By how much do you have to shift the triangle?",
)
def triangle_in_the_top_left_corner(L, S=None):
    S = L if S is None else S
    if S < L:
        raise ValueError(f"{L} queries, {S} keys")
    return np.tri(L, S, dtype=bool)


@wrong(
    "causal_mask",
    "With more keys than queries the triangle is shifted the wrong way: there the queries see less than they should, not more.",
)
def triangle_shifted_the_wrong_way(L, S=None):
    S = L if S is None else S
    if S < L:
        raise ValueError(f"{L} queries, {S} keys")
    return np.tri(L, S, L - S, dtype=bool)


@wrong(
    "causal_mask",
    "The places are right, but your mask holds the numbers 0.0 and 1.0. Operators like ~ and & need bools.",
)
def triangle_of_floats(L, S=None):
    S = L if S is None else S
    if S < L:
        raise ValueError(f"{L} queries, {S} keys")
    return np.tril(np.ones((L, S)), S - L)


@wrong(
    "causal_mask",
    "The places are right, but your mask holds whole numbers. Used as an index, 0 and 1 would mean places and not no and yes.",
)
def triangle_of_whole_numbers(L, S=None):
    S = L if S is None else S
    if S < L:
        raise ValueError(f"{L} queries, {S} keys")
    return np.tri(L, S, S - L, dtype=int)


@wrong(
    "causal_mask",
    "You return the numbers 0 and −∞, to be added to the scores. That is another use of the word mask: here True and False are asked for.",
)
def mask_to_be_added(L, S=None):
    S = L if S is None else S
    if S < L:
        raise ValueError(f"{L} queries, {S} keys")
    return np.where(np.tri(L, S, S - L, dtype=bool), 0.0, -np.inf)


@wrong(
    "causal_mask",
    "More queries than keys go through without an error. L queries cannot be the last of fewer than L steps.",
)
def more_queries_than_keys_accepted(L, S=None):
    S = L if S is None else S
    return np.tri(L, S, S - L, dtype=bool)


@wrong(
    "causal_mask",
    "S = 0 is taken for 'S was left out'. 0 counts as false in Python: ask whether S is None.",
)
def no_keys_taken_for_no_argument(L, S=None):
    S = S or L
    if S < L:
        raise ValueError(f"{L} queries, {S} keys")
    return np.tri(L, S, S - L, dtype=bool)


@wrong(
    "causal_mask",
    "Two things: S = 0 is taken for 'S was left out', for 0 counts as false in Python; and with more keys than queries the triangle sits in the top left corner.",
)
def top_left_corner_and_no_keys_taken_for_no_argument(L, S=None):
    S = S or L
    if S < L:
        raise ValueError(f"{L} queries, {S} keys")
    return np.tri(L, S, dtype=bool)


@wrong(
    "causal_mask",
    "More queries than keys give a smaller mask and no error: a slice takes what is there. L queries cannot be the last of fewer than L steps.",
)
def rows_sliced_without_a_check(L, S=None):
    S = L if S is None else S
    return np.tri(S, dtype=bool)[max(S - L, 0) :]


@wrong("causal_mask", "The axes are swapped: queries are the rows, keys are the columns, so the shape is (L, S).")
def mask_with_keys_as_rows(L, S=None):
    S = L if S is None else S
    if S < L:
        raise ValueError(f"{L} queries, {S} keys")
    return np.tri(L, S, S - L, dtype=bool).T


@wrong("causal_mask", "You raise ValueError, but its message does not say which L and which S did not fit.")
def too_many_queries_without_the_numbers(L, S=None):
    S = L if S is None else S
    if S < L:
        raise ValueError("there must be at least as many keys as queries")
    return np.tri(L, S, S - L, dtype=bool)


@wrong(
    "causal_mask",
    "An assert gives an AssertionError, and vanishes when Python runs with -O. A wrong argument wants a ValueError.",
)
def too_many_queries_by_assert(L, S=None):
    S = L if S is None else S
    assert S >= L, f"{L} queries, {S} keys"
    return np.tri(L, S, S - L, dtype=bool)


@wrong("causal_mask", "As many keys as queries is refused when S is given. Only S below L is wrong.")
def square_masks_refused(L, S=None):
    if S is None:
        S = L
    elif S <= L:
        raise ValueError(f"{L} queries, {S} keys")
    return np.tri(L, S, S - L, dtype=bool)


@right("causal_mask")
def causal_with_tril(L, S=None):
    S = L if S is None else S
    if S < L:
        raise ValueError(f"S = {S} is smaller than L = {L}")
    return np.tril(np.ones((L, S), dtype=bool), k=S - L)


@right("causal_mask")
def causal_with_two_loops(L, S=None):
    if S is None:
        S = L
    if L > S:
        raise ValueError(f"causal_mask: L={L}, S={S}, but S must not be below L")
    mask = np.zeros((L, S), dtype=bool)
    for i in range(L):
        for j in range(S):
            if j - (S - L) <= i:
                mask[i, j] = True
    return mask


@right("causal_mask")
def causal_as_the_last_rows_of_a_square(L, S=None):
    S = L if S is None else S
    if S < L:
        raise ValueError(f"cannot take the last {L} rows of {S}")
    return np.logical_not(np.triu(np.ones((S, S)), k=1))[S - L :]


@right("causal_mask")
def causal_with_torch(L, S=None):
    import torch

    S = L if S is None else S
    if S < L:
        raise ValueError(f"{L} > {S}")
    return torch.ones(L, S, dtype=torch.bool).tril(S - L).numpy()


# ---------------------------------------------------------------------------------------------
# padding_mask. All sizes differ; a full and an empty sentence; what is refused, above and below.
probe("padding_mask", np.array([2, 4, 1]), 5)
probe("padding_mask", np.array([3, 5]), 5)
probe("padding_mask", np.array([0, 2]), 4)
probe("padding_mask", np.array([3, 9]), 6, naming=(9, 6))
probe("padding_mask", np.array([3, -2]), 6, naming=(-2, 6))


@wrong(
    "padding_mask",
    "True marks your padding. In this course True means 'may attend', so it belongs to the real steps.",
    "torch.nn.MultiheadAttention calls its argument key_padding_mask and marks the padding. Here it is the other way round.",
)
def padding_marked_instead_of_words(lengths, T):
    for length in lengths:
        if length < 0 or length > T:
            raise ValueError(f"length {length}, T {T}")
    return np.arange(T)[None, :] >= lengths[:, None]


@wrong(
    "padding_mask",
    "One step too many is real in each sentence. Steps are counted from 0, so a sentence of length 2 ends with step 1.",
)
def one_padded_step_too_many(lengths, T):
    for length in lengths:
        if length < 0 or length > T:
            raise ValueError(f"length {length}, T {T}")
    return np.arange(T)[None, :] <= lengths[:, None]


@wrong("padding_mask", "The last word of each sentence is hidden. A sentence of length 2 has the steps 0 and 1.")
def the_last_word_hidden(lengths, T):
    for length in lengths:
        if length < 0 or length > T:
            raise ValueError(f"length {length}, T {T}")
    return np.arange(T)[None, :] < lengths[:, None] - 1


@wrong("padding_mask", "A length of 0 is refused. An empty sentence is allowed here: its row is False everywhere.")
def empty_sentences_refused(lengths, T):
    for length in lengths:
        if length < 1 or length > T:
            raise ValueError(f"length {length}, T {T}")
    return np.arange(T)[None, :] < lengths[:, None]


@wrong("padding_mask", "A sentence that fills all T steps is refused. Only a length above T is wrong.")
def full_sentences_refused(lengths, T):
    for length in lengths:
        if length < 0 or length >= T:
            raise ValueError(f"length {length}, T {T}")
    return np.arange(T)[None, :] < lengths[:, None]


@wrong(
    "padding_mask", "A negative length goes through as if it were 0. It can only be a mistake, and should be an error."
)
def negative_lengths_accepted(lengths, T):
    for length in lengths:
        if length > T:
            raise ValueError(f"length {length}, T {T}")
    return np.arange(T)[None, :] < lengths[:, None]


@wrong(
    "padding_mask",
    "A length above T goes through as if it were T. Words got lost somewhere: that should be an error.",
)
def lengths_above_T_accepted(lengths, T):
    for length in lengths:
        if length < 0:
            raise ValueError(f"length {length}, T {T}")
    return np.arange(T)[None, :] < lengths[:, None]


@wrong("padding_mask", "Lengths are not checked: below 0 and above T they should raise a ValueError.")
def lengths_not_checked(lengths, T):
    return np.arange(T)[None, :] < np.asarray(lengths)[:, None]


@wrong("padding_mask", "You raise ValueError, but its message does not say which length did not fit, and into which T.")
def wrong_lengths_without_the_numbers(lengths, T):
    if np.any(lengths < 0) or np.any(lengths > T):
        raise ValueError("a length is out of range")
    return np.arange(T)[None, :] < lengths[:, None]


@wrong(
    "padding_mask",
    "An assert gives an AssertionError, and vanishes when Python runs with -O. A wrong argument wants a ValueError.",
)
def wrong_lengths_by_assert(lengths, T):
    for length in lengths:
        assert 0 <= length <= T, f"length {length}, T {T}"
    return np.arange(T)[None, :] < lengths[:, None]


@wrong(
    "padding_mask",
    "The places are right, but your mask holds the numbers 0.0 and 1.0. Operators like ~ and & need bools.",
)
def padding_mask_of_floats(lengths, T):
    mask = np.zeros((len(lengths), T))
    for n, length in enumerate(lengths):
        if length < 0 or length > T:
            raise ValueError(f"length {length}, T {T}")
        mask[n, :length] = 1
    return mask


@wrong(
    "padding_mask",
    "The places are right, but your mask holds whole numbers. Used as an index, 0 and 1 would mean places and not no and yes.",
)
def padding_mask_of_whole_numbers(lengths, T):
    for length in lengths:
        if length < 0 or length > T:
            raise ValueError(f"length {length}, T {T}")
    return np.array([[1] * int(length) + [0] * int(T - length) for length in lengths])


@wrong("padding_mask", "The axes are swapped: sentences are the rows, steps are the columns, so the shape is (N, T).")
def mask_with_steps_as_rows(lengths, T):
    for length in lengths:
        if length < 0 or length > T:
            raise ValueError(f"length {length}, T {T}")
    return np.arange(T)[:, None] < lengths[None, :]


@wrong("padding_mask", "Your padding stands in front of the words. Here it stands behind them.")
def padding_in_front(lengths, T):
    for length in lengths:
        if length < 0 or length > T:
            raise ValueError(f"length {length}, T {T}")
    return np.arange(T)[None, :] >= T - lengths[:, None]


@wrong(
    "padding_mask",
    "Only the last word of each sentence is True. That picks a state, as in chapter 1; here all real steps count.",
)
def only_the_last_word(lengths, T):
    for length in lengths:
        if length < 0 or length > T:
            raise ValueError(f"length {length}, T {T}")
    return np.arange(T)[None, :] == lengths[:, None] - 1


@wrong(
    "padding_mask",
    "Your mask is as wide as the longest sentence. The batch has T steps, also when no sentence fills them.",
)
def as_wide_as_the_longest_sentence(lengths, T):
    for length in lengths:
        if length < 0 or length > T:
            raise ValueError(f"length {length}, T {T}")
    return np.arange(max(lengths))[None, :] < lengths[:, None]


@right("padding_mask")
def padding_with_slices(lengths, T):
    mask = np.zeros((len(lengths), T), dtype=bool)
    for n, length in enumerate(lengths):
        if length < 0 or length > T:
            raise ValueError(f"sentence {n} has length {length}, but T = {T}")
        mask[n, :length] = True
    return mask


@right("padding_mask")
def padding_with_nested_lists(lengths, T):
    wrong_ones = [int(n) for n in lengths if n < 0 or n > T]
    if wrong_ones:
        raise ValueError(f"lengths {wrong_ones} do not lie between 0 and {T}")
    return np.array([[t < n for t in range(T)] for n in lengths])


@right("padding_mask")
def padding_with_a_check_of_all(lengths, T):
    if np.min(lengths) < 0 or np.max(lengths) > T:
        raise ValueError(f"lengths {lengths} with T={T}")
    return np.less(np.arange(T), np.reshape(lengths, (-1, 1)))


@right("padding_mask")
def padding_with_torch(lengths, T):
    import torch

    n = torch.tensor(np.array(lengths))
    bad = n[(n < 0) | (n > T)].tolist()
    if bad:
        raise ValueError(f"{bad} with T {T}")
    return (torch.arange(T)[None, :] < n[:, None]).numpy()


# ---------------------------------------------------------------------------------------------
# masked_softmax. Two masks of full shape, one that broadcasts, a row without anything to see,
# large hidden scores, large and small visible ones.
probe(
    "masked_softmax",
    np.array([[0.5, -1.0, 2.0, 1.5], [1.0, 0.25, -0.5, 3.0]]),
    np.array([[True, True, False, True], [False, True, True, False]]),
)
probe(
    "masked_softmax",
    np.array([[[0.3, -0.7, 1.1], [1.6, 0.2, -0.4]], [[-0.9, 0.8, 0.6], [0.1, 2.0, -1.2]]]),
    np.array([[[True, False, True]], [[True, True, False]]]),
)
probe(
    "masked_softmax",
    np.array([[0.5, -1.0, 2.0], [1.0, 0.25, -0.5]]),
    np.array([[False, False, False], [True, False, True]]),
)
probe(
    "masked_softmax",
    np.array([[10_000.0, 1.0, 2.0], [0.0, -10_000.0, -9_999.0]]),
    np.array([[False, True, True], [False, True, True]]),
)
probe(
    "masked_softmax",
    np.array([[1_000.0, 1_002.0, 999.0], [800.0, -800.0, 801.0]]),
    np.array([[True, True, False], [True, True, True]]),
)


@wrong(
    "masked_softmax",
    "You set hidden scores to 0 before the softmax. 0 is a score like any other: exp(0) is 1, and the place gets a weight.",
    "Which score does exp turn into exactly 0?",
)
def hidden_scores_set_to_zero(scores, mask):
    s = scores * mask
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@wrong(
    "masked_softmax",
    "You set hidden weights to 0 after the softmax. What they had is missing now: the visible weights no longer sum to 1.",
    "The hidden scores also stood in the sum that you divided by.",
)
def hidden_weights_set_to_zero(scores, mask):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) * mask


@wrong(
    "masked_softmax",
    "A row with nothing to see becomes NaN: −∞ minus −∞ is not a number. Such a row should be all zeros.",
    "Two things fail in a row of −∞: its largest score is −∞, and its sum is 0. Give each another value there.",
)
def a_hidden_row_becomes_nan(scores, mask):
    s = np.where(mask, scores, -np.inf)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@wrong(
    "masked_softmax",
    "NumPy warns: in a row with nothing to see you compute −∞ − (−∞) or 0 / 0 and repair it afterwards.",
    "Avoid the NaN instead of replacing it.",
)
def nan_repaired_after_the_warning(scores, mask):
    s = np.where(mask, scores, -np.inf)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return np.nan_to_num(e / e.sum(axis=-1, keepdims=True))


@wrong(
    "masked_softmax",
    "Visible places become NaN: 0 times −∞ is not a number. Choose between a score and −∞, and do not multiply by −∞.",
    "np.where(condition, a, b) takes from a or from b, and computes nothing with them.",
)
def minus_infinity_times_zero(scores, mask):
    s = scores + (1 - mask) * -np.inf
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@wrong(
    "masked_softmax",
    "Visible places become NaN on the way, for 0 times −∞ is not a number, and the repair makes zeros of them. Choose between a score and −∞.",
)
def minus_infinity_times_zero_repaired(scores, mask):
    s = scores + (1 - mask) * -np.inf
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return np.nan_to_num(e / e.sum(axis=-1, keepdims=True))


@wrong(
    "masked_softmax",
    "A row with nothing to see gets equal weights: when all scores are the same large negative number, the softmax cannot tell. Such a row should be all zeros.",
)
def minus_a_billion_makes_a_hidden_row_uniform(scores, mask):
    s = np.where(mask, scores, -1e9)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@wrong(
    "masked_softmax",
    "A row with nothing to see gets the weights of an ordinary softmax, as if nothing were hidden. Such a row should be all zeros.",
    "The same number added to every score of a row changes none of its weights.",
)
def minus_a_billion_added_everywhere_in_a_hidden_row(scores, mask):
    s = scores + np.where(mask, 0.0, -1e9)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@wrong(
    "masked_softmax",
    "Your large negative number is not large enough: with visible scores of −10,000 the hidden places get weight. −∞ is below every score.",
)
def a_negative_number_that_is_not_large_enough(scores, mask):
    s = np.where(mask, scores, -1e4)
    e = np.exp(s - s.max(axis=-1, keepdims=True)) * mask.any(axis=-1, keepdims=True)
    return e / np.maximum(e.sum(axis=-1, keepdims=True), 1e-300)


@wrong(
    "masked_softmax",
    "You hide what is visible and show what is hidden: in this course True means 'may attend'.",
)
def mask_the_wrong_way_round(scores, mask):
    s = np.where(mask, -np.inf, scores)
    top = s.max(axis=-1, keepdims=True)
    e = np.exp(s - np.where(np.isfinite(top), top, 0.0))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1.0, total)


@wrong(
    "masked_softmax",
    "Your mask works only when it has the shape of the scores. A mask of one row for all queries should do too: let it broadcast.",
    "np.where broadcasts its three arguments. An index does not.",
)
def mask_as_an_index(scores, mask):
    s = np.array(scores)
    s[~mask] = -np.inf
    top = s.max(axis=-1, keepdims=True)
    e = np.exp(s - np.where(np.isfinite(top), top, 0.0))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1.0, total)


@wrong(
    "masked_softmax",
    "Two things: your mask works only when it has the shape of the scores, for an index does not broadcast; and a row with nothing to see becomes NaN.",
    "np.where broadcasts its three arguments.",
)
def mask_as_an_index_and_nan_for_nothing(scores, mask):
    s = np.array(scores)
    s[~mask] = -np.inf
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@wrong(
    "masked_softmax",
    "scores has changed: you write into the array that you were given. Work on a new one.",
)
def minus_infinity_written_into_the_scores(scores, mask):
    np.copyto(scores, -np.inf, where=~mask)
    top = scores.max(axis=-1, keepdims=True)
    e = np.exp(scores - np.where(np.isfinite(top), top, 0.0))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1.0, total)


@wrong(
    "masked_softmax",
    "A large hidden score wipes out the visible ones: you subtract the largest of all scores, and exp of the others becomes 0.",
    "The number that you subtract should be the largest among the visible scores.",
)
def the_largest_score_is_a_hidden_one(scores, mask):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True)) * mask
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1.0, total)


@wrong(
    "masked_softmax",
    "Large scores overflow: exp of 1000 is more than a float can hold. Subtract the largest visible score first.",
)
def exponentials_that_overflow(scores, mask):
    e = np.exp(np.where(mask, scores, -np.inf))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1.0, total)


@wrong(
    "masked_softmax",
    "The softmax runs over the wrong axis: the weights of one query, in a row, should sum to 1.",
)
def softmax_down_the_columns(scores, mask):
    s = np.where(mask, scores, -np.inf)
    top = s.max(axis=-2, keepdims=True)
    e = np.exp(s - np.where(np.isfinite(top), top, 0.0))
    total = e.sum(axis=-2, keepdims=True)
    return e / np.where(total == 0, 1.0, total)


@wrong(
    "masked_softmax",
    "Hidden places hold −∞ in your result. −∞ belongs to the scores, before the softmax; a hidden weight is 0.",
)
def weights_of_minus_infinity(scores, mask):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.where(mask, e / e.sum(axis=-1, keepdims=True), -np.inf)


@wrong(
    "masked_softmax",
    "The visible exponentials are not divided by their sum: the weights of a row should sum to 1.",
)
def never_divided_by_the_sum(scores, mask):
    s = np.where(mask, scores, -np.inf)
    top = s.max(axis=-1, keepdims=True)
    return np.exp(s - np.where(np.isfinite(top), top, 0.0))


@right("masked_softmax")
def softmax_row_by_row_over_the_visible(scores, mask):
    mask = np.broadcast_to(mask, scores.shape)
    weights = np.zeros(scores.shape)
    for row in np.ndindex(scores.shape[:-1]):
        seen = mask[row]
        if seen.any():
            e = np.exp(scores[row][seen] - scores[row][seen].max())
            weights[row][seen] = e / e.sum()
    return weights


@right("masked_softmax")
def softmax_with_a_quiet_nan(scores, mask):
    s = np.where(mask, scores, -np.inf)
    with np.errstate(invalid="ignore"):
        e = np.exp(s - s.max(axis=-1, keepdims=True))
        a = e / e.sum(axis=-1, keepdims=True)
    return np.where(np.any(mask, axis=-1, keepdims=True) & mask, a, 0.0)


@right("masked_softmax")
def softmax_with_a_finite_number_and_zeros(scores, mask):
    s = np.where(mask, scores, -1e9)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) * mask


@right("masked_softmax")
def softmax_with_a_tiny_number_in_the_sum(scores, mask):
    top = np.max(scores, axis=-1, keepdims=True, where=np.broadcast_to(mask, scores.shape), initial=-1e30)
    e = np.where(mask, np.exp(np.where(mask, scores - top, 0.0)), 0.0)
    return e / (e.sum(axis=-1, keepdims=True) + 1e-12)


@right("masked_softmax")
def softmax_with_torch(scores, mask):
    import torch

    s, m = torch.tensor(np.array(scores)), torch.tensor(np.array(mask))
    return torch.softmax(s.masked_fill(~m, -torch.inf), dim=-1).nan_to_num().numpy()


# ---------------------------------------------------------------------------------------------
# masked_attention. No mask; a mask of full shape; one for each sentence; a query that sees
# nothing; a large hidden score.
probe(
    "masked_attention",
    np.array([[0.5, -1.0, 0.8, 0.3], [1.5, 0.25, -0.5, 1.2]]),
    np.array([[1.0, 0.6, -0.5, 0.7], [0.3, -0.7, 1.1, -0.2], [-0.4, 0.2, 1.4, 0.9]]),
    np.array([[0.9, -0.3, 2.0, 0.4, 1.1], [1.3, 0.8, -0.6, 0.2, -1.4], [-0.7, 1.6, 0.1, 0.5, 0.3]]),
)
probe(
    "masked_attention",
    np.array([[0.5, -1.0, 0.8, 0.3], [1.5, 0.25, -0.5, 1.2]]),
    np.array([[1.0, 0.6, -0.5, 0.7], [0.3, -0.7, 1.1, -0.2], [-0.4, 0.2, 1.4, 0.9]]),
    np.array([[0.9, -0.3, 2.0, 0.4, 1.1], [1.3, 0.8, -0.6, 0.2, -1.4], [-0.7, 1.6, 0.1, 0.5, 0.3]]),
    np.array([[True, False, True], [True, True, False]]),
)
probe(
    "masked_attention",
    np.array([[[0.5, -1.0], [1.5, 0.25], [0.4, 0.9]], [[-0.9, 1.0], [0.1, 0.9], [0.7, -1.1]]]),
    np.array([[[1.0, 0.6], [0.3, -0.7], [-0.4, 0.2], [1.2, 0.5]], [[0.8, -0.5], [-1.3, 0.4], [0.6, 0.6], [0.2, -0.9]]]),
    np.array([[[0.9], [-1.3], [0.7], [0.5]], [[1.1], [0.2], [-0.4], [2.0]]]),
    np.array([[[True, True, True, False]], [[True, True, False, False]]]),
)
probe(
    "masked_attention",
    np.array([[0.5, -1.0, 0.8], [1.5, 0.25, -0.5]]),
    np.array([[1.0, 0.6, -0.5], [0.3, -0.7, 1.1], [-0.4, 0.2, 1.4], [0.9, -1.2, 0.1]]),
    np.array([[0.9, -0.3], [1.3, 0.8], [-0.7, 1.6], [0.4, 0.2]]),
    np.array([[False, False, False, False], [True, False, True, True]]),
)
probe(
    "masked_attention",
    np.array([[100.0, 1.0]]),
    np.array([[90.0, 0.0], [-90.0, 2.0], [-90.0, 3.0]]),
    np.array([[9.0], [1.0], [2.0]]),
    np.array([[False, True, True]]),
)


@wrong(
    "masked_attention",
    "The scores are not divided by √d_k. The attention of chapter 4 scales them, and so does this one.",
)
def attention_not_scaled(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2)
    a = softmax(s) if mask is None else masked_softmax(s, mask)
    return a @ V, a


@wrong("masked_attention", "The scores are divided by d_k. It is its square root that keeps their size.")
def attention_divided_by_d_k(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / K.shape[-1]
    a = softmax(s) if mask is None else masked_softmax(s, mask)
    return a @ V, a


@wrong("masked_attention", "The scores are scaled by the number of keys. d_k is the size of one key: the last axis.")
def attention_scaled_by_the_number_of_keys(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-2])
    a = softmax(s) if mask is None else masked_softmax(s, mask)
    return a @ V, a


@wrong("masked_attention", "Your answer takes no notice of the mask: hidden keys get weight.")
def attention_without_the_mask(Q, K, V, mask=None):
    a = softmax(scaled_scores(Q, K))
    return a @ V, a


@wrong("masked_attention", "You hide what is visible and show what is hidden: in this course True means 'may attend'.")
def attention_with_the_mask_the_wrong_way_round(Q, K, V, mask=None):
    s = scaled_scores(Q, K)
    a = softmax(s) if mask is None else masked_softmax(s, ~mask)
    return a @ V, a


@wrong(
    "masked_attention",
    "You ask whether a mask is true, with `or` or `if`. An array of many bools is neither true nor false: ask whether it is None.",
)
def attention_with_mask_or_true(Q, K, V, mask=None):
    a = masked_softmax(scaled_scores(Q, K), np.array(mask or True))
    return a @ V, a


@wrong("masked_attention", "mask=None is not taken care of. Without a mask everything may be seen.")
def attention_that_needs_a_mask(Q, K, V, mask=None):
    a = masked_softmax(scaled_scores(Q, K), mask)
    return a @ V, a


@wrong(
    "masked_attention", "Without a mask you make a causal one. None means that everything may be seen, the future too."
)
def attention_causal_when_none_is_given(Q, K, V, mask=None):
    if mask is None:
        mask = np.tri(Q.shape[-2], K.shape[-2], K.shape[-2] - Q.shape[-2], dtype=bool)
    a = masked_softmax(scaled_scores(Q, K), mask)
    return a @ V, a


@wrong(
    "masked_attention",
    "A query with nothing to see gets NaN, and its output too. Both should be 0.",
    "Your own masked_softmax knows what to do with such a row.",
)
def attention_with_nan_for_nothing(Q, K, V, mask=None):
    s = scaled_scores(Q, K)
    if mask is not None:
        s = np.where(mask, s, -np.inf)
    a = softmax(s)
    return a @ V, a


@wrong(
    "masked_attention",
    "A query with nothing to see gets the mean of all values: equal scores of −10⁹ give equal weights. Weights and output should be 0.",
)
def attention_with_a_mean_for_nothing(Q, K, V, mask=None):
    s = scaled_scores(Q, K)
    if mask is not None:
        s = np.where(mask, s, -1e9)
    a = softmax(s)
    return a @ V, a


@wrong(
    "masked_attention",
    "A query with nothing to see gets the right output, but its weights are still there. They should be 0 as well.",
)
def attention_with_the_output_mended_alone(Q, K, V, mask=None):
    s = scaled_scores(Q, K)
    if mask is None:
        a = softmax(s)
        return a @ V, a
    a = softmax(np.where(mask, s, -1e9))
    return np.where(np.any(mask, axis=-1)[..., None], a @ V, 0.0), a


@wrong(
    "masked_attention",
    "NumPy warns: for a query with nothing to see you compute NaN first and replace it afterwards.",
)
def attention_repaired_after_the_warning(Q, K, V, mask=None):
    s = scaled_scores(Q, K)
    if mask is not None:
        s = np.where(mask, s, -np.inf)
    a = np.nan_to_num(softmax(s))
    return a @ V, a


@wrong(
    "masked_attention",
    "Visible keys become NaN: 0 times −∞ is not a number. Choose between a score and −∞, and do not multiply by −∞.",
)
def attention_with_minus_infinity_times_zero(Q, K, V, mask=None):
    s = scaled_scores(Q, K)
    a = softmax(s if mask is None else s + (1 - mask) * -np.inf)
    return a @ V, a


@wrong(
    "masked_attention",
    "You set hidden scores to 0 before the softmax. exp(0) is 1: the hidden keys get weight.",
)
def attention_with_hidden_scores_of_zero(Q, K, V, mask=None):
    s = scaled_scores(Q, K)
    a = softmax(s if mask is None else s * mask)
    return a @ V, a


@wrong(
    "masked_attention",
    "You set hidden weights to 0 after the softmax: the visible ones no longer sum to 1, and what is hidden still decides how large they are.",
)
def attention_with_hidden_weights_of_zero(Q, K, V, mask=None):
    a = softmax(scaled_scores(Q, K))
    if mask is not None:
        a = a * mask
    return a @ V, a


@wrong(
    "masked_attention",
    "A large hidden score wipes out the visible ones: mask first, and subtract the largest visible score then.",
)
def attention_renormalised_after_the_softmax(Q, K, V, mask=None):
    a = softmax(scaled_scores(Q, K))
    if mask is not None:
        a = a * mask
        total = a.sum(axis=-1, keepdims=True)
        a = a / np.where(total == 0, 1.0, total)
    return a @ V, a


@wrong(
    "masked_attention",
    "You add an axis to every mask. A mask of shape (L, S) has an axis for the queries already, and broadcasts as it comes.",
)
def attention_with_an_axis_added_to_the_mask(Q, K, V, mask=None):
    s = scaled_scores(Q, K)
    a = softmax(s) if mask is None else masked_softmax(s, mask[:, None, :])
    return a @ V, a


@wrong(
    "masked_attention",
    "You hide the values and leave the weights as they are. The weight of a hidden key belongs to the visible ones.",
)
def attention_with_hidden_values_of_zero(Q, K, V, mask=None):
    a = softmax(scaled_scores(Q, K))
    if mask is None:
        return a @ V, a
    return np.where(mask, a, 0.0) @ V, a


@wrong("masked_attention", "You return the output alone. The weights are asked for too: people look at them.")
def attention_without_its_weights(Q, K, V, mask=None):
    s = scaled_scores(Q, K)
    a = softmax(s) if mask is None else masked_softmax(s, mask)
    return a @ V


@wrong("masked_attention", "The two results have changed places: the output comes first, the weights second.")
def attention_with_the_weights_first(Q, K, V, mask=None):
    s = scaled_scores(Q, K)
    a = softmax(s) if mask is None else masked_softmax(s, mask)
    return a, a @ V


@wrong(
    "masked_attention", "The softmax runs over the queries. The weights of one query, over the keys, should sum to 1."
)
def attention_with_softmax_over_the_queries(Q, K, V, mask=None):
    s = scaled_scores(Q, K)
    s = s if mask is None else np.where(mask, s, -1e30)
    a = softmax(s, axis=-2)
    a = a if mask is None else np.where(mask, a, 0.0)
    return a @ V, a


@wrong(
    "masked_attention",
    "K.T turns all axes around, the batch included. Only the last two axes of K change places.",
)
def attention_that_turns_the_batch_around(Q, K, V, mask=None):
    s = Q @ K.T / np.sqrt(K.shape[-1])
    a = softmax(s) if mask is None else masked_softmax(s, mask)
    return a @ V, a


@wrong("masked_attention", "Q has changed: your answer writes into the array that it was given.")
def attention_that_scales_q_in_place(Q, K, V, mask=None):
    Q /= np.sqrt(K.shape[-1])
    s = Q @ np.swapaxes(K, -1, -2)
    a = softmax(s) if mask is None else masked_softmax(s, mask)
    return a @ V, a


@right("masked_attention")
def attention_with_a_mask_of_true(Q, K, V, mask=None):
    s = scaled_scores(Q, K)
    a = masked_softmax(s, np.ones(s.shape, dtype=bool) if mask is None else mask)
    return np.einsum("...ls,...sd->...ld", a, V), a


@right("masked_attention")
def attention_that_needs_no_other_answer(Q, K, V, mask=None):
    s = np.einsum("...ld,...sd->...ls", Q, K) / K.shape[-1] ** 0.5
    visible = np.broadcast_to(True if mask is None else mask, s.shape)
    top = np.max(s, axis=-1, keepdims=True, where=visible, initial=-1e30)
    e = np.exp(np.where(visible, s - top, 0.0)) * visible
    a = e / np.maximum(e.sum(axis=-1, keepdims=True), 1e-30)
    return np.matmul(a, V), a


@right("masked_attention")
def attention_query_by_query(Q, K, V, mask=None):
    *batch, L, d_k = Q.shape
    S = K.shape[-2]
    visible = np.broadcast_to(True if mask is None else mask, (*batch, L, S))
    out, a = np.zeros((*batch, L, V.shape[-1])), np.zeros((*batch, L, S))
    for place in np.ndindex(*batch, L):
        seen = np.flatnonzero(visible[place])
        if seen.size == 0:
            continue
        s = K[place[:-1]][seen] @ Q[place] / np.sqrt(d_k)
        e = np.exp(s - s.max())
        a[place][seen] = e / e.sum()
        out[place] = a[place] @ V[place[:-1]]
    return [out, a]


@right("masked_attention")
def attention_with_torch(Q, K, V, mask=None):
    import torch

    q, k, v = (torch.tensor(np.array(x)) for x in (Q, K, V))
    s = q @ k.mT / k.shape[-1] ** 0.5
    if mask is not None:
        s = s.masked_fill(~torch.tensor(np.array(mask)), -torch.inf)
    a = torch.softmax(s, dim=-1).nan_to_num()
    return (a @ v).numpy(), a.numpy()


# ---------------------------------------------------------------------------------------------
# dropout. Some weights in a table, twice; evaluation; p = 0; what is refused, training or not.
probe("dropout", np.array([[0.1, 0.2, 0.7], [0.5, 0.3, 0.2], [0.6, 0.1, 0.3], [0.25, 0.25, 0.5]]), 0.4, Draws(8))
probe("dropout", np.array([0.3, 0.1, 0.2, 0.15, 0.25]), 0.25, Draws(0))
probe("dropout", np.array([[0.1, 0.9], [0.7, 0.3]]), 0.4, Draws(3), training=False)
probe("dropout", np.array([[0.2, 0.8], [0.6, 0.4]]), 0, Draws(4))
probe("dropout", np.array([0.5, 0.5]), -0.5, Draws(5), naming=(-0.5,))
probe("dropout", np.array([0.5, 0.5]), 1.5, Draws(5), naming=(1.5,))
probe("dropout", np.array([0.5, 0.5]), 1.0, Draws(5))
probe("dropout", np.array([0.5, 0.5]), 1.5, Draws(5), training=False, naming=(1.5,))


@wrong(
    "dropout",
    "What is kept is not enlarged, so that the average shrinks by 1 − p. Make up for what is dropped.",
    "If a quarter is dropped, three quarters are left. By what must they be divided?",
)
def dropout_not_rescaled(a, p, rng, training=True):
    if not 0 <= p < 1:
        raise ValueError(f"p = {p}")
    if not training or p == 0:
        return a
    return a * (rng.random(a.shape) >= p)


@wrong("dropout", "What is kept is made smaller: you multiply by 1 − p. It has to become larger.")
def dropout_rescaled_the_wrong_way(a, p, rng, training=True):
    if not 0 <= p < 1:
        raise ValueError(f"p = {p}")
    if not training or p == 0:
        return a
    return a * (rng.random(a.shape) >= p) * (1 - p)


@wrong("dropout", "You divide by p, the share that is dropped. The share that is kept is 1 − p.")
def dropout_divided_by_p(a, p, rng, training=True):
    if not 0 <= p < 1:
        raise ValueError(f"p = {p}")
    if not training or p == 0:
        return a
    return a * (rng.random(a.shape) >= p) / p


@wrong(
    "dropout",
    "In evaluation you drop weights too: the same input would give another output each time. With training=False nothing happens.",
)
def dropout_left_on_in_evaluation(a, p, rng, training=True):
    if not 0 <= p < 1:
        raise ValueError(f"p = {p}")
    return a * (rng.random(a.shape) >= p) / (1 - p)


@wrong(
    "dropout",
    "You scale in evaluation and not while training. That is the older form; the inverted one enlarges while training and leaves evaluation alone.",
)
def dropout_that_is_not_inverted(a, p, rng, training=True):
    if not 0 <= p < 1:
        raise ValueError(f"p = {p}")
    if not training:
        return a * (1 - p)
    return a * (rng.random(a.shape) >= p)


@wrong(
    "dropout",
    "You scale in evaluation as well: the weights are divided by 1 − p although nothing was dropped. There they come back as they are.",
)
def dropout_that_enlarges_in_evaluation(a, p, rng, training=True):
    if not 0 <= p < 1:
        raise ValueError(f"p = {p}")
    if not training:
        return a / (1 - p)
    return a * (rng.random(a.shape) >= p) / (1 - p)


@wrong(
    "dropout",
    "You keep what should be dropped: p is the probability of being dropped, so a draw below p drops its weight.",
)
def dropout_that_keeps_with_probability_p(a, p, rng, training=True):
    if not 0 <= p < 1:
        raise ValueError(f"p = {p}")
    if not training or p == 0:
        return a
    return a * (rng.random(a.shape) < p) / (1 - p)


@wrong(
    "dropout",
    "p is taken for the probability of being kept. Here it is that of being dropped.",
)
def dropout_with_p_as_the_share_kept(a, p, rng, training=True):
    if not 0 <= p < 1:
        raise ValueError(f"p = {p}")
    if not training or p == 0:
        return a
    return a * (rng.random(a.shape) < p) / p


@wrong("dropout", "A whole row is kept or dropped together. Each weight has a draw of its own.")
def dropout_row_by_row(a, p, rng, training=True):
    if not 0 <= p < 1:
        raise ValueError(f"p = {p}")
    if not training or p == 0:
        return a
    return a * (rng.random((*a.shape[:-1], 1)) >= p) / (1 - p)


@wrong("dropout", "Every row loses the same places: you draw once for each column. Each weight has a draw of its own.")
def dropout_column_by_column(a, p, rng, training=True):
    if not 0 <= p < 1:
        raise ValueError(f"p = {p}")
    if not training or p == 0:
        return a
    return a * (rng.random(a.shape[-1]) >= p) / (1 - p)


@wrong(
    "dropout",
    "One draw decides over all weights. Each of them has a draw of its own: ask for as many as there are weights.",
)
def dropout_all_or_nothing(a, p, rng, training=True):
    if not 0 <= p < 1:
        raise ValueError(f"p = {p}")
    if not training or p == 0:
        return a
    return a * (rng.random() >= p) / (1 - p)


@wrong(
    "dropout",
    "The draws do not come from rng, so nobody can repeat them: every call gives something else.",
    "np.random.… is a generator of its own. The one that you were given is called rng.",
)
def dropout_with_draws_of_its_own(a, p, rng, training=True):
    if not 0 <= p < 1:
        raise ValueError(f"p = {p}")
    if not training or p == 0:
        return a
    return a * (np.random.random(a.shape) >= p) / (1 - p)


@wrong(
    "dropout",
    "You make a new generator in each call, so that the same places are dropped every time. Go on with the draws of rng.",
)
def dropout_with_a_fixed_seed(a, p, rng, training=True):
    if not 0 <= p < 1:
        raise ValueError(f"p = {p}")
    if not training or p == 0:
        return a
    return a * (np.random.default_rng(0).random(a.shape) >= p) / (1 - p)


@wrong(
    "dropout",
    "You draw with another function of rng, so that nobody can repeat your draws: the task says which draws to take.",
)
def dropout_with_draws_of_another_kind(a, p, rng, training=True):
    if not 0 <= p < 1:
        raise ValueError(f"p = {p}")
    if not training or p == 0:
        return a
    return a * rng.binomial(1, 1 - p, size=a.shape) / (1 - p)


@wrong(
    "dropout",
    "You make the rows sum to 1 again. Dropout leaves their sums as they fall: only on average they are 1.",
)
def dropout_with_rows_normalised(a, p, rng, training=True):
    if not 0 <= p < 1:
        raise ValueError(f"p = {p}")
    if not training or p == 0:
        return a
    kept = a * (rng.random(a.shape) >= p)
    total = kept.sum(axis=-1, keepdims=True)
    return kept / np.where(total == 0, 1.0, total)


@wrong("dropout", "a has changed: your answer writes into the array that it was given.")
def dropout_that_writes_into_its_input(a, p, rng, training=True):
    if not 0 <= p < 1:
        raise ValueError(f"p = {p}")
    if not training or p == 0:
        return a
    a[rng.random(a.shape) < p] = 0
    return a / (1 - p)


@wrong("dropout", "p is not checked: below 0, and at 1 or above, it should raise a ValueError.")
def dropout_with_any_p(a, p, rng, training=True):
    if not training or p == 0:
        return a
    return np.where(rng.random(a.shape) >= p, a, 0.0) / max(1 - p, 1e-12)


@wrong(
    "dropout",
    "p is checked only while training. A wrong p should be noticed in evaluation too, before the next training starts.",
)
def dropout_that_checks_p_in_training_only(a, p, rng, training=True):
    if not training or p == 0:
        return a
    if not 0 <= p < 1:
        raise ValueError(f"p = {p}")
    return a * (rng.random(a.shape) >= p) / (1 - p)


@wrong("dropout", "p = 1 goes through. It would keep nothing and divide by 0, so it should raise a ValueError.")
def dropout_that_accepts_one(a, p, rng, training=True):
    if not 0 <= p <= 1:
        raise ValueError(f"p = {p}")
    if not training or p == 0:
        return a
    return np.where(rng.random(a.shape) >= p, a, 0.0) / max(1 - p, 1e-12)


@wrong("dropout", "p = 0 is refused. It is allowed: nothing is dropped.")
def dropout_that_refuses_zero(a, p, rng, training=True):
    if not 0 < p < 1:
        raise ValueError(f"p = {p}")
    if not training:
        return a
    return a * (rng.random(a.shape) >= p) / (1 - p)


@wrong("dropout", "You raise ValueError, but its message does not say which p came.")
def dropout_without_naming_p(a, p, rng, training=True):
    if not 0 <= p < 1:
        raise ValueError("the probability is out of range")
    if not training or p == 0:
        return a
    return a * (rng.random(a.shape) >= p) / (1 - p)


@wrong(
    "dropout",
    "An assert gives an AssertionError, and vanishes when Python runs with -O. A wrong argument wants a ValueError.",
)
def dropout_that_asserts(a, p, rng, training=True):
    assert 0 <= p < 1, f"p = {p}"
    if not training or p == 0:
        return a
    return a * (rng.random(a.shape) >= p) / (1 - p)


@right("dropout")
def dropout_weight_by_weight(a, p, rng, training=True):
    if p < 0 or p >= 1:
        raise ValueError(f"{p} is not a probability of dropping")
    result = np.array(a)
    if training:
        for place in np.ndindex(a.shape):
            result[place] = a[place] / (1 - p) if rng.random() >= p else 0.0
    return result


@right("dropout")
def dropout_with_an_index(a, p, rng, training=True):
    if p < 0.0 or p >= 1.0:
        raise ValueError("dropout: p=" + str(p))
    if not training:
        return a
    dropped = a / (1.0 - p)
    dropped[rng.random(a.shape) < p] = 0.0
    return dropped


@right("dropout")
def dropout_with_one_product(a, p, rng, training=True):
    if not (p >= 0 and p < 1):
        raise ValueError(f"got {p}, expected 0 <= p < 1")
    keep = (rng.random(a.shape) >= p).astype(a.dtype)
    return np.multiply(a, keep) * (1 / (1 - p)) if training else a * 1


@right("dropout")
def dropout_with_torch(a, p, rng, training=True):
    import torch

    if not 0 <= p < 1:
        raise ValueError(f"p {p}")
    weights = torch.tensor(np.array(a))
    if training:
        weights = weights.masked_fill(torch.tensor(rng.random(a.shape) < p), 0.0) / (1 - p)
    return weights.numpy()


# ---------------------------------------------------------------------------------------------
# leaks_future. M says who sees whom (rows see columns), on the steps below. An answer is one bit,
# so it takes many: a probe for each place where a leak can hide, and for each thing that is none.


def _probe_leaks(peek, X=1.0, base="so far", seed=0):
    """Probe a table of T = 4 that sees the past, with single entries (output, step) added to it."""
    steps = np.array([[1.0, 0.5, -2.0], [0.7, 3.0, 1.0], [-1.2, 0.4, 0.8], [2.0, -1.0, 0.5]])
    M = {"so far": np.tri(4), "before": np.tri(4, k=-1), "nothing": np.zeros((4, 4))}[base]
    for (i, t), weight in peek.items():
        M[i, t] = weight
    probe("leaks_future", Mixing(M), steps * np.asarray(X), Draws(seed))


_probe_leaks({})
_probe_leaks({}, base="before")
_probe_leaks({(3, 0): 0.5, (3, 1): 0.2, (3, 2): 0.3, (3, 3): 0.4}, base="nothing")
_probe_leaks({(0, 2): 0.5}, base="nothing")
_probe_leaks({(0, 1): 0.4, (0, 2): 0.3, (0, 3): 0.2, (1, 2): 0.5, (1, 3): 0.1, (2, 3): 0.6})
_probe_leaks({(0, 3): 0.5}, seed=1)
_probe_leaks({(0, 1): 0.5}, seed=2)
_probe_leaks({(1, 2): 0.5}, seed=3)
_probe_leaks({(2, 3): 0.5}, seed=4)
_probe_leaks({(1, 3): 0.01})
_probe_leaks({(1, 2): 1e-12})
_probe_leaks({(0, 2): 1e-12}, X=[[0.0], [1.0], [1.0], [1.0]])
_probe_leaks({(0, 2): 0.5}, X=[[1.0], [1.0], [0.0], [1.0]])
_probe_leaks({(0, 1): 0.4, (0, 2): 0.3, (1, 3): 0.1}, X=1e-9)
_probe_leaks({(0, 1): 0.4, (0, 2): 0.3, (1, 3): 0.1}, X=1e6)
_probe_leaks({(0, 1): 0.5, (0, 2): 0.5, (0, 3): 0.5})
_probe_leaks({(0, 2): 0.5, (1, 2): 0.5})
_probe_leaks({(0, 2): 3e4})
probe("leaks_future", Mixing([[1.0]]), np.array([[0.5, -1.5, 2.0]]), Draws(5))  # one step: no past at all


@wrong(
    "leaks_future",
    "You compare all outputs. The outputs from step t on may move, and should: only those before t must stay.",
)
def every_output_compared(attention, X, rng):
    before = attention(X.copy())
    for t in range(len(X)):
        changed = X.copy()
        changed[t] += np.max(np.abs(X)) * rng.normal(size=X.shape[1])
        if np.max(np.abs(attention(changed) - before)) > 1e-6 * np.max(np.abs(before)):
            return True
    return False


@wrong(
    "leaks_future",
    "You compare output t too. A step may see itself: only the outputs before t must stay.",
    "Your slice is one row too long.",
)
def output_t_compared_too(attention, X, rng):
    before = attention(X.copy())
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t] += np.max(np.abs(X)) * rng.normal(size=X.shape[1])
        if np.max(np.abs(attention(changed) - before)[: t + 1]) > 1e-6 * np.max(np.abs(before)):
            return True
    return False


@wrong(
    "leaks_future",
    "You compare the outputs from step t on. They may move: look at those before t.",
)
def outputs_after_t_compared(attention, X, rng):
    before = attention(X.copy())
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t] += np.max(np.abs(X)) * rng.normal(size=X.shape[1])
        if np.max(np.abs(attention(changed) - before)[t:]) > 1e-6 * np.max(np.abs(before)):
            return True
    return False


@wrong(
    "leaks_future",
    "You change the past together with the future. Then the past moves for a good reason: steps before t must stay as they are.",
)
def the_past_changed_too(attention, X, rng):
    before = attention(X.copy())
    for t in range(1, len(X)):
        changed = X + np.max(np.abs(X)) * rng.normal(size=X.shape)
        if np.max(np.abs(attention(changed) - before)[:t]) > 1e-6 * np.max(np.abs(before)):
            return True
    return False


@wrong(
    "leaks_future",
    "Only the last step is changed. A leak may come from any other step, and from that one alone.",
)
def only_the_last_step_changed(attention, X, rng):
    before = attention(X.copy())
    changed = X.copy()
    changed[-1] += np.max(np.abs(X)) * rng.normal(size=X.shape[1])
    return bool(np.any(np.abs(attention(changed) - before)[:-1] > 1e-6 * np.max(np.abs(before))))


@wrong(
    "leaks_future",
    "Only one step in the middle is changed. A leak may come from any other step, and from that one alone.",
)
def only_a_middle_step_changed(attention, X, rng):
    before = attention(X.copy())
    t = len(X) // 2
    changed = X.copy()
    changed[t] += np.max(np.abs(X)) * rng.normal(size=X.shape[1])
    return bool(np.any(np.abs(attention(changed) - before)[:t] > 1e-6 * np.max(np.abs(before))))


@wrong(
    "leaks_future",
    "Your loop answers at its first step. A return inside it ends the search before the other steps have been changed.",
    "A leak may be reported at once. That there is none you know only when all steps have been tried.",
)
def an_answer_after_the_first_step(attention, X, rng):
    before = attention(X.copy())
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t] += np.max(np.abs(X)) * rng.normal(size=X.shape[1])
        return bool(np.any(np.abs(attention(changed) - before)[:t] > 1e-6 * np.max(np.abs(before))))
    return False


@wrong(
    "leaks_future",
    "You change one step that rng picks. Whether you find a leak then depends on luck: try every step.",
)
def a_step_picked_by_chance(attention, X, rng):
    before = attention(X.copy())
    if len(X) < 2:
        return False
    t = rng.integers(1, len(X))
    changed = X.copy()
    changed[t] += np.max(np.abs(X)) * rng.normal(size=X.shape[1])
    return bool(np.any(np.abs(attention(changed) - before)[:t] > 1e-6 * np.max(np.abs(before))))


@wrong(
    "leaks_future",
    "You look at the first output alone. The future may leak into any output before t.",
)
def only_the_first_output_compared(attention, X, rng):
    before = attention(X.copy())
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t] += np.max(np.abs(X)) * rng.normal(size=X.shape[1])
        if np.max(np.abs(attention(changed) - before)[0]) > 1e-6 * np.max(np.abs(before)):
            return True
    return False


@wrong(
    "leaks_future",
    "You look at output t − 1 alone. The future may leak into outputs that lie further back.",
)
def only_the_output_just_before_compared(attention, X, rng):
    before = attention(X.copy())
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t] += np.max(np.abs(X)) * rng.normal(size=X.shape[1])
        if np.max(np.abs(attention(changed) - before)[t - 1]) > 1e-6 * np.max(np.abs(before)):
            return True
    return False


@wrong(
    "leaks_future",
    "You call it a leak only when every earlier output moves. One of them is enough.",
)
def every_output_must_move(attention, X, rng):
    before = attention(X.copy())
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t] += np.max(np.abs(X)) * rng.normal(size=X.shape[1])
        if np.all(np.abs(attention(changed) - before)[:t] > 1e-6 * np.max(np.abs(before))):
            return True
    return False


@wrong(
    "leaks_future",
    "Leaks among tiny numbers escape you: np.allclose calls everything below 1e-8 equal. Compare with the largest number in the output.",
    "np.allclose has a tolerance called atol, and it is not 0 unless you say so.",
)
def allclose_with_its_own_tolerance(attention, X, rng):
    before = attention(X.copy())
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t] += np.max(np.abs(X)) * rng.normal(size=X.shape[1])
        if not np.allclose(attention(changed)[:t], before[:t]):
            return True
    return False


@wrong(
    "leaks_future",
    "Small leaks escape you: your threshold is too coarse. A change of 1 % of the largest output must be found.",
)
def a_threshold_that_is_too_coarse(attention, X, rng):
    before = attention(X.copy())
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t] += np.max(np.abs(X)) * np.sign(rng.normal(size=X.shape[1]))
        if np.max(np.abs(attention(changed) - before)[:t]) > 0.05 * np.max(np.abs(before)):
            return True
    return False


@wrong(
    "leaks_future",
    "Rounding counts as a leak in your answer: numbers that differ in their last digit are not equal, and not leaked either.",
)
def every_last_digit_counts(attention, X, rng):
    before = attention(X.copy())
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t] += np.max(np.abs(X)) * (1 + rng.random(size=X.shape[1]))
        if not np.array_equal(attention(changed)[:t], before[:t]):
            return True
    return False


@wrong(
    "leaks_future",
    "You compare each number with itself. Beside a number that is nearly 0 any rounding looks large: compare with the largest one in the output.",
)
def each_number_compared_with_itself(attention, X, rng):
    before = attention(X.copy())
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t] += np.max(np.abs(X)) * rng.normal(size=X.shape[1])
        if not np.allclose(attention(changed)[:t], before[:t], rtol=1e-6, atol=0):
            return True
    return False


@wrong("leaks_future", "X has changed: make your changes in a copy.")
def changes_made_in_x_itself(attention, X, rng):
    before = attention(X.copy())
    leaks = False
    for t in range(len(X) - 1, 0, -1):
        X[t] += (np.max(np.abs(X)) or 1.0) * rng.normal(size=X.shape[1])
        moved = np.abs(attention(X.copy()) - before)[:t]
        leaks = leaks or bool(np.max(moved) > 1e-6 * np.max(np.abs(before)))
    return leaks


@wrong(
    "leaks_future",
    "Your change is so small that what it causes looks like rounding. Change a step by something of its own size.",
)
def a_change_too_small_to_see(attention, X, rng):
    before = attention(X.copy())
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t] += 1e-8 * np.sign(rng.normal(size=X.shape[1]))
        if not np.allclose(attention(changed)[:t], before[:t]):
            return True
    return False


@wrong(
    "leaks_future",
    "A step of zeros stays a step of zeros in your test, whether you multiply it or put zeros in its place. Its leak is never seen.",
    "Add something to it, of the size of the numbers in X.",
)
def a_change_by_multiplying(attention, X, rng):
    before = attention(X.copy())
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t] *= -1
        if np.max(np.abs(attention(changed) - before)[:t]) > 1e-6 * np.max(np.abs(before)):
            return True
    return False


@wrong(
    "leaks_future",
    "Your change has a fixed size. Beside numbers in the millions it disappears: let it grow with X.",
)
def a_change_of_fixed_size(attention, X, rng):
    before = attention(X.copy())
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t] += 0.1 * np.sign(rng.normal(size=X.shape[1]))
        if np.max(np.abs(attention(changed) - before)[:t]) > 1e-6 * np.max(np.abs(before)):
            return True
    return False


@wrong(
    "leaks_future",
    "You rearrange the future and leave its sum as it is, so a leak through a sum or a mean escapes you. The last step has nothing to change places with, either.",
)
def the_future_in_another_order(attention, X, rng):
    before = attention(X.copy())
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t:] = X[t:][::-1]
        if np.max(np.abs(attention(changed) - before)[:t]) > 1e-6 * np.max(np.abs(before)):
            return True
    return False


@wrong(
    "leaks_future",
    "You cut the future off in place of changing it. An attention may expect all T steps: give it as many as before.",
)
def the_future_cut_off(attention, X, rng):
    before = attention(X.copy())
    for t in range(1, len(X)):
        if np.max(np.abs(attention(X[:t].copy()) - before[:t])) > 1e-6 * np.max(np.abs(before)):
            return True
    return False


@wrong(
    "leaks_future",
    "Your loop compares at step 0 too. There is no output before it, and NumPy knows no maximum of nothing.",
    "Which is the first step that has a past?",
)
def a_loop_from_step_zero(attention, X, rng):
    before = attention(X.copy())
    for t in range(len(X)):
        changed = X.copy()
        changed[t] += np.max(np.abs(X)) * rng.normal(size=X.shape[1])
        if np.max(np.abs(attention(changed) - before)[:t]) > 1e-6 * np.max(np.abs(before)):
            return True
    return False


@wrong("leaks_future", "True and False are the wrong way round: True means that there is a leak.")
def true_for_no_leak(attention, X, rng):
    before = attention(X.copy())
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t] += np.max(np.abs(X)) * rng.normal(size=X.shape[1])
        if np.max(np.abs(attention(changed) - before)[:t]) > 1e-6 * np.max(np.abs(before)):
            return False
    return True


@wrong("leaks_future", "You return an answer for each step. One is asked for: is there a leak anywhere?")
def an_answer_for_each_step(attention, X, rng):
    before = attention(X.copy())
    leaks = []
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t] += np.max(np.abs(X)) * rng.normal(size=X.shape[1])
        leaks.append(bool(np.max(np.abs(attention(changed) - before)[:t]) > 1e-6 * np.max(np.abs(before))))
    return leaks


@right("leaks_future")
def everything_from_t_on_is_new(attention, X, rng):
    before = np.asarray(attention(X.copy()))
    for t in range(len(X) - 1, 0, -1):
        scale = np.std(X[t:]) + np.max(np.abs(X[t:])) or np.max(np.abs(X)) or 1.0
        for _ in range(4):
            changed = np.concatenate([X[:t], scale * rng.normal(size=X[t:].shape)])
            if np.abs(np.asarray(attention(changed))[:t] - before[:t]).max() > 1e-7 * np.abs(before).max():
                return np.True_
    return np.False_


@right("leaks_future")
def number_by_number_without_draws(attention, X, rng):
    before = attention(np.array(X))
    largest = np.abs(before).max()
    found = []
    for t in range(1, X.shape[0]):
        for k in range(X.shape[1]):
            for sign in (1, -1):
                changed = np.array(X)
                changed[t, k] += sign * 1.3 * (np.abs(X[t]).max() or np.abs(X).max())
                found.append(np.abs(attention(changed) - before)[:t].max() > 1e-4 * largest)
    return bool(np.any(found))


@right("leaks_future")
def with_a_table_of_influence(attention, X, rng):
    T = len(X)
    before = attention(X.copy())
    influence = np.zeros((T, T))
    for t in range(T):
        for _ in range(2):
            changed = X.copy()
            own = np.linalg.norm(X[t]) or np.linalg.norm(X)
            changed[t] = changed[t] + own * rng.uniform(0.5, 1.0, X.shape[1]) * rng.choice([-1, 1], X.shape[1])
            moved = np.abs(attention(changed) - before).max(axis=1)
            influence[:, t] = np.maximum(influence[:, t], moved)
    return bool(np.triu(influence, 1).max() > 1e-8 * np.abs(before).max())


@right("leaks_future")
def with_allclose_and_its_tolerances(attention, X, rng):
    before = attention(X.copy())
    largest = float(np.max(np.abs(before)))
    for t in range(1, len(X)):
        size = max(np.max(np.abs(X[t])), 0.1 * np.max(np.abs(X)))
        for change in rng.uniform(-2, 2, size=(5, X.shape[1])):
            changed = np.vstack([X[:t], X[t] + size * change, X[t + 1 :]])
            if not np.allclose(attention(changed)[:t], before[:t], rtol=0, atol=1e-5 * largest):
                return True
    return False
