"""What people really answer in chapter 6, and what they need to hear."""

import numpy as np
from torch import nn

from autograder.misconceptions import probe, right, wrong
from autograder.probes import ModuleProbe

# ---------------------------------------------------------------------------------------------
# split_heads. All sizes differ, without and with batch axes; as many words as heads; what is refused.
_TABLE = np.array([[10.0 * t + c for c in range(6)] for t in range(5)])  # (T, D) = (5, 6)

probe("split_heads", _TABLE, 3)
probe("split_heads", np.stack([_TABLE, _TABLE + 100])[:, :4], 3)
probe("split_heads", np.stack([np.stack([_TABLE, _TABLE + 100]), np.stack([_TABLE + 200, _TABLE + 300])])[:, :, :3], 2)
probe("split_heads", _TABLE[:4], 2)
probe("split_heads", np.zeros((3, 10)), 4, naming=(10, 4))
probe("split_heads", np.zeros((3, 14)), 0, naming=(14, 0))
probe("split_heads", np.zeros((3, 12)), -3, naming=(12, -3))


@wrong(
    "split_heads",
    "The numbers are mixed up, and the shape does not show it: your first head holds all the columns of the first few words. A head should hold a few columns of all the words.",
    "reshape never moves a number, it only draws the borders anew. First cut each row into its pieces, then bring the heads to the front.",
)
def split_by_reshape_alone(X, n_heads):
    *batch, T, D = X.shape
    if n_heads < 1 or D % n_heads:
        raise ValueError(f"D = {D}, n_heads = {n_heads}")
    return X.reshape(*batch, n_heads, T, D // n_heads)


@wrong(
    "split_heads",
    "Your heads take every h-th column. A head's columns stand side by side: head 0 has the first D/h of them.",
    "When a row is cut into pieces, which of the two new axes comes first: the number of the piece, or the place in it?",
)
def heads_take_every_hth_column(X, n_heads):
    *batch, T, D = X.shape
    if n_heads < 1 or D % n_heads:
        raise ValueError(f"D = {D}, n_heads = {n_heads}")
    return np.moveaxis(X.reshape(*batch, T, D // n_heads, n_heads), -1, -3)


@wrong(
    "split_heads",
    "The words still stand in front of the heads. Attention works on the last two axes: words and columns.",
)
def heads_left_behind_the_words(X, n_heads):
    *batch, T, D = X.shape
    if n_heads < 1 or D % n_heads:
        raise ValueError(f"D = {D}, n_heads = {n_heads}")
    return X.reshape(*batch, T, n_heads, D // n_heads)


@wrong(
    "split_heads",
    "You take n_heads for the width of a head. It is the number of heads; the width is what is left for each.",
)
def number_of_heads_as_their_width(X, n_heads):
    *batch, T, D = X.shape
    if n_heads < 1 or D % n_heads:
        raise ValueError(f"D = {D}, n_heads = {n_heads}")
    return np.swapaxes(X.reshape(*batch, T, D // n_heads, n_heads), -2, -3)


@wrong(
    "split_heads",
    "Your last two axes are the wrong way round: in each head a row should be a word.",
)
def words_and_columns_of_a_head_swapped(X, n_heads):
    *batch, T, D = X.shape
    if n_heads < 1 or D % n_heads:
        raise ValueError(f"D = {D}, n_heads = {n_heads}")
    return np.moveaxis(X.reshape(*batch, T, n_heads, D // n_heads), -3, -1)


@wrong(
    "split_heads",
    "In a batch your heads stand in front of the sentences: they belong behind the batch axes. One sentence alone does not show it.",
    "np.stack puts its new axis in front unless you say where. Count the place of the heads from the right.",
)
def heads_in_front_of_the_batch(X, n_heads):
    D = X.shape[-1]
    if n_heads < 1 or D % n_heads:
        raise ValueError(f"D = {D}, n_heads = {n_heads}")
    return np.stack(np.split(X, n_heads, axis=-1))


@wrong(
    "split_heads",
    "You share out the words among the heads. Every head sees all the words, and some of the columns.",
)
def words_shared_out_among_the_heads(X, n_heads):
    D = X.shape[-1]
    if n_heads < 1 or D % n_heads:
        raise ValueError(f"D = {D}, n_heads = {n_heads}")
    return np.stack(np.array_split(X, n_heads, axis=-2), axis=-3)


@wrong(
    "split_heads",
    "Your answer is for one sentence, X of shape (T, D), and not for a batch. Count axes from the right, so that any number may stand in front.",
)
def one_sentence_alone(X, n_heads):
    T, D = X.shape
    if n_heads < 1 or D % n_heads:
        raise ValueError(f"D = {D}, n_heads = {n_heads}")
    return X.reshape(T, n_heads, D // n_heads).transpose(1, 0, 2)


@wrong(
    "split_heads",
    "Your answer is for X of shape (N, T, D) alone. There may be no batch axis, or two.",
)
def one_batch_axis_alone(X, n_heads):
    N, T, D = X.shape
    if n_heads < 1 or D % n_heads:
        raise ValueError(f"D = {D}, n_heads = {n_heads}")
    return X.reshape(N, T, n_heads, D // n_heads).transpose(0, 2, 1, 3)


@wrong(
    "split_heads",
    "Where D cannot be divided, you leave the last columns out. Numbers get lost without a word: raise a ValueError.",
)
def columns_left_over_dropped(X, n_heads):
    if n_heads < 1:
        raise ValueError(f"D = {X.shape[-1]}, n_heads = {n_heads}")
    d = X.shape[-1] // n_heads
    return np.stack([X[..., i * d : (i + 1) * d] for i in range(n_heads)], axis=-3)


@wrong(
    "split_heads",
    "D and n_heads are not checked. What NumPy says when it cannot reshape does not name them, and a negative number of heads may even go through.",
)
def sizes_not_checked(X, n_heads):
    *batch, T, D = X.shape
    return np.swapaxes(X.reshape(*batch, T, n_heads, D // n_heads), -2, -3)


@wrong(
    "split_heads",
    "n_heads = 0 ends in a ZeroDivisionError, and a negative n_heads goes through. Below 1 there is no head: that should be a ValueError too.",
    "D % 0 cannot be computed, and 12 % −3 is 0. Look at n_heads itself, before you divide.",
)
def heads_below_one_not_checked(X, n_heads):
    *batch, T, D = X.shape
    if D % n_heads:
        raise ValueError(f"D = {D}, n_heads = {n_heads}")
    return np.swapaxes(X.reshape(*batch, T, n_heads, D // n_heads), -2, -3)


@wrong("split_heads", "You raise ValueError, but its message does not say which D and which n_heads did not fit.")
def split_error_without_the_numbers(X, n_heads):
    *batch, T, D = X.shape
    if n_heads < 1 or D % n_heads:
        raise ValueError("the width must be divisible by the number of heads")
    return np.swapaxes(X.reshape(*batch, T, n_heads, D // n_heads), -2, -3)


@wrong(
    "split_heads",
    "An assert gives an AssertionError, and vanishes when Python runs with -O. A wrong argument wants a ValueError.",
)
def split_checked_by_assert(X, n_heads):
    *batch, T, D = X.shape
    assert n_heads >= 1, f"D = {D}, n_heads = {n_heads}"
    assert D % n_heads == 0, f"D = {D}, n_heads = {n_heads}"
    return np.swapaxes(X.reshape(*batch, T, n_heads, D // n_heads), -2, -3)


@right("split_heads")
def split_with_slices_of_columns(X, n_heads):
    D = X.shape[-1]
    if n_heads < 1 or D % n_heads != 0:
        raise ValueError(f"cannot share out D={D} columns among n_heads={n_heads}")
    d = D // n_heads
    return np.stack([X[..., i * d : (i + 1) * d] for i in range(n_heads)], axis=-3)


@right("split_heads")
def split_with_a_loop_over_everything(X, n_heads):
    T, D = X.shape[-2:]
    if n_heads <= 0:
        raise ValueError(f"n_heads is {n_heads} (D is {D}): at least one head is needed")
    if D // n_heads * n_heads != D:
        raise ValueError(f"{n_heads} is no divisor of {D}")
    out = np.empty((*X.shape[:-2], n_heads, T, D // n_heads), dtype=X.dtype)
    for column in range(D):
        out[..., column // (D // n_heads), :, column % (D // n_heads)] = X[..., column]
    return out


@right("split_heads")
def split_with_numpys_own_split(X, n_heads):
    if n_heads < 1 or X.shape[-1] % n_heads:
        raise ValueError("D = {}, n_heads = {}".format(X.shape[-1], n_heads))  # noqa: UP032
    return np.stack(np.split(X, n_heads, axis=-1), axis=X.ndim - 2)


@right("split_heads")
def split_with_torch(X, n_heads):
    import torch

    D = X.shape[-1]
    if n_heads < 1 or D % n_heads:
        raise ValueError(f"{D} % {n_heads} != 0")
    x = torch.as_tensor(X.copy())
    return x.unflatten(-1, (n_heads, D // n_heads)).transpose(-2, -3).numpy()


# ---------------------------------------------------------------------------------------------
# merge_heads. All sizes differ, without and with batch axes; heads as wide as there are words.
_HEADS = np.array([[[100.0 * i + 10.0 * t + j for j in range(4)] for t in range(5)] for i in range(3)])  # (h, T, d)

probe("merge_heads", _HEADS[:, :, :2])
probe("merge_heads", np.stack([_HEADS, _HEADS + 1000])[..., :4, :])
probe("merge_heads", np.stack([np.stack([_HEADS, _HEADS + 1000]), np.stack([_HEADS + 2000, _HEADS + 3000])])[..., :2])
probe("merge_heads", _HEADS[None, :2, :3, :3])


@wrong(
    "merge_heads",
    "The numbers are mixed up, and the shape does not show it: each row holds pieces of several words, all from the same head. A row should hold one word, with a piece from each head.",
    "reshape never moves a number. Bring the pieces of a word together before you draw the borders anew.",
)
def merge_by_reshape_alone(X):
    *batch, h, T, d = X.shape
    return X.reshape(*batch, T, h * d)


@wrong(
    "merge_heads",
    "The heads are dealt out like cards: column 0 of each head, then column 1 of each. The pieces should stay whole.",
)
def merge_with_heads_interleaved(X):
    *batch, h, T, d = X.shape
    return np.moveaxis(X, -3, -1).reshape(*batch, T, h * d)


@wrong(
    "merge_heads",
    "The heads stand behind the words now, but they are still an axis of their own: make one row of the pieces.",
)
def pieces_not_joined(X):
    return np.swapaxes(X, -2, -3)


@wrong(
    "merge_heads",
    "You add the heads up. Then nobody can tell any more what each of them found: lay the pieces side by side.",
)
def heads_added_up(X):
    return X.sum(axis=-3)


@wrong(
    "merge_heads",
    "You average the heads. Then nobody can tell any more what each of them found: lay the pieces side by side.",
)
def heads_averaged(X):
    return X.mean(axis=-3)


@wrong(
    "merge_heads",
    "You put the heads one below the other: h·T rows. Each word should have one row, h·d wide.",
)
def heads_one_below_the_other(X):
    *batch, h, T, d = X.shape
    return X.reshape(*batch, h * T, d)


@wrong(
    "merge_heads",
    "In a batch you join the sentences in place of the heads. One sentence alone does not show it.",
    "np.concatenate takes an array apart along its first axis. In a batch that is not the axis of the heads.",
)
def sentences_joined_in_place_of_heads(X):
    return np.concatenate(list(X), axis=-1)


@wrong(
    "merge_heads",
    "In a batch, the words of all sentences stand in one row beside each other: what is joined are words and not heads.",
    "np.hstack joins along the second axis. In a batch that is the axis of the heads.",
)
def stacked_along_the_second_axis(X):
    return np.hstack(list(X))


@wrong(
    "merge_heads",
    "The batch axes have run together into one long list of words. They should stay as they are.",
)
def batch_axes_run_together(X):
    h, _, d = X.shape[-3:]
    return np.swapaxes(X, -2, -3).reshape(-1, h * d)


@wrong(
    "merge_heads",
    "Your answer is for one sentence, X of shape (h, T, d), and not for a batch. Count axes from the right.",
)
def merge_of_one_sentence_alone(X):
    h, T, d = X.shape
    return X.transpose(1, 0, 2).reshape(T, h * d)


@wrong("merge_heads", "Your answer is for X of shape (N, h, T, d) alone. There may be no batch axis, or two.")
def merge_with_one_batch_axis_alone(X):
    N, h, T, d = X.shape
    return X.transpose(0, 2, 1, 3).reshape(N, T, h * d)


@wrong(
    "merge_heads",
    "You swap the words with the columns of a head, and not with the heads. The pieces of a word still stand apart.",
)
def words_swapped_with_columns(X):
    *batch, h, T, d = X.shape
    return np.swapaxes(X, -1, -2).reshape(*batch, T, h * d)


@right("merge_heads")
def merge_with_concatenate(X):
    return np.concatenate([X[..., i, :, :] for i in range(X.shape[-3])], axis=-1)


@right("merge_heads")
def merge_into_an_empty_table(X):
    h, T, d = X.shape[-3:]
    out = np.empty((*X.shape[:-3], T, h * d), dtype=X.dtype)
    for i in range(h):
        out[..., i * d : (i + 1) * d] = X[..., i, :, :]
    return out


@right("merge_heads")
def merge_with_einsum(X):
    h, _, d = X.shape[-3:]
    places = np.eye(h * d).reshape(h, d, h * d)
    return np.einsum("...htd,hdc->...tc", X, places)


@right("merge_heads")
def merge_with_torch(X):
    import torch

    return torch.as_tensor(X.copy()).transpose(-2, -3).flatten(-2).numpy()


# ---------------------------------------------------------------------------------------------
# multi_head_attention. All sizes differ; as many queries as keys; as many sentences as heads, and as many
# queries as heads; a mask that hides, and hides everything; what is refused.


def _numbers(seed, *shape):
    return np.round(np.random.default_rng(seed).normal(size=shape), 2)


_WEIGHTS = tuple(np.round(_numbers(60 + k, 6, 6) / 1.7, 2) for k in range(4))
_WEIGHTS_8 = tuple(np.round(_numbers(70 + k, 8, 8) / 2, 2) for k in range(4))
_MASK = np.array(
    [
        [[True, True, False, True, False], [False, True, True, True, True], [True, False, False, True, True]],
        [[True, False, True, True, True], [True, True, True, False, False], [False, False, True, False, True]],
    ]
)  # (N, L, S) = (2, 3, 5)

probe("multi_head_attention", _numbers(1, 3, 6), _numbers(2, 5, 6), *_WEIGHTS, 2)
probe("multi_head_attention", _numbers(3, 4, 6), _numbers(4, 4, 6), *_WEIGHTS, 3)
probe("multi_head_attention", _numbers(5, 2, 3, 6), _numbers(6, 2, 5, 6), *_WEIGHTS, 2, _MASK)
probe("multi_head_attention", _numbers(7, 4, 2, 8), _numbers(8, 4, 3, 8), *_WEIGHTS_8, 2, _MASK[:1, :2, :3])
probe(
    "multi_head_attention",
    _numbers(9, 2, 3, 6),
    _numbers(10, 2, 4, 6),
    *_WEIGHTS,
    3,
    np.array([[True, True, False, True], [False, False, False, False], [True, False, True, True]]),
)
probe(
    "multi_head_attention",
    _numbers(11, 2, 3, 6),
    _numbers(12, 2, 5, 6),
    *_WEIGHTS,
    3,
    np.array([True, False, True, True, False]),
)
probe(
    "multi_head_attention",
    _numbers(13, 3, 4, 6),
    _numbers(14, 3, 5, 6),
    *_WEIGHTS,
    3,
    np.array([[[True] * k + [False] * (5 - k)] for k in (2, 5, 3)]),
)
probe(
    "multi_head_attention",
    _numbers(15, 2, 2, 3, 6),
    _numbers(16, 2, 2, 5, 6),
    *_WEIGHTS,
    2,
    np.stack([_MASK, _MASK[:, :, ::-1]]),
)
probe("multi_head_attention", _numbers(17, 3, 2, 4, 6), _numbers(18, 3, 2, 5, 6), *_WEIGHTS, 3)
probe("multi_head_attention", np.zeros((3, 6)), np.zeros((5, 6)), *np.zeros((4, 6, 6)), 4, naming=(6, 4))
probe("multi_head_attention", np.zeros((3, 6)), np.zeros((5, 6)), *np.zeros((4, 6, 6)), 0, naming=(6, 0))
probe("multi_head_attention", np.zeros((3, 6)), np.zeros((5, 6)), *np.zeros((4, 6, 6)), -2, naming=(6, -2))


@wrong(
    "multi_head_attention",
    "You split by reshape alone, so your first head holds whole rows of the first few words. A head should hold some columns of all words.",
    "Compare with a loop over the heads, where each takes its own columns of Q, K and V.",
)
def all_split_by_reshape_alone(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    *batch, L, D = X_q.shape
    if n_heads < 1 or D % n_heads:
        raise ValueError(f"D = {D}, n_heads = {n_heads}")
    S, d = X_kv.shape[-2], D // n_heads
    Q = (X_q @ W_q).reshape(*batch, n_heads, L, d)
    K = (X_kv @ W_k).reshape(*batch, n_heads, S, d)
    V = (X_kv @ W_v).reshape(*batch, n_heads, S, d)
    if mask is not None:
        mask = np.broadcast_to(mask, (*X_q.shape[:-1], X_kv.shape[-2]))[..., None, :, :]
    heads, _ = masked_attention(Q, K, V, mask)
    return heads.reshape(*batch, L, D) @ W_o


@wrong(
    "multi_head_attention",
    "The heads are cut by reshape alone: that gives a head whole rows of a few words, where it should have some columns of all words.",
)
def split_by_reshape_then_merged_rightly(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    *batch, L, D = X_q.shape
    if n_heads < 1 or D % n_heads:
        raise ValueError(f"D = {D}, n_heads = {n_heads}")
    S, d = X_kv.shape[-2], D // n_heads
    Q = (X_q @ W_q).reshape(*batch, n_heads, L, d)
    K = (X_kv @ W_k).reshape(*batch, n_heads, S, d)
    V = (X_kv @ W_v).reshape(*batch, n_heads, S, d)
    if mask is not None:
        mask = np.broadcast_to(mask, (*X_q.shape[:-1], X_kv.shape[-2]))[..., None, :, :]
    heads, _ = masked_attention(Q, K, V, mask)
    return merge_heads(heads) @ W_o


@wrong(
    "multi_head_attention",
    "When you put the heads together, each row gets pieces of several words. The shape does not show it.",
    "In the result a word's row should depend on that word's query alone. Bring its pieces together before you draw the borders anew.",
)
def result_merged_by_reshape_alone(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (split_heads(X @ W, n_heads) for X, W in ((X_q, W_q), (X_kv, W_k), (X_kv, W_v)))
    if mask is not None:
        mask = np.broadcast_to(mask, (*X_q.shape[:-1], X_kv.shape[-2]))[..., None, :, :]
    heads, _ = masked_attention(Q, K, V, mask)
    return heads.reshape(X_q.shape) @ W_o


@wrong(
    "multi_head_attention",
    "Your heads take every h-th column. A head's columns stand side by side: head 0 has the first D/h of them.",
)
def all_heads_interleaved(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    *batch, L, D = X_q.shape
    if n_heads < 1 or D % n_heads:
        raise ValueError(f"D = {D}, n_heads = {n_heads}")
    Q, K, V = (
        np.stack([(X @ W)[..., i::n_heads] for i in range(n_heads)], axis=-3)
        for X, W in ((X_q, W_q), (X_kv, W_k), (X_kv, W_v))
    )
    if mask is not None:
        mask = np.broadcast_to(mask, (*X_q.shape[:-1], X_kv.shape[-2]))[..., None, :, :]
    heads, _ = masked_attention(Q, K, V, mask)
    return np.moveaxis(heads, -3, -1).reshape(*batch, L, D) @ W_o


@wrong(
    "multi_head_attention",
    "In the result the heads' numbers are dealt out like cards. The pieces should stay whole: head 0 first, then head 1.",
)
def result_with_heads_interleaved(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (split_heads(X @ W, n_heads) for X, W in ((X_q, W_q), (X_kv, W_k), (X_kv, W_v)))
    if mask is not None:
        mask = np.broadcast_to(mask, (*X_q.shape[:-1], X_kv.shape[-2]))[..., None, :, :]
    heads, _ = masked_attention(Q, K, V, mask)
    return np.moveaxis(heads, -3, -1).reshape(X_q.shape) @ W_o


@wrong(
    "multi_head_attention",
    "This is attention in one wide head: n_heads makes no difference to the result. Each head needs a softmax of its own.",
)
def one_wide_head(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    D = X_q.shape[-1]
    if n_heads < 1 or D % n_heads:
        raise ValueError(f"D = {D}, n_heads = {n_heads}")
    heads, _ = masked_attention(X_q @ W_q, X_kv @ W_k, X_kv @ W_v, mask)
    return heads @ W_o


@wrong(
    "multi_head_attention",
    "You divide the scores by the root of the whole width D. In a head, a score is a sum of D/h products.",
    "The size to take is the width of what is multiplied: that of a head.",
)
def divided_by_the_root_of_the_whole_width(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (split_heads(X @ W, n_heads) for X, W in ((X_q, W_q), (X_kv, W_k), (X_kv, W_v)))
    if mask is not None:
        mask = np.broadcast_to(mask, (*X_q.shape[:-1], X_kv.shape[-2]))[..., None, :, :]
    Q = Q / np.sqrt(n_heads)
    heads, _ = masked_attention(Q, K, V, mask)
    return merge_heads(heads) @ W_o


@wrong(
    "multi_head_attention",
    "You divide the scores by the root of the number of heads. What makes scores grow is the width of a head.",
)
def divided_by_the_root_of_the_heads(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (split_heads(X @ W, n_heads) for X, W in ((X_q, W_q), (X_kv, W_k), (X_kv, W_v)))
    if mask is not None:
        mask = np.broadcast_to(mask, (*X_q.shape[:-1], X_kv.shape[-2]))[..., None, :, :]
    Q = Q * np.sqrt(Q.shape[-1]) / np.sqrt(n_heads)
    heads, _ = masked_attention(Q, K, V, mask)
    return merge_heads(heads) @ W_o


@wrong(
    "multi_head_attention",
    "Your scores are not scaled: the root of a head's width is missing.",
)
def scores_not_divided(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (split_heads(X @ W, n_heads) for X, W in ((X_q, W_q), (X_kv, W_k), (X_kv, W_v)))
    if mask is not None:
        mask = np.broadcast_to(mask, (*X_q.shape[:-1], X_kv.shape[-2]))[..., None, :, :]
    Q = Q * np.sqrt(Q.shape[-1])
    heads, _ = masked_attention(Q, K, V, mask)
    return merge_heads(heads) @ W_o


@wrong(
    "multi_head_attention",
    "The scores are divided by the width of a head in all: by the width itself, or twice by its root (masked_attention has divided already). Once by the root is asked for.",
)
def divided_by_the_width_itself(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (split_heads(X @ W, n_heads) for X, W in ((X_q, W_q), (X_kv, W_k), (X_kv, W_v)))
    if mask is not None:
        mask = np.broadcast_to(mask, (*X_q.shape[:-1], X_kv.shape[-2]))[..., None, :, :]
    Q = Q / np.sqrt(Q.shape[-1])
    heads, _ = masked_attention(Q, K, V, mask)
    return merge_heads(heads) @ W_o


@wrong(
    "multi_head_attention",
    "The heads are joined but not mixed: W_o never comes in.",
)
def heads_joined_and_not_mixed(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (split_heads(X @ W, n_heads) for X, W in ((X_q, W_q), (X_kv, W_k), (X_kv, W_v)))
    if mask is not None:
        mask = np.broadcast_to(mask, (*X_q.shape[:-1], X_kv.shape[-2]))[..., None, :, :]
    heads, _ = masked_attention(Q, K, V, mask)
    return merge_heads(heads)


@wrong(
    "multi_head_attention",
    "You use the weight matrices transposed. PyTorch's Linear stores them so; here a row goes through as X W.",
)
def weights_transposed(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (split_heads(X @ W.T, n_heads) for X, W in ((X_q, W_q), (X_kv, W_k), (X_kv, W_v)))
    if mask is not None:
        mask = np.broadcast_to(mask, (*X_q.shape[:-1], X_kv.shape[-2]))[..., None, :, :]
    heads, _ = masked_attention(Q, K, V, mask)
    return merge_heads(heads) @ W_o.T


@wrong(
    "multi_head_attention",
    "W_o is used transposed. Like the others it is used as X W.",
)
def output_weights_transposed(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (split_heads(X @ W, n_heads) for X, W in ((X_q, W_q), (X_kv, W_k), (X_kv, W_v)))
    if mask is not None:
        mask = np.broadcast_to(mask, (*X_q.shape[:-1], X_kv.shape[-2]))[..., None, :, :]
    heads, _ = masked_attention(Q, K, V, mask)
    return merge_heads(heads) @ W_o.T


@wrong(
    "multi_head_attention",
    "The mask works the wrong way round: in this course True means 'may attend'.",
)
def mask_that_hides_what_it_should_show(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (split_heads(X @ W, n_heads) for X, W in ((X_q, W_q), (X_kv, W_k), (X_kv, W_v)))
    if mask is not None:
        mask = np.broadcast_to(mask, (*X_q.shape[:-1], X_kv.shape[-2]))[..., None, :, :]
    heads, _ = masked_attention(Q, K, V, None if mask is None else ~mask)
    return merge_heads(heads) @ W_o


@wrong(
    "multi_head_attention",
    "The mask makes no difference to your result.",
)
def mask_left_out(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (split_heads(X @ W, n_heads) for X, W in ((X_q, W_q), (X_kv, W_k), (X_kv, W_v)))
    heads, _ = masked_attention(Q, K, V)
    return merge_heads(heads) @ W_o


@wrong(
    "multi_head_attention",
    "Scores have an axis for the heads, the mask has none. NumPy lines shapes up from the right, so the mask's sentences meet the heads: an error, or, with as many sentences as heads, wrong sentences.",
    "Give the mask an axis of size 1 where the scores have their heads.",
)
def mask_without_an_axis_for_the_heads(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (split_heads(X @ W, n_heads) for X, W in ((X_q, W_q), (X_kv, W_k), (X_kv, W_v)))
    heads, _ = masked_attention(Q, K, V, mask)
    return merge_heads(heads) @ W_o


@wrong(
    "multi_head_attention",
    "The mask's new axis stands behind its queries. The scores have their heads in front of the queries.",
)
def heads_axis_of_the_mask_behind_the_queries(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (split_heads(X @ W, n_heads) for X, W in ((X_q, W_q), (X_kv, W_k), (X_kv, W_v)))
    if mask is not None:
        mask = np.broadcast_to(mask, (*X_q.shape[:-1], X_kv.shape[-2]))[..., :, None, :]
    heads, _ = masked_attention(Q, K, V, mask)
    return merge_heads(heads) @ W_o


@wrong(
    "multi_head_attention",
    "You put the axis of the heads at place 1, as if every mask began with the sentences. A mask (L, S) has none. Count the place from the right.",
)
def every_mask_taken_for_one_of_sentences(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (split_heads(X @ W, n_heads) for X, W in ((X_q, W_q), (X_kv, W_k), (X_kv, W_v)))
    mask = None if mask is None else np.expand_dims(mask, 1)
    heads, _ = masked_attention(Q, K, V, mask)
    return merge_heads(heads) @ W_o


@wrong(
    "multi_head_attention",
    "A mask of shape (S,), the same for every query, stops your answer. It broadcasts to (..., L, S) as well.",
)
def masks_of_one_axis_forgotten(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (split_heads(X @ W, n_heads) for X, W in ((X_q, W_q), (X_kv, W_k), (X_kv, W_v)))
    mask = None if mask is None else mask[..., None, :, :]
    heads, _ = masked_attention(Q, K, V, mask)
    return merge_heads(heads) @ W_o


@wrong(
    "multi_head_attention",
    "A mask may have one axis alone, (S,), the same for every query. It has no axis of queries that an axis for the heads could stand in front of.",
)
def axis_for_the_heads_where_a_mask_has_no_queries(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (split_heads(X @ W, n_heads) for X, W in ((X_q, W_q), (X_kv, W_k), (X_kv, W_v)))
    mask = None if mask is None else np.expand_dims(mask, -3)
    heads, _ = masked_attention(Q, K, V, mask)
    return merge_heads(heads) @ W_o


@wrong(
    "multi_head_attention",
    "Your mask gets its axis for the heads only when it has three axes. With two batch axes it may have four, and needs one as well.",
)
def axis_for_the_heads_in_masks_of_three_axes_alone(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (split_heads(X @ W, n_heads) for X, W in ((X_q, W_q), (X_kv, W_k), (X_kv, W_v)))
    if mask is not None and mask.ndim == 3:
        mask = mask[:, None]
    heads, _ = masked_attention(Q, K, V, mask)
    return merge_heads(heads) @ W_o


@wrong(
    "multi_head_attention",
    "The mask's axis for the heads stands at place 1. With two batch axes that is among the sentences. Count the place from the right.",
)
def axis_for_the_heads_counted_from_the_left(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (split_heads(X @ W, n_heads) for X, W in ((X_q, W_q), (X_kv, W_k), (X_kv, W_v)))
    if mask is not None and mask.ndim > 2:
        mask = np.expand_dims(mask, 1)
    heads, _ = masked_attention(Q, K, V, mask)
    return merge_heads(heads) @ W_o


@wrong(
    "multi_head_attention",
    "Your answer takes exactly one batch axis. There may be none, or two.",
    "Name the last axes alone, and leave those in front of them as they are, however many they are.",
)
def exactly_one_batch_axis(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    N, L, D = X_q.shape
    if n_heads < 1 or D % n_heads:
        raise ValueError(f"D = {D}, n_heads = {n_heads}")
    Q, K, V = (
        (X @ W).reshape(N, -1, n_heads, D // n_heads).transpose(0, 2, 1, 3)
        for X, W in ((X_q, W_q), (X_kv, W_k), (X_kv, W_v))
    )
    if mask is not None:
        mask = np.broadcast_to(mask, (N, L, X_kv.shape[1]))[:, None]
    heads, _ = masked_attention(Q, K, V, mask)
    return heads.transpose(0, 2, 1, 3).reshape(N, L, D) @ W_o


@wrong(
    "multi_head_attention",
    "Your answer takes one batch axis, or none. There may be two.",
    "Name the last axes alone, and leave those in front of them as they are, however many they are.",
)
def one_batch_axis_at_most(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    if n_heads < 1 or X_q.shape[-1] % n_heads:
        raise ValueError(f"D = {X_q.shape[-1]}, n_heads = {n_heads}")
    if X_q.ndim == 2:
        return one_batch_axis_at_most(X_q[None], X_kv[None], W_q, W_k, W_v, W_o, n_heads, mask)[0]
    N, L, _ = X_q.shape
    Q, K, V = (split_heads(X @ W, n_heads) for X, W in ((X_q, W_q), (X_kv, W_k), (X_kv, W_v)))
    if mask is not None:
        mask = np.broadcast_to(mask, (N, L, X_kv.shape[1]))[:, None]
    heads, _ = masked_attention(Q, K, V, mask)
    return merge_heads(heads) @ W_o


@wrong(
    "multi_head_attention",
    "You hide keys after the softmax: then the weights of what is left do not sum to 1. The mask belongs between scores and softmax.",
)
def mask_multiplied_into_the_weights(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (split_heads(X @ W, n_heads) for X, W in ((X_q, W_q), (X_kv, W_k), (X_kv, W_v)))
    if mask is not None:
        mask = np.broadcast_to(mask, (*X_q.shape[:-1], X_kv.shape[-2]))[..., None, :, :]
    _, a = masked_attention(Q, K, V)
    a = a if mask is None else a * mask
    return merge_heads(a @ V) @ W_o


@wrong(
    "multi_head_attention",
    "Hidden keys get a score of 0, and with it a weight. exp(0) is 1, not 0.",
)
def hidden_scores_set_to_zero(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (split_heads(X @ W, n_heads) for X, W in ((X_q, W_q), (X_kv, W_k), (X_kv, W_v)))
    if mask is not None:
        mask = np.broadcast_to(mask, (*X_q.shape[:-1], X_kv.shape[-2]))[..., None, :, :]
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    scores = scores if mask is None else np.where(mask, scores, 0)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return merge_heads(e / e.sum(axis=-1, keepdims=True) @ V) @ W_o


@wrong(
    "multi_head_attention",
    "A query that may see nothing looks at everything alike: when all scores are equally low, the softmax treats them as equals. Its weights should be 0.",
)
def hidden_scores_very_low(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (split_heads(X @ W, n_heads) for X, W in ((X_q, W_q), (X_kv, W_k), (X_kv, W_v)))
    if mask is not None:
        mask = np.broadcast_to(mask, (*X_q.shape[:-1], X_kv.shape[-2]))[..., None, :, :]
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    scores = scores if mask is None else np.where(mask, scores, -1e9)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return merge_heads(e / e.sum(axis=-1, keepdims=True) @ V) @ W_o


@wrong(
    "multi_head_attention",
    "A query that may see nothing gets NaN: −∞ minus −∞, or 0 / 0. Its weights should be 0.",
)
def nothing_to_see_gives_nan(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (split_heads(X @ W, n_heads) for X, W in ((X_q, W_q), (X_kv, W_k), (X_kv, W_v)))
    if mask is not None:
        mask = np.broadcast_to(mask, (*X_q.shape[:-1], X_kv.shape[-2]))[..., None, :, :]
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    visible = scores if mask is None else np.where(mask, scores, -np.inf)
    with np.errstate(invalid="ignore"):
        e = np.exp(visible - visible.max(axis=-1, keepdims=True))
    return merge_heads(e / e.sum(axis=-1, keepdims=True) @ V) @ W_o


@wrong(
    "multi_head_attention",
    "Your weights sum to 1 over the queries. Each query shares out its own weight among the keys.",
)
def softmax_over_the_queries(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (split_heads(X @ W, n_heads) for X, W in ((X_q, W_q), (X_kv, W_k), (X_kv, W_v)))
    if mask is not None:
        mask = np.broadcast_to(mask, (*X_q.shape[:-1], X_kv.shape[-2]))[..., None, :, :]
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    visible = scores if mask is None else np.where(mask, scores, -np.inf)
    top = visible.max(axis=-2, keepdims=True)
    e = np.exp(visible - np.where(np.isfinite(top), top, 0))
    total = e.sum(axis=-2, keepdims=True)
    return merge_heads(e / np.where(total == 0, 1, total) @ V) @ W_o


@wrong(
    "multi_head_attention",
    "Your weights sum to 1 over the heads. In every head, a query shares out a weight of 1 among the keys.",
)
def softmax_over_the_heads(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (split_heads(X @ W, n_heads) for X, W in ((X_q, W_q), (X_kv, W_k), (X_kv, W_v)))
    if mask is not None:
        mask = np.broadcast_to(mask, (*X_q.shape[:-1], X_kv.shape[-2]))[..., None, :, :]
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    visible = scores if mask is None else np.where(mask, scores, -np.inf)
    top = visible.max(axis=-3, keepdims=True)
    e = np.exp(visible - np.where(np.isfinite(top), top, 0))
    total = e.sum(axis=-3, keepdims=True)
    return merge_heads(e / np.where(total == 0, 1, total) @ V) @ W_o


@wrong(
    "multi_head_attention",
    "All heads use the weights of the first one. Each head looks in its own way: that is what it is for.",
)
def first_heads_weights_for_all(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (split_heads(X @ W, n_heads) for X, W in ((X_q, W_q), (X_kv, W_k), (X_kv, W_v)))
    if mask is not None:
        mask = np.broadcast_to(mask, (*X_q.shape[:-1], X_kv.shape[-2]))[..., None, :, :]
    _, a = masked_attention(Q, K, V, mask)
    return merge_heads(a[..., :1, :, :] @ V) @ W_o


@wrong(
    "multi_head_attention",
    "You average the weights over the heads before you use them. Then all heads look alike.",
)
def weights_averaged_over_the_heads(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (split_heads(X @ W, n_heads) for X, W in ((X_q, W_q), (X_kv, W_k), (X_kv, W_v)))
    if mask is not None:
        mask = np.broadcast_to(mask, (*X_q.shape[:-1], X_kv.shape[-2]))[..., None, :, :]
    _, a = masked_attention(Q, K, V, mask)
    return merge_heads(a.mean(axis=-3, keepdims=True) @ V) @ W_o


@wrong(
    "multi_head_attention",
    "Your keys come from X_q. Who asks stands in X_q; what is looked at stands in X_kv, its keys as well as its values.",
)
def keys_from_the_queries_side(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (split_heads(X @ W, n_heads) for X, W in ((X_q, W_q), (X_q, W_k), (X_kv, W_v)))
    if mask is not None:
        mask = np.broadcast_to(mask, (*X_q.shape[:-1], X_kv.shape[-2]))[..., None, :, :]
    heads, _ = masked_attention(Q, K, V, mask)
    return merge_heads(heads) @ W_o


@wrong(
    "multi_head_attention",
    "Your values come from X_q. Keys and values both belong to what is looked at, X_kv.",
)
def values_from_the_queries_side(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (split_heads(X @ W, n_heads) for X, W in ((X_q, W_q), (X_kv, W_k), (X_q, W_v)))
    if mask is not None:
        mask = np.broadcast_to(mask, (*X_q.shape[:-1], X_kv.shape[-2]))[..., None, :, :]
    heads, _ = masked_attention(Q, K, V, mask)
    return merge_heads(heads) @ W_o


@wrong(
    "multi_head_attention",
    "X_kv makes no difference: queries, keys and values all come from X_q.",
)
def everything_from_the_queries_side(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (split_heads(X_q @ W, n_heads) for W in (W_q, W_k, W_v))
    if mask is not None:
        mask = np.broadcast_to(mask, (*X_q.shape[:-1], X_kv.shape[-2]))[..., None, :, :]
    heads, _ = masked_attention(Q, K, V, mask)
    return merge_heads(heads) @ W_o


@wrong(
    "multi_head_attention",
    "Queries and keys have changed sides: X_q asks, X_kv is looked at. The result has a row for each query.",
)
def sides_swapped(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (split_heads(X @ W, n_heads) for X, W in ((X_kv, W_q), (X_q, W_k), (X_q, W_v)))
    if mask is not None:
        mask = np.broadcast_to(mask, (*X_kv.shape[:-1], X_q.shape[-2]))[..., None, :, :]
    heads, _ = masked_attention(Q, K, V, mask)
    return merge_heads(heads) @ W_o


@wrong(
    "multi_head_attention",
    "The values have not gone through W_v.",
)
def values_not_projected(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (split_heads(X, n_heads) for X in (X_q @ W_q, X_kv @ W_k, X_kv))
    if mask is not None:
        mask = np.broadcast_to(mask, (*X_q.shape[:-1], X_kv.shape[-2]))[..., None, :, :]
    heads, _ = masked_attention(Q, K, V, mask)
    return merge_heads(heads) @ W_o


@wrong(
    "multi_head_attention",
    "Keys and values are the same thing in your answer. The values have a matrix of their own.",
)
def keys_weights_for_the_values(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    Q, K, V = (split_heads(X @ W, n_heads) for X, W in ((X_q, W_q), (X_kv, W_k), (X_kv, W_k)))
    if mask is not None:
        mask = np.broadcast_to(mask, (*X_q.shape[:-1], X_kv.shape[-2]))[..., None, :, :]
    heads, _ = masked_attention(Q, K, V, mask)
    return merge_heads(heads) @ W_o


@wrong(
    "multi_head_attention",
    "You raise ValueError, but its message does not say which D and which n_heads did not fit.",
)
def attention_error_without_the_numbers(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    D = X_q.shape[-1]
    if n_heads < 1 or D % n_heads:
        raise ValueError("the width must be divisible by the number of heads")
    Q, K, V = (split_heads(X @ W, n_heads) for X, W in ((X_q, W_q), (X_kv, W_k), (X_kv, W_v)))
    if mask is not None:
        mask = np.broadcast_to(mask, (*X_q.shape[:-1], X_kv.shape[-2]))[..., None, :, :]
    heads, _ = masked_attention(Q, K, V, mask)
    return merge_heads(heads) @ W_o


@wrong(
    "multi_head_attention",
    "D and n_heads are not checked. What NumPy says when it cannot reshape does not name them, and n_heads = 0 gives another error.",
)
def attention_sizes_not_checked(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    *batch, _, D = X_q.shape
    Q, K, V = (
        np.swapaxes((X @ W).reshape(*batch, -1, n_heads, D // n_heads), -2, -3)
        for X, W in ((X_q, W_q), (X_kv, W_k), (X_kv, W_v))
    )
    if mask is not None:
        mask = np.broadcast_to(mask, (*X_q.shape[:-1], X_kv.shape[-2]))[..., None, :, :]
    heads, _ = masked_attention(Q, K, V, mask)
    return merge_heads(heads) @ W_o


@wrong(
    "multi_head_attention",
    "An assert gives an AssertionError, and vanishes when Python runs with -O. A wrong argument wants a ValueError.",
)
def attention_checked_by_assert(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    D = X_q.shape[-1]
    assert n_heads >= 1, f"D = {D}, n_heads = {n_heads}"
    assert D % n_heads == 0, f"D = {D}, n_heads = {n_heads}"
    Q, K, V = (split_heads(X @ W, n_heads) for X, W in ((X_q, W_q), (X_kv, W_k), (X_kv, W_v)))
    if mask is not None:
        mask = np.broadcast_to(mask, (*X_q.shape[:-1], X_kv.shape[-2]))[..., None, :, :]
    heads, _ = masked_attention(Q, K, V, mask)
    return merge_heads(heads) @ W_o


@wrong(
    "multi_head_attention",
    "Your answer is for one sentence and not for a batch. Leave any number of axes in front as they are.",
)
def attention_for_one_sentence_alone(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    L, D = X_q.shape
    if n_heads < 1 or D % n_heads:
        raise ValueError(f"D = {D}, n_heads = {n_heads}")
    d = D // n_heads
    out = np.zeros((L, D))
    for i in range(n_heads):
        own = slice(i * d, (i + 1) * d)
        head, _ = masked_attention(X_q @ W_q[:, own], X_kv @ W_k[:, own], X_kv @ W_v[:, own], mask)
        out += head @ W_o[own]
    return out


@right("multi_head_attention")
def attention_as_a_sum_over_the_heads(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    *batch, L, D = X_q.shape
    if n_heads < 1 or D % n_heads:
        raise ValueError(f"D = {D}, n_heads = {n_heads}")
    d = D // n_heads
    out = np.zeros((*batch, L, D), dtype=np.result_type(X_q, W_o))
    for i in range(n_heads):
        own = slice(i * d, (i + 1) * d)
        head, _ = masked_attention(X_q @ W_q[:, own], X_kv @ W_k[:, own], X_kv @ W_v[:, own], mask)
        out = out + head @ W_o[own]
    return out


@right("multi_head_attention")
def attention_with_pieces_joined_in_a_loop(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    D = X_q.shape[-1]
    if n_heads < 1 or D % n_heads:
        raise ValueError(f"D = {D}, n_heads = {n_heads}")
    d = D // n_heads
    Q, K, V = X_q @ W_q, X_kv @ W_k, X_kv @ W_v
    pieces = []
    for start in range(0, D, d):
        piece, _ = masked_attention(
            Q[..., start : start + d], K[..., start : start + d], V[..., start : start + d], mask=mask
        )
        pieces.append(piece)
    return np.concatenate(pieces, axis=-1) @ W_o


@right("multi_head_attention")
def attention_with_einsum(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    *batch, L, D = X_q.shape
    if n_heads < 1 or D % n_heads:
        raise ValueError(f"D = {D}, n_heads = {n_heads}")
    S, d = X_kv.shape[-2], D // n_heads
    Q = np.einsum("...ld,dhe->...hle", X_q, W_q.reshape(D, n_heads, d))
    K = np.einsum("...sd,dhe->...hse", X_kv, W_k.reshape(D, n_heads, d))
    V = np.einsum("...sd,dhe->...hse", X_kv, W_v.reshape(D, n_heads, d))
    scores = np.einsum("...hle,...hse->...hls", Q, K) / d**0.5
    seen = np.ones((*batch, 1, L, S), dtype=bool)
    if mask is not None:
        seen = seen & np.broadcast_to(mask, (*batch, L, S))[..., None, :, :]
    scores = np.where(seen, scores, -np.inf)
    largest = np.where(seen.any(axis=-1, keepdims=True), scores.max(axis=-1, keepdims=True), 0)
    e = np.exp(scores - largest)
    a = np.divide(e, e.sum(axis=-1, keepdims=True), out=np.zeros_like(e), where=seen)
    return np.einsum("...hls,...hse,hed->...ld", a, V, W_o.reshape(n_heads, d, D))


@right("multi_head_attention")
def attention_with_torchs_own(X_q, X_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    import torch

    D = X_q.shape[-1]
    if n_heads < 1 or D % n_heads:
        raise ValueError(f"{n_heads} heads do not fit a width of {D}")
    q, k, v = (
        torch.as_tensor(X @ W).unflatten(-1, (n_heads, D // n_heads)).transpose(-2, -3)
        for X, W in ((X_q, W_q), (X_kv, W_k), (X_kv, W_v))
    )
    if mask is not None:
        mask = torch.as_tensor(np.broadcast_to(mask, (*X_q.shape[:-1], X_kv.shape[-2])).copy()).unsqueeze(-3)
    out = torch.nn.functional.scaled_dot_product_attention(q, k, v, mask)
    return out.transpose(-2, -3).flatten(-2).numpy() @ W_o


# ---------------------------------------------------------------------------------------------
# MultiHeadAttention. As many queries as keys; as many sentences as heads, and more; the kinds of masks; in training a single
# weight, so that it does not matter in which order the numbers are drawn; what is refused.
_SIX = {"d_model": 6, "n_heads": 2}
_BLIND = np.array([[True, False, True, True, False], [False] * 5, [False, True, True, False, True]])  # (L, S) = (3, 5)


def _three(seed, N, L, S, D):
    return _numbers(seed, N, L, D), _numbers(seed + 1, N, S, D), _numbers(seed + 2, N, S, D)


def _probe(init, *call, **how):
    probe("MultiHeadAttention", ModuleProbe(init, call, gradients=False, **how))


_probe(_SIX | {"dropout": 0.5}, *_three(24, 3, 4, 4, 6))
_probe(_SIX, *_three(27, 2, 3, 5, 6), _MASK)
_probe(_SIX, *_three(30, 3, 2, 5, 6), _MASK[[0, 1, 1], :2])
_probe({"d_model": 6, "n_heads": 3, "bias": False}, *_three(36, 2, 4, 5, 6), _MASK[:, :1, None])
_probe(_SIX, *_three(39, 1, 3, 5, 6), _MASK[None])
probe("MultiHeadAttention", ModuleProbe({"d_model": 6, "n_heads": 3}, (*_three(33, 2, 3, 5, 6), _BLIND)))
_probe({"d_model": 3, "n_heads": 1, "dropout": 0.5}, *_three(45, 1, 1, 1, 3), training=True, seed=3)  # it is kept
_probe({"d_model": 6, "n_heads": 2, "dropout": 1.0}, *_three(48, 2, 3, 4, 6), training=True)
for _sizes in ((10, 4), (14, 0)):
    _init = {"d_model": _sizes[0], "n_heads": _sizes[1]}
    probe("MultiHeadAttention", ModuleProbe(_init, _three(51, 1, 2, 3, _sizes[0])), naming=_sizes)


@wrong(
    "MultiHeadAttention",
    "You cut into heads by view or reshape alone, so your first head holds whole rows of the first few words. A head should hold some columns of all words.",
    "Compare with a loop over the heads, where each takes its own columns.",
)
class SplitAndMergedByReshapeAlone(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        N, L, _ = query.shape
        q = self.q_proj(query).view(N, self.n_heads, L, -1)
        k = self.k_proj(key).view(N, self.n_heads, key.shape[1], -1)
        v = self.v_proj(value).view(N, self.n_heads, key.shape[1], -1)
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(dim=-1).masked_fill(nothing, 0.0)
        return self.out_proj((self.dropout(a) @ v).reshape(query.shape))


@wrong(
    "MultiHeadAttention",
    "The heads are cut by view or reshape alone: that gives a head whole rows of a few words, where it should have some columns of all words.",
)
class SplitByReshapeAlone(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        N, L, _ = query.shape
        q = self.q_proj(query).view(N, self.n_heads, L, -1)
        k = self.k_proj(key).view(N, self.n_heads, key.shape[1], -1)
        v = self.v_proj(value).view(N, self.n_heads, key.shape[1], -1)
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(dim=-1).masked_fill(nothing, 0.0)
        heads = self.dropout(a) @ v
        return self.out_proj(heads.transpose(1, 2).flatten(2))


@wrong(
    "MultiHeadAttention",
    "When you put the heads together, each row gets pieces of several words. The shape does not show it.",
    "In the result, a word's row should depend on that word's query alone. Bring its pieces together before you draw the borders anew.",
)
class MergedByReshapeAlone(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(dim=-1).masked_fill(nothing, 0.0)
        return self.out_proj((self.dropout(a) @ v).reshape(query.shape))


@wrong(
    "MultiHeadAttention",
    "view cannot join axes that a transpose has moved: the numbers of a row no longer lie side by side in memory.",
    "reshape copies where view cannot; so does contiguous before view.",
)
class ViewAfterTheTranspose(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(dim=-1).masked_fill(nothing, 0.0)
        return self.out_proj((self.dropout(a) @ v).transpose(1, 2).view(query.shape))


@wrong(
    "MultiHeadAttention",
    "Keys and values are cut as if there were as many of them as queries. In self-attention that is so; in a decoder it is not.",
)
class KeysCutToTheLengthOfTheQueries(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        N, L, _ = query.shape
        q, k, v = (
            proj(x).view(N, L, self.n_heads, -1).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(dim=-1).masked_fill(nothing, 0.0)
        heads = self.dropout(a) @ v
        return self.out_proj(heads.transpose(1, 2).flatten(2))


@wrong(
    "MultiHeadAttention",
    "Your heads take every h-th column. A head's columns stand side by side: head 0 has the first ones.",
)
class HeadsOfEveryHthColumn(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (-1, self.n_heads)).movedim(-1, 1)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(dim=-1).masked_fill(nothing, 0.0)
        return self.out_proj((self.dropout(a) @ v).movedim(1, -1).flatten(2))


@wrong(
    "MultiHeadAttention",
    "This is attention in one wide head: n_heads makes no difference to the result. Each head needs a softmax of its own.",
)
class OneWideHead(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = self.q_proj(query)[:, None], self.k_proj(key)[:, None], self.v_proj(value)[:, None]
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(dim=-1).masked_fill(nothing, 0.0)
        heads = self.dropout(a) @ v
        return self.out_proj(heads.transpose(1, 2).flatten(2))


@wrong(
    "MultiHeadAttention",
    "You divide the scores by the root of d_model. In a head, a score is a sum of d_model / n_heads products.",
    "The size to take is the width of what is multiplied: that of a head.",
)
class ScaledByTheModelsWidth(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1) / query.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(dim=-1).masked_fill(nothing, 0.0)
        heads = self.dropout(a) @ v
        return self.out_proj(heads.transpose(1, 2).flatten(2))


@wrong(
    "MultiHeadAttention",
    "You divide the scores by the root of the number of heads. What makes scores grow is the width of a head.",
)
class ScaledByTheNumberOfHeads(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1) / self.n_heads**0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(dim=-1).masked_fill(nothing, 0.0)
        heads = self.dropout(a) @ v
        return self.out_proj(heads.transpose(1, 2).flatten(2))


@wrong(
    "MultiHeadAttention",
    "Your scores are not scaled: the root of a head's width is missing.",
)
class ScoresNotScaled(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1)
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(dim=-1).masked_fill(nothing, 0.0)
        heads = self.dropout(a) @ v
        return self.out_proj(heads.transpose(1, 2).flatten(2))


@wrong(
    "MultiHeadAttention",
    "The heads are joined but not mixed: out_proj is made and never called.",
)
class HeadsNotMixed(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(dim=-1).masked_fill(nothing, 0.0)
        return (self.dropout(a) @ v).transpose(1, 2).flatten(2)


@wrong(
    "MultiHeadAttention",
    "query, key and value are used as they come: q_proj, k_proj and v_proj are made and never called.",
)
class NothingIsProjected(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for x in (query, key, value))
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(dim=-1).masked_fill(nothing, 0.0)
        heads = self.dropout(a) @ v
        return self.out_proj(heads.transpose(1, 2).flatten(2))


@wrong(
    "MultiHeadAttention",
    "Your keys come from query. In self-attention that is the same thing; in a decoder it is not.",
)
class KeysFromTheQuery(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, query), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(dim=-1).masked_fill(nothing, 0.0)
        heads = self.dropout(a) @ v
        return self.out_proj(heads.transpose(1, 2).flatten(2))


@wrong(
    "MultiHeadAttention",
    "Your values come from key, and value makes no difference. What is found and what is read may be two things.",
)
class ValuesFromTheKey(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, key))
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(dim=-1).masked_fill(nothing, 0.0)
        heads = self.dropout(a) @ v
        return self.out_proj(heads.transpose(1, 2).flatten(2))


@wrong(
    "MultiHeadAttention",
    "key and value make no difference: everything comes from query. In self-attention that is the same thing; in a decoder it is not.",
)
class EverythingFromTheQuery(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(query).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj in (self.q_proj, self.k_proj, self.v_proj)
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(dim=-1).masked_fill(nothing, 0.0)
        heads = self.dropout(a) @ v
        return self.out_proj(heads.transpose(1, 2).flatten(2))


@wrong(
    "MultiHeadAttention",
    "The mask works the wrong way round: here True means 'may attend'. torch.nn.MultiheadAttention reads masks the other way.",
)
class MaskTheWrongWayRound(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.zeros(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = ~(mask[:, None] if mask.dim() == 3 else mask)
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(dim=-1).masked_fill(nothing, 0.0)
        heads = self.dropout(a) @ v
        return self.out_proj(heads.transpose(1, 2).flatten(2))


@wrong(
    "MultiHeadAttention",
    "The mask makes no difference to your result.",
)
class MaskLeftOut(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        heads = self.dropout(scores.softmax(dim=-1)) @ v
        return self.out_proj(heads.transpose(1, 2).flatten(2))


@wrong(
    "MultiHeadAttention",
    "A mask (N, L, S) lacks an axis for the heads. Shapes are lined up from the right, so its sentences meet the heads: an error, or, with as many sentences as heads, wrong sentences.",
    "Give a mask with three axes a fourth one of size 1, where the scores have their heads.",
)
class MaskWithoutAnAxisForTheHeads(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(dim=-1).masked_fill(nothing, 0.0)
        heads = self.dropout(a) @ v
        return self.out_proj(heads.transpose(1, 2).flatten(2))


@wrong(
    "MultiHeadAttention",
    "The new axis of a mask (N, L, S) stands behind its queries. The scores have their heads in front of the queries.",
)
class MaskWithItsNewAxisBehindTheQueries(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, :, None] if mask.dim() == 3 else mask
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(dim=-1).masked_fill(nothing, 0.0)
        heads = self.dropout(a) @ v
        return self.out_proj(heads.transpose(1, 2).flatten(2))


@wrong(
    "MultiHeadAttention",
    "A mask that has four axes already gets a fifth. Only one with three axes, (N, L, S), lacks the heads.",
)
class EveryMaskGetsANewAxis(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(1, query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask.unsqueeze(-3)
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(dim=-1).masked_fill(nothing, 0.0)
        heads = self.dropout(a) @ v
        return self.out_proj(heads.transpose(1, 2).flatten(2))


@wrong(
    "MultiHeadAttention",
    "A mask of four axes may hide something else in each head. You use what it says of the first head for all.",
)
class MasksOfFourAxesCutToOneHead(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask[:, :1] if mask.dim() == 4 else mask
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(dim=-1).masked_fill(nothing, 0.0)
        heads = self.dropout(a) @ v
        return self.out_proj(heads.transpose(1, 2).flatten(2))


@wrong(
    "MultiHeadAttention",
    "Your masks (N, L, S) are repeated in the order sentence 0, sentence 1, sentence 0, …. The heads lie in the order all of sentence 0, then all of sentence 1.",
    "repeat and repeat_interleave give the same shape. Look at the order on two sentences with different masks.",
)
class MaskTiledInTheWrongOrder(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        (N, L, D), S, h = query.shape, key.shape[1], self.n_heads
        q, k, v = (
            proj(x).unflatten(-1, (h, -1)).transpose(1, 2).flatten(0, 1)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(1, 2) / (D // h) ** 0.5
        if mask is None:
            mask = torch.ones(L, S, dtype=torch.bool)
        if mask.dim() == 4:
            mask = mask.expand(N, h, L, S).flatten(0, 1)
        elif mask.dim() == 3:
            mask = mask.repeat(h, 1, 1)
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(dim=-1).masked_fill(nothing, 0.0)
        heads = (self.dropout(a) @ v).unflatten(0, (N, h))
        return self.out_proj(heads.transpose(1, 2).flatten(2))


@wrong(
    "MultiHeadAttention",
    "For a query that sees nothing you set the output to 0. Its weights are 0, and so is what the heads find; the bias of out_proj is still added.",
)
class NothingToSeeGivesZeroAfterTheOutput(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(dim=-1).masked_fill(nothing, 0.0)
        out = self.out_proj((self.dropout(a) @ v).transpose(1, 2).flatten(2))
        return out.masked_fill(nothing[:, 0] if nothing.dim() == 4 else nothing, 0.0)


@wrong(
    "MultiHeadAttention",
    "Hidden keys get a score of 0, and with it a weight. exp(0) is 1, not 0.",
)
class HiddenScoresOfZero(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        a = scores.masked_fill(~mask, 0.0).softmax(dim=-1)
        heads = self.dropout(a) @ v
        return self.out_proj(heads.transpose(1, 2).flatten(2))


@wrong(
    "MultiHeadAttention",
    "A query that may see nothing looks at everything alike: when all scores are equally low, the softmax treats them as equals. Its weights should be 0.",
)
class HiddenScoresVeryLow(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        a = scores.masked_fill(~mask, -1e9).softmax(dim=-1)
        heads = self.dropout(a) @ v
        return self.out_proj(heads.transpose(1, 2).flatten(2))


@wrong(
    "MultiHeadAttention",
    "A query that may see nothing gets NaN: a softmax over −∞ alone is 0 / 0. Its weights should be 0.",
)
class NothingToSeeGivesNaN(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        a = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)
        heads = self.dropout(a) @ v
        return self.out_proj(heads.transpose(1, 2).flatten(2))


@wrong(
    "MultiHeadAttention",
    "Gradients are NaN: the NaN that you replace is still inside the softmax, and comes back on the way down.",
    "Do not let it arise: give a query that sees nothing finite scores, and set its weights to 0 after the softmax.",
)
class NaNReplacedAfterTheSoftmax(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        scores = scores + torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(~mask, float("-inf"))
        a = scores.softmax(dim=-1).nan_to_num(0.0)
        heads = self.dropout(a) @ v
        return self.out_proj(heads.transpose(1, 2).flatten(2))


@wrong(
    "MultiHeadAttention",
    "You hide keys after the softmax: then the weights of what is left do not sum to 1. The mask belongs between scores and softmax.",
)
class MaskAfterTheSoftmax(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        a = scores.softmax(dim=-1) * mask
        heads = self.dropout(a) @ v
        return self.out_proj(heads.transpose(1, 2).flatten(2))


@wrong(
    "MultiHeadAttention",
    "Your weights sum to 1 over the queries. Each query shares out its own weight among the keys.",
)
class SoftmaxOverTheQueries(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = (
            scores.masked_fill(~mask & ~nothing, float("-inf"))
            .softmax(dim=-2)
            .nan_to_num(0.0)
            .masked_fill(nothing, 0.0)
        )
        heads = self.dropout(a) @ v
        return self.out_proj(heads.transpose(1, 2).flatten(2))


@wrong(
    "MultiHeadAttention",
    "Your weights sum to 1 over the heads. In every head, a query shares out a weight of 1 among the keys.",
    "The axes of the scores are (N, h, L, S). Count the one of the keys from the right.",
)
class SoftmaxOverTheHeads(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(dim=1).nan_to_num(0.0).masked_fill(nothing, 0.0)
        heads = self.dropout(a) @ v
        return self.out_proj(heads.transpose(1, 2).flatten(2))


@wrong(
    "MultiHeadAttention",
    "You average the weights over the heads before you use them. Then all heads look alike.",
)
class WeightsAveragedOverTheHeads(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(dim=-1).masked_fill(nothing, 0.0)
        a = a.mean(dim=1, keepdim=True)
        heads = self.dropout(a) @ v
        return self.out_proj(heads.transpose(1, 2).flatten(2))


@wrong(
    "MultiHeadAttention",
    "Weights are dropped in evaluation too. nn.functional.dropout drops unless it is told whether the module is training.",
)
class DropoutInEvaluationToo(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(dim=-1).masked_fill(nothing, 0.0)
        heads = nn.functional.dropout(a, self.dropout.p) @ v
        return self.out_proj(heads.transpose(1, 2).flatten(2))


@wrong(
    "MultiHeadAttention",
    "Nothing is dropped in training.",
)
class DropoutLeftOut(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(dim=-1).masked_fill(nothing, 0.0)
        return self.out_proj((a @ v).transpose(1, 2).flatten(2))


@wrong(
    "MultiHeadAttention",
    "You drop numbers of the output. What is dropped here are attention weights: a key is not looked at, by one query in one head.",
)
class DropoutOnTheOutput(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(dim=-1).masked_fill(nothing, 0.0)
        return self.dropout(self.out_proj((a @ v).transpose(1, 2).flatten(2)))


@wrong(
    "MultiHeadAttention",
    "You drop numbers of the heads' results. What is dropped here are attention weights, before they meet the values.",
)
class DropoutOnTheHeads(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(dim=-1).masked_fill(nothing, 0.0)
        return self.out_proj(self.dropout((a @ v).transpose(1, 2).flatten(2)))


@wrong(
    "MultiHeadAttention",
    "You drop scores. A score of 0 still gets a weight: dropout belongs behind the softmax.",
)
class DropoutBeforeTheSoftmax(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        scores = self.dropout(scores)
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(dim=-1).masked_fill(nothing, 0.0)
        return self.out_proj((a @ v).transpose(1, 2).flatten(2))


@wrong(
    "MultiHeadAttention",
    "What survives dropout is not enlarged by 1/(1 − p), so the average is not kept.",
)
class DropoutNotMadeUpFor(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(dim=-1).masked_fill(nothing, 0.0)
        if self.training:
            a = a * (nn.functional.dropout(torch.ones_like(a), self.dropout.p) > 0)
        return self.out_proj((a @ v).transpose(1, 2).flatten(2))


@wrong(
    "MultiHeadAttention",
    "With bias=False your layers have biases all the same.",
)
class BiasesAlways(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(d_model, d_model) for _ in range(4))
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(dim=-1).masked_fill(nothing, 0.0)
        heads = self.dropout(a) @ v
        return self.out_proj(heads.transpose(1, 2).flatten(2))


@wrong(
    "MultiHeadAttention",
    "Only out_proj has a bias. With bias=True all four layers have one.",
)
class BiasesForTheOutputAlone(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(d_model, d_model, bias=False) for _ in range(3))
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(dim=-1).masked_fill(nothing, 0.0)
        heads = self.dropout(a) @ v
        return self.out_proj(heads.transpose(1, 2).flatten(2))


@wrong(
    "MultiHeadAttention",
    "Your layers have no biases. With bias=True all four have one.",
)
class BiasesNever(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=False) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(dim=-1).masked_fill(nothing, 0.0)
        heads = self.dropout(a) @ v
        return self.out_proj(heads.transpose(1, 2).flatten(2))


@wrong(
    "MultiHeadAttention",
    "A width that cannot be divided, or fewer than one head, goes through the constructor. The error should come there, and name both numbers.",
)
class SizesNotChecked(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(dim=-1).masked_fill(nothing, 0.0)
        heads = self.dropout(a) @ v
        return self.out_proj(heads.transpose(1, 2).flatten(2))


@wrong(
    "MultiHeadAttention",
    "n_heads = 0 ends in a ZeroDivisionError, and a negative n_heads goes through. Below 1 there is no head: that should be a ValueError too.",
    "5 % 0 cannot be computed, and 12 % −3 is 0. Look at n_heads itself, before you divide.",
)
class HeadsBelowOneNotChecked(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(dim=-1).masked_fill(nothing, 0.0)
        heads = self.dropout(a) @ v
        return self.out_proj(heads.transpose(1, 2).flatten(2))


@wrong(
    "MultiHeadAttention",
    "You raise ValueError, but its message does not say which d_model and which n_heads did not fit.",
)
class ErrorWithoutTheNumbers(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError("d_model must be divisible by n_heads")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(dim=-1).masked_fill(nothing, 0.0)
        heads = self.dropout(a) @ v
        return self.out_proj(heads.transpose(1, 2).flatten(2))


@wrong(
    "MultiHeadAttention",
    "An assert gives an AssertionError, and vanishes when Python runs with -O. A wrong argument wants a ValueError.",
)
class CheckedByAssert(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        assert n_heads >= 1, f"d_model = {d_model}, n_heads = {n_heads}"
        assert d_model % n_heads == 0, f"d_model = {d_model}, n_heads = {n_heads}"
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        nothing = ~mask.any(dim=-1, keepdim=True)
        a = scores.masked_fill(~mask & ~nothing, float("-inf")).softmax(dim=-1).masked_fill(nothing, 0.0)
        heads = self.dropout(a) @ v
        return self.out_proj(heads.transpose(1, 2).flatten(2))


@right("MultiHeadAttention")
class AttentionHeadByHead(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.p = dropout

    def forward(self, query, key, value, mask=None):
        q, k, v = self.q_proj(query), self.k_proj(key), self.v_proj(value)
        N, L, D = q.shape
        if mask is None:
            mask = torch.ones(1, 1, 1, 1, dtype=torch.bool)
        mask = mask.unsqueeze(1) if mask.dim() == 3 else mask
        mask = mask.expand(N, self.n_heads, L, k.shape[1])
        pieces = []
        for i, own in enumerate(torch.arange(D).chunk(self.n_heads)):
            scores = torch.bmm(q[..., own], k[..., own].transpose(1, 2)) / len(own) ** 0.5
            e = torch.exp(scores - scores.max(dim=2, keepdim=True).values) * mask[:, i]
            total = e.sum(dim=2, keepdim=True)
            a = e / torch.where(total == 0, torch.ones_like(total), total)
            pieces.append(torch.bmm(nn.functional.dropout(a, self.p, self.training), v[..., own]))
        return self.out_proj(torch.cat(pieces, dim=2))


@right("MultiHeadAttention")
class AttentionByPyTorch(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).reshape(len(x), x.shape[1], self.n_heads, -1).permute(0, 2, 1, 3)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        if mask is not None and mask.dim() == 3:
            mask = mask[:, None]
        p = self.dropout.p if self.training else 0.0
        heads = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=p)
        return self.out_proj(heads.permute(0, 2, 1, 3).reshape(query.shape))


@right("MultiHeadAttention")
class AttentionByEinsum(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        def cut(x):
            return x.reshape(*x.shape[:2], self.n_heads, x.shape[2] // self.n_heads)

        q, k, v = cut(self.q_proj(query)), cut(self.k_proj(key)), cut(self.v_proj(value))
        scores = torch.einsum("nlhd,nshd->nhls", q, k) * q.shape[-1] ** -0.5
        seen = torch.ones_like(scores, dtype=torch.bool)
        if mask is not None:
            seen = seen & (mask[:, None] if mask.ndim == 3 else mask)
        lowest = torch.finfo(scores.dtype).min
        a = torch.softmax(torch.where(seen, scores, lowest), dim=-1) * seen.any(-1, keepdim=True)
        a = torch.dropout(a, self.dropout.p, self.training)
        return self.out_proj(torch.einsum("nhls,nshd->nlhd", a, v).flatten(2))


@right("MultiHeadAttention")
class AttentionWithNaNThatMaskedFillStops(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            proj(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for proj, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool)
        mask = mask[:, None] if mask.dim() == 3 else mask
        a = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1).nan_to_num(0.0)
        heads = self.dropout(a) @ v
        return self.out_proj(heads.transpose(1, 2).flatten(2))


@right("MultiHeadAttention")
class AttentionWithHeadsInTheBatch(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"d_model = {d_model}, n_heads = {n_heads}")
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        (N, L, D), S, h = query.shape, key.shape[1], self.n_heads
        q = self.q_proj(query).view(N, L, h, D // h).transpose(1, 2).reshape(N * h, L, D // h)
        k = self.k_proj(key).view(N, S, h, D // h).transpose(1, 2).reshape(N * h, S, D // h)
        v = self.v_proj(value).view(N, S, h, D // h).transpose(1, 2).reshape(N * h, S, D // h)
        scores = torch.baddbmm(torch.zeros(1, 1, 1, dtype=q.dtype), q, k.mT, beta=0, alpha=(D // h) ** -0.5)
        if mask is not None:
            if mask.dim() == 3:
                mask = mask.unsqueeze(1)
            hidden = ~mask.expand(N, h, L, S).reshape(N * h, L, S)
            blind = hidden.all(dim=2, keepdim=True)
            a = scores.masked_fill(hidden & ~blind, -torch.inf).softmax(2).masked_fill(hidden, 0)
        else:
            a = scores.softmax(2)
        heads = (self.dropout(a) @ v).view(N, h, L, D // h)
        return self.out_proj(heads.transpose(1, 2).reshape(N, L, D))


# ---------------------------------------------------------------------------------------------
# EncoderLayer. Without and with a mask; dropout that must do nothing in evaluation, and, with a probability of 1,
# leaves nothing but the input in training.
_LAYER = {"d_model": 6, "n_heads": 2, "d_ff": 5}
_REAL = np.array([[True] * 4, [True, True, False, False]])[:, None, None, :]  # (N, 1, 1, S) = (2, 1, 1, 4)
_SOURCE, _TARGET = 2 * _numbers(81, 2, 4, 6) + 1, 2 * _numbers(82, 2, 3, 6) + 1  # (N, S, d_model), (N, L, d_model)

probe("EncoderLayer", ModuleProbe(_LAYER, (_SOURCE,)))
probe("EncoderLayer", ModuleProbe(_LAYER | {"dropout": 0.5}, (_SOURCE, _REAL), gradients=False))
probe("EncoderLayer", ModuleProbe(_LAYER | {"dropout": 1.0}, (_SOURCE,), training=True, gradients=False))


@wrong(
    "EncoderLayer",
    "You normalise the sums: that is the layer of 2017, post-norm. Here the norm stands in front of each branch, and the sum stays as it is.",
    "Silence both branches in your mind: the layer should give back x itself.",
)
class NormAfterEachSum(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, source_mask=None):
        x = self.norm1(x + self.dropout(self.self_attention(x, x, x, source_mask)))
        return self.norm2(x + self.dropout(self.feed_forward(x)))


@wrong(
    "EncoderLayer",
    "What the attention finds takes the place of x. It should be added to it.",
)
class AttentionWithoutItsResidual(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, source_mask=None):
        n = self.norm1(x)
        x = self.dropout(self.self_attention(n, n, n, source_mask))
        return x + self.dropout(self.feed_forward(self.norm2(x)))


@wrong(
    "EncoderLayer",
    "What the feed-forward network computes takes the place of x. It should be added to it.",
)
class FeedForwardWithoutItsResidual(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, source_mask=None):
        n = self.norm1(x)
        x = x + self.dropout(self.self_attention(n, n, n, source_mask))
        return self.dropout(self.feed_forward(self.norm2(x)))


@wrong(
    "EncoderLayer",
    "You overwrite x with its norm, so the branches are added to the normalised x. The way around a branch should leave x untouched.",
    "Give what goes into a branch a name of its own.",
)
class NormalisedXIsKept(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, source_mask=None):
        x = self.norm1(x)
        x = x + self.dropout(self.self_attention(x, x, x, source_mask))
        x = self.norm2(x)
        return x + self.dropout(self.feed_forward(x))


@wrong(
    "EncoderLayer",
    "The feed-forward network's result is added to the normalised x. It should be added to x itself.",
)
class FeedForwardAddedToTheNorm(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, source_mask=None):
        n = self.norm1(x)
        x = x + self.dropout(self.self_attention(n, n, n, source_mask))
        n = self.norm2(x)
        return n + self.dropout(self.feed_forward(n))


@wrong(
    "EncoderLayer",
    "norm1 and norm2 have changed places. They are numbered in the order of use.",
)
class NormsChanged(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, source_mask=None):
        n = self.norm2(x)
        x = x + self.dropout(self.self_attention(n, n, n, source_mask))
        return x + self.dropout(self.feed_forward(self.norm1(x)))


@wrong(
    "EncoderLayer",
    "norm1 stands in front of both branches. Each branch has a norm of its own.",
)
class OneNormForBoth(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, source_mask=None):
        n = self.norm1(x)
        x = x + self.dropout(self.self_attention(n, n, n, source_mask))
        return x + self.dropout(self.feed_forward(self.norm1(x)))


@wrong(
    "EncoderLayer",
    "What goes into the feed-forward network is not normalised.",
)
class FeedForwardWithoutItsNorm(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, source_mask=None):
        n = self.norm1(x)
        x = x + self.dropout(self.self_attention(n, n, n, source_mask))
        return x + self.dropout(self.feed_forward(x))


@wrong(
    "EncoderLayer",
    "What goes into the attention is not normalised.",
)
class AttentionWithoutItsNorm(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, source_mask=None):
        x = x + self.dropout(self.self_attention(x, x, x, source_mask))
        return x + self.dropout(self.feed_forward(self.norm2(x)))


@wrong(
    "EncoderLayer",
    "Only the queries are normalised. In self-attention, queries, keys and values come from the same thing.",
)
class OnlyTheQueriesNormalised(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, source_mask=None):
        x = x + self.dropout(self.self_attention(self.norm1(x), x, x, source_mask))
        return x + self.dropout(self.feed_forward(self.norm2(x)))


@wrong(
    "EncoderLayer",
    "You normalise once more at the end. A stack of layers does that once, behind its last layer.",
)
class NormBehindTheLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, source_mask=None):
        n = self.norm1(x)
        x = x + self.dropout(self.self_attention(n, n, n, source_mask))
        return self.norm2(x + self.dropout(self.feed_forward(self.norm2(x))))


@wrong(
    "EncoderLayer",
    "You normalise what comes out of a branch. The norm stands in front of it: on what goes in.",
)
class NormOnWhatIsAdded(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, source_mask=None):
        x = x + self.dropout(self.norm1(self.self_attention(x, x, x, source_mask)))
        return x + self.dropout(self.norm2(self.feed_forward(x)))


@wrong(
    "EncoderLayer",
    "source_mask makes no difference: the attention never gets it.",
)
class SourceMaskForgotten(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, source_mask=None):
        n = self.norm1(x)
        x = x + self.dropout(self.self_attention(n, n, n))
        return x + self.dropout(self.feed_forward(self.norm2(x)))


@wrong(
    "EncoderLayer",
    "The feed-forward network works on the x from before the attention. It should work on what the attention has left.",
)
class BranchesSideBySide(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, source_mask=None):
        n = self.norm1(x)
        attended = self.dropout(self.self_attention(n, n, n, source_mask))
        return x + attended + self.dropout(self.feed_forward(self.norm2(x)))


@wrong(
    "EncoderLayer",
    "The feed-forward network comes first in your layer. First a word looks around, then it thinks.",
)
class FeedForwardFirst(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, source_mask=None):
        x = x + self.dropout(self.feed_forward(self.norm2(x)))
        n = self.norm1(x)
        return x + self.dropout(self.self_attention(n, n, n, source_mask))


@wrong(
    "EncoderLayer",
    "Nothing is dropped in training but attention weights: self.dropout is never called.",
)
class NothingDropped(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, source_mask=None):
        n = self.norm1(x)
        x = x + self.self_attention(n, n, n, source_mask)
        return x + self.feed_forward(self.norm2(x))


@wrong(
    "EncoderLayer",
    "Dropout is missing on the attention's branch.",
)
class AttentionBranchNotDropped(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, source_mask=None):
        n = self.norm1(x)
        x = x + self.self_attention(n, n, n, source_mask)
        return x + self.dropout(self.feed_forward(self.norm2(x)))


@wrong(
    "EncoderLayer",
    "Dropout is missing on the feed-forward network's branch.",
)
class FeedForwardBranchNotDropped(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, source_mask=None):
        n = self.norm1(x)
        x = x + self.dropout(self.self_attention(n, n, n, source_mask))
        return x + self.feed_forward(self.norm2(x))


@wrong(
    "EncoderLayer",
    "You drop numbers of the sum, and with them numbers of x. Dropout belongs on a branch, before it is added.",
)
class SumsDropped(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, source_mask=None):
        n = self.norm1(x)
        x = self.dropout(x + self.self_attention(n, n, n, source_mask))
        return self.dropout(x + self.feed_forward(self.norm2(x)))


@wrong(
    "EncoderLayer",
    "Branches are dropped in evaluation too. nn.functional.dropout drops unless it is told whether the module is training.",
)
class BranchesDroppedInEvaluation(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, source_mask=None):
        n = self.norm1(x)
        x = x + nn.functional.dropout(self.self_attention(n, n, n, source_mask), self.dropout.p)
        return x + nn.functional.dropout(self.feed_forward(self.norm2(x)), self.dropout.p)


@right("EncoderLayer")
class EncoderWithOneHelper(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, source_mask=None):
        def attend(n):
            return self.self_attention(n, n, n, mask=source_mask)

        for norm, branch in ((self.norm1, attend), (self.norm2, self.feed_forward)):
            x = x + self.dropout(branch(norm(x)))
        return x


@right("EncoderLayer")
class EncoderWithFunctions(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, source_mask=None):
        f = nn.functional

        def normalised(v, norm):
            spread = ((v - v.mean(-1, keepdim=True)) ** 2).mean(-1, keepdim=True)
            return (v - v.mean(-1, keepdim=True)) / torch.sqrt(spread + norm.eps) * norm.weight + norm.bias

        q = normalised(x, self.norm1)
        found = self.self_attention(query=q, key=q, value=q, mask=source_mask)
        x = x + f.dropout(found, self.dropout.p, training=self.training)
        first, _, last = self.feed_forward
        thought = last(f.relu(first(f.layer_norm(x, x.shape[-1:], self.norm2.weight, self.norm2.bias))))
        return x + f.dropout(thought, self.dropout.p, training=self.training)


@right("EncoderLayer")
class EncoderWithResidualsNamed(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, source_mask=None):
        residual = x
        x = self.norm1(x)
        x = self.self_attention(x, x, x, source_mask)
        x = residual + self.dropout(x)
        residual = x
        x = self.dropout(self.feed_forward(self.norm2(x)))
        return torch.add(x, residual)


# ---------------------------------------------------------------------------------------------
# DecoderLayer. Fewer target words than source words, and as many; a mask on each side.
_CAUSAL = np.tri(4, dtype=bool)
_EQUAL = 2 * _numbers(83, 2, 4, 6) + 1  # (N, L, d_model), L = S

probe("DecoderLayer", ModuleProbe(_LAYER, (_TARGET, _SOURCE, None, _REAL)))
probe("DecoderLayer", ModuleProbe(_LAYER, (_EQUAL, _SOURCE, _CAUSAL), gradients=False))
probe("DecoderLayer", ModuleProbe(_LAYER | {"dropout": 0.5}, (_EQUAL, _SOURCE, _CAUSAL, _REAL), gradients=False))
probe("DecoderLayer", ModuleProbe(_LAYER | {"dropout": 1.0}, (_TARGET, _SOURCE), training=True, gradients=False))


@wrong(
    "DecoderLayer",
    "You normalise the sums: that is the layer of 2017, post-norm. Here the norm stands in front of each branch, and the sum stays as it is.",
)
class NormAfterEachOfThreeSums(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.cross_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, y, memory, target_mask=None, source_mask=None):
        y = self.norm1(y + self.dropout(self.self_attention(y, y, y, target_mask)))
        y = self.norm2(y + self.dropout(self.cross_attention(y, memory, memory, source_mask)))
        return self.norm3(y + self.dropout(self.feed_forward(y)))


@wrong(
    "DecoderLayer",
    "You normalise the memory. It is used as it comes: the encoder has done that already.",
)
class MemoryNormalised(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.cross_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, y, memory, target_mask=None, source_mask=None):
        n = self.norm1(y)
        y = y + self.dropout(self.self_attention(n, n, n, target_mask))
        m = self.norm2(memory)
        y = y + self.dropout(self.cross_attention(self.norm2(y), m, m, source_mask))
        return y + self.dropout(self.feed_forward(self.norm3(y)))


@wrong(
    "DecoderLayer",
    "norm2 stands in front of the memory. It belongs to the queries, and the memory is used as it comes.",
)
class MemoryNormalisedAndNotTheQueries(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.cross_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, y, memory, target_mask=None, source_mask=None):
        n = self.norm1(y)
        y = y + self.dropout(self.self_attention(n, n, n, target_mask))
        m = self.norm2(memory)
        y = y + self.dropout(self.cross_attention(y, m, m, source_mask))
        return y + self.dropout(self.feed_forward(self.norm3(y)))


@wrong(
    "DecoderLayer",
    "The queries of the cross-attention are not normalised.",
)
class QueriesOfCrossAttentionNotNormalised(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.cross_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, y, memory, target_mask=None, source_mask=None):
        n = self.norm1(y)
        y = y + self.dropout(self.self_attention(n, n, n, target_mask))
        y = y + self.dropout(self.cross_attention(y, memory, memory, source_mask))
        return y + self.dropout(self.feed_forward(self.norm3(y)))


@wrong(
    "DecoderLayer",
    "The memory asks and the target answers: it should be the other way round. Each target word asks the source sentence.",
)
class QueriesFromTheMemory(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.cross_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, y, memory, target_mask=None, source_mask=None):
        n = self.norm1(y)
        y = y + self.dropout(self.self_attention(n, n, n, target_mask))
        n = self.norm2(y)
        y = y + self.dropout(self.cross_attention(memory, n, n, source_mask))
        return y + self.dropout(self.feed_forward(self.norm3(y)))


@wrong(
    "DecoderLayer",
    "The keys of the cross-attention come from the target. Keys and values both come from the memory.",
)
class KeysFromTheTarget(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.cross_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, y, memory, target_mask=None, source_mask=None):
        n = self.norm1(y)
        y = y + self.dropout(self.self_attention(n, n, n, target_mask))
        n = self.norm2(y)
        y = y + self.dropout(self.cross_attention(n, n, memory, source_mask))
        return y + self.dropout(self.feed_forward(self.norm3(y)))


@wrong(
    "DecoderLayer",
    "The values of the cross-attention come from the target. Keys and values both come from the memory.",
)
class ValuesFromTheTarget(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.cross_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, y, memory, target_mask=None, source_mask=None):
        n = self.norm1(y)
        y = y + self.dropout(self.self_attention(n, n, n, target_mask))
        n = self.norm2(y)
        y = y + self.dropout(self.cross_attention(n, memory, n, source_mask))
        return y + self.dropout(self.feed_forward(self.norm3(y)))


@wrong(
    "DecoderLayer",
    "The memory makes no difference: the second attention looks at the target once more. Then nothing of the source sentence is translated.",
)
class MemoryNeverUsed(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.cross_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, y, memory, target_mask=None, source_mask=None):
        n = self.norm1(y)
        y = y + self.dropout(self.self_attention(n, n, n, target_mask))
        n = self.norm2(y)
        y = y + self.dropout(self.cross_attention(n, n, n, source_mask))
        return y + self.dropout(self.feed_forward(self.norm3(y)))


@wrong(
    "DecoderLayer",
    "self_attention is used for both attentions, and cross_attention for none.",
)
class SelfAttentionUsedTwice(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.cross_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, y, memory, target_mask=None, source_mask=None):
        n = self.norm1(y)
        y = y + self.dropout(self.self_attention(n, n, n, target_mask))
        y = y + self.dropout(self.self_attention(self.norm2(y), memory, memory, source_mask))
        return y + self.dropout(self.feed_forward(self.norm3(y)))


@wrong(
    "DecoderLayer",
    "You normalise what comes out of a branch. The norm stands in front of it: on what goes in.",
)
class NormsOnWhatIsAdded(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.cross_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, y, memory, target_mask=None, source_mask=None):
        y = y + self.dropout(self.norm1(self.self_attention(y, y, y, target_mask)))
        y = y + self.dropout(self.norm2(self.cross_attention(y, memory, memory, source_mask)))
        return y + self.dropout(self.norm3(self.feed_forward(y)))


@wrong(
    "DecoderLayer",
    "target_mask makes no difference: a target word may look at those after it, which it is to predict.",
)
class TargetMaskForgotten(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.cross_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, y, memory, target_mask=None, source_mask=None):
        n = self.norm1(y)
        y = y + self.dropout(self.self_attention(n, n, n))
        y = y + self.dropout(self.cross_attention(self.norm2(y), memory, memory, source_mask))
        return y + self.dropout(self.feed_forward(self.norm3(y)))


@wrong(
    "DecoderLayer",
    "source_mask makes no difference: target words look at the padding of the source.",
)
class SourceMaskNotUsed(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.cross_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, y, memory, target_mask=None, source_mask=None):
        n = self.norm1(y)
        y = y + self.dropout(self.self_attention(n, n, n, target_mask))
        y = y + self.dropout(self.cross_attention(self.norm2(y), memory, memory))
        return y + self.dropout(self.feed_forward(self.norm3(y)))


@wrong(
    "DecoderLayer",
    "The two masks have changed places: target_mask is for the self-attention, source_mask for the cross-attention.",
)
class MasksChanged(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.cross_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, y, memory, target_mask=None, source_mask=None):
        n = self.norm1(y)
        y = y + self.dropout(self.self_attention(n, n, n, source_mask))
        y = y + self.dropout(self.cross_attention(self.norm2(y), memory, memory, target_mask))
        return y + self.dropout(self.feed_forward(self.norm3(y)))


@wrong(
    "DecoderLayer",
    "The self-attention gets source_mask. What is hidden in the target says target_mask.",
)
class SourceMaskForBothAttentions(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.cross_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, y, memory, target_mask=None, source_mask=None):
        n = self.norm1(y)
        y = y + self.dropout(self.self_attention(n, n, n, source_mask))
        y = y + self.dropout(self.cross_attention(self.norm2(y), memory, memory, source_mask))
        return y + self.dropout(self.feed_forward(self.norm3(y)))


@wrong(
    "DecoderLayer",
    "You make the self-attention causal yourself. That is the caller's choice: without a target_mask everything may be seen.",
)
class AlwaysCausal(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.cross_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, y, memory, target_mask=None, source_mask=None):
        n = self.norm1(y)
        causal = torch.ones(y.shape[1], y.shape[1], dtype=torch.bool).tril()
        y = y + self.dropout(self.self_attention(n, n, n, causal if target_mask is None else target_mask & causal))
        y = y + self.dropout(self.cross_attention(self.norm2(y), memory, memory, source_mask))
        return y + self.dropout(self.feed_forward(self.norm3(y)))


@wrong(
    "DecoderLayer",
    "What comes from the memory takes the place of y. It should be added to it.",
)
class CrossAttentionWithoutItsResidual(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.cross_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, y, memory, target_mask=None, source_mask=None):
        n = self.norm1(y)
        y = y + self.dropout(self.self_attention(n, n, n, target_mask))
        y = self.dropout(self.cross_attention(self.norm2(y), memory, memory, source_mask))
        return y + self.dropout(self.feed_forward(self.norm3(y)))


@wrong(
    "DecoderLayer",
    "What the self-attention finds takes the place of y. It should be added to it.",
)
class SelfAttentionWithoutItsResidual(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.cross_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, y, memory, target_mask=None, source_mask=None):
        n = self.norm1(y)
        y = self.dropout(self.self_attention(n, n, n, target_mask))
        y = y + self.dropout(self.cross_attention(self.norm2(y), memory, memory, source_mask))
        return y + self.dropout(self.feed_forward(self.norm3(y)))


@wrong(
    "DecoderLayer",
    "What the feed-forward network computes takes the place of y. It should be added to it.",
)
class LastBranchWithoutItsResidual(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.cross_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, y, memory, target_mask=None, source_mask=None):
        n = self.norm1(y)
        y = y + self.dropout(self.self_attention(n, n, n, target_mask))
        y = y + self.dropout(self.cross_attention(self.norm2(y), memory, memory, source_mask))
        return self.dropout(self.feed_forward(self.norm3(y)))


@wrong(
    "DecoderLayer",
    "You overwrite y with its norm, so the branches are added to the normalised y. The way around a branch should leave y untouched.",
    "Give what goes into a branch a name of its own.",
)
class NormalisedYIsKept(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.cross_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, y, memory, target_mask=None, source_mask=None):
        y = self.norm1(y)
        y = y + self.dropout(self.self_attention(y, y, y, target_mask))
        y = self.norm2(y)
        y = y + self.dropout(self.cross_attention(y, memory, memory, source_mask))
        y = self.norm3(y)
        return y + self.dropout(self.feed_forward(y))


@wrong(
    "DecoderLayer",
    "norm2 and norm3 have changed places. They are numbered in the order of use.",
)
class SecondAndThirdNormChanged(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.cross_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, y, memory, target_mask=None, source_mask=None):
        n = self.norm1(y)
        y = y + self.dropout(self.self_attention(n, n, n, target_mask))
        y = y + self.dropout(self.cross_attention(self.norm3(y), memory, memory, source_mask))
        return y + self.dropout(self.feed_forward(self.norm2(y)))


@wrong(
    "DecoderLayer",
    "The cross-attention comes first in your layer. First a target word looks at its own sentence, then at the source.",
)
class CrossAttentionFirst(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.cross_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, y, memory, target_mask=None, source_mask=None):
        y = y + self.dropout(self.cross_attention(self.norm2(y), memory, memory, source_mask))
        n = self.norm1(y)
        y = y + self.dropout(self.self_attention(n, n, n, target_mask))
        return y + self.dropout(self.feed_forward(self.norm3(y)))


@wrong(
    "DecoderLayer",
    "The cross-attention is never called: nothing of the source sentence arrives.",
)
class CrossAttentionLeftOut(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.cross_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, y, memory, target_mask=None, source_mask=None):
        n = self.norm1(y)
        y = y + self.dropout(self.self_attention(n, n, n, target_mask))
        return y + self.dropout(self.feed_forward(self.norm3(y)))


@wrong(
    "DecoderLayer",
    "Nothing is dropped in training but attention weights: self.dropout is never called.",
)
class NoBranchDropped(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.cross_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, y, memory, target_mask=None, source_mask=None):
        n = self.norm1(y)
        y = y + self.self_attention(n, n, n, target_mask)
        y = y + self.cross_attention(self.norm2(y), memory, memory, source_mask)
        return y + self.feed_forward(self.norm3(y))


@wrong(
    "DecoderLayer",
    "Dropout is missing on the cross-attention's branch.",
)
class CrossAttentionBranchNotDropped(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.cross_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, y, memory, target_mask=None, source_mask=None):
        n = self.norm1(y)
        y = y + self.dropout(self.self_attention(n, n, n, target_mask))
        y = y + self.cross_attention(self.norm2(y), memory, memory, source_mask)
        return y + self.dropout(self.feed_forward(self.norm3(y)))


@wrong(
    "DecoderLayer",
    "You drop numbers of the sum, and with them numbers of y. Dropout belongs on a branch, before it is added.",
)
class ThreeSumsDropped(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.cross_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, y, memory, target_mask=None, source_mask=None):
        n = self.norm1(y)
        y = self.dropout(y + self.self_attention(n, n, n, target_mask))
        y = self.dropout(y + self.cross_attention(self.norm2(y), memory, memory, source_mask))
        return self.dropout(y + self.feed_forward(self.norm3(y)))


@right("DecoderLayer")
class DecoderWithOneHelper(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.cross_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, y, memory, target_mask=None, source_mask=None):
        def add(y, norm, branch):
            return y + self.dropout(branch(norm(y)))

        y = add(y, self.norm1, lambda n: self.self_attention(n, n, n, target_mask))
        y = add(y, self.norm2, lambda n: self.cross_attention(n, memory, memory, source_mask))
        return add(y, self.norm3, self.feed_forward)


@right("DecoderLayer")
class DecoderInOneLineEach(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.cross_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, y, memory, target_mask=None, source_mask=None):
        q1 = self.norm1(y)
        y1 = y + self.dropout(self.self_attention(key=q1, value=q1, query=q1, mask=target_mask))
        y2 = y1 + self.dropout(self.cross_attention(self.norm2(y1), key=memory, value=memory, mask=source_mask))
        y3 = y2 + self.dropout(self.feed_forward(self.norm3(y2)))
        return y3


@right("DecoderLayer")
class DecoderWithFunctionsOfDropout(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.cross_attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, y, memory, target_mask=None, source_mask=None):
        f, p, drop = nn.functional, self.dropout.p, self.training
        n = f.layer_norm(y, (y.shape[-1],), self.norm1.weight, self.norm1.bias, self.norm1.eps)
        out = y + f.dropout(self.self_attention(n, n, n, target_mask), p, drop)
        out = out + f.dropout(self.cross_attention(self.norm2(out), memory, memory, source_mask), p, drop)
        thought = self.feed_forward[2](torch.clamp(self.feed_forward[0](self.norm3(out)), min=0))
        return out + f.dropout(thought, p, drop)
