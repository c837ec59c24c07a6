"""What people really answer in chapter 4, and what they need to hear."""

import numpy as np

from autograder.misconceptions import probe, right, wrong


def numbers(*shape, start=0, size=1.0):
    """Fixed numbers between -size and size without any symmetry, for probes."""
    places = np.arange(start, start + np.prod(shape, dtype=int))
    return np.round(size * np.sin(places * places * 0.7 + places + 0.5), 3).reshape(shape)


# ---------------------------------------------------------------------------------------------
# project_qkv. A batch whose sizes all differ; then everything square, where other products run too.
probe(
    "project_qkv",
    numbers(2, 3, 4),
    numbers(4, 5, start=30),
    numbers(4, 5, start=60),
    numbers(4, 1, start=90),
)
probe("project_qkv", numbers(3, 3), numbers(3, 3, start=10), numbers(3, 3, start=20), numbers(3, 3, start=30))


@wrong(
    "project_qkv",
    "Queries and keys have changed places: the first result asks, the second is found.",
)
def qkv_with_queries_and_keys_exchanged(X, W_q, W_k, W_v):
    return X @ W_k, X @ W_q, X @ W_v


@wrong("project_qkv", "Keys and values have changed places: the order is queries, keys, values.")
def qkv_with_keys_and_values_exchanged(X, W_q, W_k, W_v):
    return X @ W_q, X @ W_v, X @ W_k


@wrong(
    "project_qkv",
    "You multiply by the transposed tables. With square tables nothing complains, and the numbers are others.",
    "A table is (D, d_k): its rows go with the numbers of a row of X, as it stands.",
)
def qkv_with_transposed_tables(X, W_q, W_k, W_v):
    return X @ W_q.T, X @ W_k.T, X @ W_v.T


@wrong(
    "project_qkv",
    "Your results stand on end: one column for each word. Here vectors are rows, so a result has T rows.",
)
def qkv_as_columns(X, W_q, W_k, W_v):
    columns = np.swapaxes(X, -1, -2)
    return W_q.T @ columns, W_k.T @ columns, W_v.T @ columns


@wrong(
    "project_qkv",
    "Your keys are the queries once more. Look at which table each line uses: copied lines forget to change.",
)
def qkv_with_the_query_table_used_twice(X, W_q, W_k, W_v):
    return X @ W_q, X @ W_q, X @ W_v


@wrong(
    "project_qkv",
    "Your values are the rows of X as they came. They have a projection of their own.",
)
def qkv_with_values_left_unprojected(X, W_q, W_k, W_v):
    return X @ W_q, X @ W_k, X


@wrong("project_qkv", "You return one array with everything side by side. Three results are asked for: (Q, K, V).")
def qkv_in_one_array(X, W_q, W_k, W_v):
    return X @ np.concatenate([W_q, W_k, W_v], axis=1)


@wrong(
    "project_qkv",
    "The batch is gone: all its rows stand in one long table. The results keep the batch dimensions of X.",
)
def qkv_with_the_batch_flattened(X, W_q, W_k, W_v):
    rows = X.reshape(-1, X.shape[-1])
    return rows @ W_q, rows @ W_k, rows @ W_v


@wrong(
    "project_qkv",
    "Your queries are too small: the square root comes later, with the scores. Here there is only the projection.",
)
def qkv_scaled_too_early(X, W_q, W_k, W_v):
    return X @ W_q / np.sqrt(W_q.shape[1]), X @ W_k, X @ W_v


@wrong(
    "project_qkv",
    "You multiply entry by entry, with a star. A projection is a matrix product: a sum over the D numbers of a row.",
)
def qkv_multiplied_entry_by_entry(X, W_q, W_k, W_v):
    return X * W_q, X * W_k, X * W_v


@right("project_qkv")
def qkv_with_einsum(X, W_q, W_k, W_v):
    return tuple(np.einsum("...td,dk->...tk", X, W) for W in (W_q, W_k, W_v))


@right("project_qkv")
def qkv_in_one_product_and_split(X, W_q, W_k, W_v):
    together = X @ np.concatenate([W_q, W_k, W_v], axis=1)
    d_k = W_q.shape[1]
    return np.split(together, [d_k, 2 * d_k], axis=-1)


@right("project_qkv")
def qkv_row_by_row(X, W_q, W_k, W_v):
    results = []
    for W in (W_q, W_k, W_v):
        projected = np.zeros((*X.shape[:-1], W.shape[1]))
        for place in np.ndindex(X.shape[:-1]):
            for i in range(W.shape[0]):
                projected[place] += X[place][i] * W[i]
        results.append(projected)
    return results


@right("project_qkv")
def qkv_with_tensordot(X, W_q, W_k, W_v):
    def project(W):
        return np.tensordot(X, W, axes=(-1, 0))

    return project(W_q), project(W_k), project(W_v)


@right("project_qkv")
def qkv_with_torch(X, W_q, W_k, W_v):
    import torch

    x = torch.tensor(np.array(X))
    return tuple(torch.nn.functional.linear(x, torch.tensor(np.array(W)).T).numpy() for W in (W_q, W_k, W_v))


# ---------------------------------------------------------------------------------------------
# scaled_scores. One sentence; a batch; two batch axes; and a cube, where other products run too.
probe("scaled_scores", numbers(3, 4), numbers(5, 4, start=20))
probe("scaled_scores", numbers(2, 4, 3), numbers(2, 5, 3, start=30))
probe("scaled_scores", numbers(2, 1, 3, 4), numbers(2, 1, 5, 4, start=40))
probe("scaled_scores", numbers(3, 3, 3), numbers(3, 3, 3, start=30))


@wrong("scaled_scores", "Your scores are bare dot products. Something is still to divide by.")
def scores_unscaled(Q, K):
    return Q @ np.swapaxes(K, -1, -2)


@wrong(
    "scaled_scores",
    "You divide by d_k itself. That makes long vectors' scores all alike; it is the spread that should become 1.",
    "The variance of a dot product is d_k. Its spread is the root of that.",
)
def scores_divided_by_the_size_itself(Q, K):
    return Q @ np.swapaxes(K, -1, -2) / K.shape[-1]


@wrong(
    "scaled_scores",
    "You multiply by the root, or divide by one over it (a power of −0.5): the scores grow instead of shrinking.",
)
def scores_multiplied_by_the_root(Q, K):
    return Q @ np.swapaxes(K, -1, -2) / K.shape[-1] ** -0.5


@wrong(
    "scaled_scores",
    "You divide by the root of how many keys there are. A score should not change when another key is added.",
    "K is (..., S, d_k): its last axis counts the numbers in one key.",
)
def scores_scaled_by_the_number_of_keys(Q, K):
    return Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-2])


@wrong(
    "scaled_scores",
    "You divide by the root of the first size of K. That is the number of keys, or in a batch the number of sentences.",
    "d_k is counted by the last axis of K, with or without a batch.",
)
def scores_scaled_by_the_first_size(Q, K):
    return Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[0])


@wrong(
    "scaled_scores",
    "You divide by the root of K's second size. For one sentence that is d_k; in a batch it is the number of keys.",
    "Count the axes of K from the end.",
)
def scores_scaled_by_the_second_size(Q, K):
    return Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[1])


@wrong("scaled_scores", "You divide by the root of how many queries there are. What has that to do with one score?")
def scores_scaled_by_the_number_of_queries(Q, K):
    return Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-2])


@wrong(
    "scaled_scores",
    "`.T` turns all axes of a batch around, the batch itself included. Only the last two should change places.",
)
def scores_with_all_axes_turned(Q, K):
    return Q @ K.T / np.sqrt(K.shape[-1])


@wrong(
    "scaled_scores",
    "`np.dot` takes every sentence of a batch with every other, so an axis too many appears. Each meets only its own keys.",
)
def scores_of_every_sentence_with_every_other(Q, K):
    return np.dot(Q, np.swapaxes(K, -1, -2)) / np.sqrt(K.shape[-1])


@wrong(
    "scaled_scores",
    "It works for exactly one batch axis. The shapes begin with `...`: there may be none, or several.",
)
def scores_for_one_batch_axis_only(Q, K):
    return Q @ K.transpose(0, 2, 1) / np.sqrt(K.shape[-1])


@wrong(
    "scaled_scores",
    "Your keys are reshaped, not transposed: the shape fits, but the numbers of different keys are mixed up.",
)
def scores_with_reshaped_keys(Q, K):
    return Q @ K.reshape(*K.shape[:-2], K.shape[-1], K.shape[-2]) / np.sqrt(K.shape[-1])


@wrong("scaled_scores", "Your table is turned: there should be one row for each query, and one column for each key.")
def scores_with_keys_in_the_rows(Q, K):
    return K @ np.swapaxes(Q, -1, -2) / np.sqrt(K.shape[-1])


@wrong("scaled_scores", "You return weights: the softmax has run already. Here the scores are asked for.")
def scores_after_the_softmax(Q, K):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@wrong(
    "scaled_scores",
    "You divide by the lengths of the vectors: cosine scores. Here the divisor is the same for all, and made of d_k alone.",
)
def scores_as_cosines(Q, K):
    q = Q / np.linalg.norm(Q, axis=-1, keepdims=True)
    k = K / np.linalg.norm(K, axis=-1, keepdims=True)
    return q @ np.swapaxes(k, -1, -2)


@wrong("scaled_scores", "Q has changed: your answer divides the array that it was given.")
def scores_that_write_into_the_queries(Q, K):
    Q /= np.sqrt(K.shape[-1])
    return Q @ np.swapaxes(K, -1, -2)


@right("scaled_scores")
def scores_with_einsum(Q, K):
    return np.einsum("...ld,...sd->...ls", Q, K) * K.shape[-1] ** -0.5


@right("scaled_scores")
def scores_with_both_sides_scaled(Q, K):
    share = K.shape[-1] ** 0.25  # the root of the root, on each side
    return np.matmul(Q / share, np.moveaxis(K / share, -1, -2))


@right("scaled_scores")
def scores_pair_by_pair(Q, K):
    d_k = Q.shape[-1]
    scores = np.zeros((*Q.shape[:-1], K.shape[-2]))
    for place in np.ndindex(Q.shape[:-1]):
        for j in range(K.shape[-2]):
            key = K[place[:-1]][j]
            scores[place][j] = sum(Q[place][i] * key[i] for i in range(d_k)) / d_k**0.5
    return scores


@right("scaled_scores")
def scores_by_broadcasting(Q, K):
    return (Q[..., :, None, :] * K[..., None, :, :]).sum(axis=-1) / np.sqrt(Q.shape[-1])


@right("scaled_scores")
def scores_with_torch(Q, K):
    import math

    import torch

    q, k = torch.tensor(np.array(Q)), torch.tensor(np.array(K))
    return (q @ k.transpose(-2, -1) / math.sqrt(k.size(-1))).numpy()


# ---------------------------------------------------------------------------------------------
# entropy. Rows with zeros; a batch without any; one row alone; a row that has nearly decided.
probe("entropy", np.array([[0.5, 0.5, 0.0], [0.1, 0.2, 0.7], [0.0, 1.0, 0.0], [0.25, 0.0, 0.75]]))
probe("entropy", np.array([[[0.5, 0.25, 0.125, 0.125], [0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1]]] * 2))
probe("entropy", np.array([0.1, 0.2, 0.7]))
probe("entropy", np.array([1 - 3e-6, 1e-6, 2e-6]))


@wrong("entropy", "Your unit is the bit: the logarithm to base 2. Here the natural logarithm is asked for.")
def entropy_in_bits(a):
    return -np.sum(a * np.log2(np.where(a > 0, a, 1)), axis=-1)


@wrong("entropy", "Your unit comes from the logarithm to base 10. Here the natural logarithm is asked for.")
def entropy_in_decimal_units(a):
    return -np.sum(a * np.log10(np.where(a > 0, a, 1)), axis=-1)


@wrong(
    "entropy",
    "Rows with a weight of 0 give nan: log 0 is −∞, and 0 · (−∞) is no number. Such a weight should add nothing.",
)
def entropy_with_zero_times_infinity(a):
    return -np.sum(a * np.log(a), axis=-1)


@wrong(
    "entropy",
    "NumPy has something to warn about: a logarithm of 0 is taken, and mended afterwards.",
    "See to it that the logarithm never meets a 0.",
)
def entropy_with_a_warning(a):
    return -np.nansum(a * np.log(a), axis=-1)


@wrong("entropy", "The sign is missing: logarithms of weights are negative, and an entropy is not.")
def entropy_with_the_other_sign(a):
    return np.sum(a * np.log(np.where(a > 0, a, 1)), axis=-1)


@wrong("entropy", "You take the mean over the keys where the sum belongs: the weights average already.")
def entropy_as_a_mean(a):
    return -np.mean(a * np.log(np.where(a > 0, a, 1)), axis=-1)


@wrong(
    "entropy",
    "All rows are added up into one number. Each row along the last axis has an entropy of its own.",
    "Picking out the positive weights with a[a > 0] makes one flat list, and the rows are lost.",
)
def entropy_of_all_rows_together(a):
    positive = a[a > 0]
    return -np.sum(positive * np.log(positive))


@wrong("entropy", "You sum along the first axis. The weights of one row lie along the last one.")
def entropy_down_the_columns(a):
    return -np.sum(a * np.log(np.where(a > 0, a, 1)), axis=0)


@wrong(
    "entropy",
    "You sum along axis 1. In a batch that is not the last axis, and a single row has no such axis at all.",
)
def entropy_along_axis_1(a):
    return -np.sum(a * np.log(np.where(a > 0, a, 1)), axis=1)


@wrong(
    "entropy",
    "The small number that you add inside the logarithm shifts every value: rows that have decided come out below 0.",
    "Leave the zeros out of the logarithm, and add nothing to the other weights.",
)
def entropy_with_a_millionth_added(a):
    return -np.sum(a * np.log(a + 1e-6), axis=-1)


@wrong(
    "entropy",
    "The small number that you add inside the logarithm still shows in rows that have nearly decided: their entropy is small too.",
    "Leave the zeros out of the logarithm, and add nothing to the other weights.",
)
def entropy_with_a_hundred_millionth_added(a):
    return -np.sum(a * np.log(a + 1e-8), axis=-1)


@wrong(
    "entropy",
    "You return e to the entropy, which is how many keys are looked at. The entropy itself is asked for.",
)
def entropy_as_a_number_of_keys(a):
    return np.exp(-np.sum(a * np.log(np.where(a > 0, a, 1)), axis=-1))


@wrong(
    "entropy",
    "You divide by the largest entropy possible, so that your numbers end at 1. Here the unit is the nat.",
)
def entropy_as_a_share_of_the_largest(a):
    return -np.sum(a * np.log(np.where(a > 0, a, 1)), axis=-1) / np.log(a.shape[-1])


@wrong("entropy", "Each logarithm is to be multiplied by its weight before the sum: a weight of 0 then adds nothing.")
def entropy_without_the_weights_in_front(a):
    return -np.sum(np.log(np.where(a > 0, a, 1)), axis=-1)


@wrong("entropy", "An axis of length 1 is left over. The result has one number for each row: the last axis is gone.")
def entropy_with_an_axis_left_over(a):
    return -np.sum(a * np.log(np.where(a > 0, a, 1)), axis=-1, keepdims=True)


@wrong("entropy", "a has changed: your answer writes into the weights that it was given.")
def entropy_that_writes_into_the_weights(a):
    a[a == 0] = 1
    return -np.sum(a * np.log(a), axis=-1)


@wrong("entropy", "That is one minus the sum of squares, another measure of how undecided a row is. Use the logarithm.")
def entropy_with_squares(a):
    return 1 - np.sum(a * a, axis=-1)


@right("entropy")
def entropy_with_the_log_where_it_exists(a):
    log_a = np.log(a, out=np.zeros(a.shape, dtype=a.dtype), where=a > 0)
    return -(a * log_a).sum(axis=-1)


@right("entropy")
def entropy_number_by_number(a):
    import math

    if a.ndim > 1:
        return np.array([entropy_number_by_number(rows) for rows in a])
    return -math.fsum(float(x) * math.log(x) for x in a if x > 0)


@right("entropy")
def entropy_without_warnings_while_it_works(a):
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = a * np.log(a)
    return -np.nan_to_num(parts).sum(axis=-1)


@right("entropy")
def entropy_with_a_floor_far_below_any_weight(a):
    return -np.einsum("...s,...s->...", a, np.log(np.maximum(a, np.finfo(a.dtype).tiny)))


@right("entropy")
def entropy_with_a_guard_too_small_to_show(a):
    return np.sum(a * -np.log(a + 1e-12), axis=-1)


@right("entropy")
def entropy_with_torch(a):
    import torch

    return torch.special.entr(torch.tensor(np.array(a))).sum(dim=-1).numpy()


# ---------------------------------------------------------------------------------------------
# saturated_share. A batch of unequal sizes; a threshold that some rows meet exactly; one row alone.
probe(
    "saturated_share",
    np.array(
        [
            [[0.995, 0.005, 0.0, 0.0], [0.4, 0.3, 0.2, 0.1], [0.0, 0.0, 0.001, 0.999]],
            [[0.1, 0.9, 0.0, 0.0], [0.0, 0.992, 0.004, 0.004], [0.7, 0.1, 0.1, 0.1]],
        ]
    ),
)
probe(
    "saturated_share",
    np.array([[0.5, 0.5, 0.0], [0.75, 0.125, 0.125], [0.4, 0.4, 0.2], [0.0, 0.0, 1.0], [0.25, 0.5, 0.25]]),
    threshold=0.5,
)
probe("saturated_share", np.array([0.0, 0.995, 0.005]))


@wrong(
    "saturated_share",
    "A largest weight of exactly the threshold counts in your answer. It should be above it.",
)
def share_from_the_threshold_on(a, threshold=0.99):
    return float(np.mean(np.max(a, axis=-1) >= threshold))


@wrong(
    "saturated_share",
    "You count weights, not rows: your share is taken of all numbers in the table.",
    "First find one number for each row: its largest weight.",
)
def share_of_the_weights(a, threshold=0.99):
    return float(np.mean(a > threshold))


@wrong("saturated_share", "You return a percentage. A share lies between 0 and 1.")
def share_in_percent(a, threshold=0.99):
    return float(100 * np.mean(np.max(a, axis=-1) > threshold))


@wrong("saturated_share", "You return how many rows there are. Of how many? A share is asked for.")
def share_as_a_count(a, threshold=0.99):
    return float(np.sum(np.max(a, axis=-1) > threshold))


@wrong(
    "saturated_share",
    "You return the mean of the largest weights. The question is how many of them are above the threshold.",
)
def share_as_the_mean_of_the_largest(a, threshold=0.99):
    return float(np.mean(np.max(a, axis=-1)))


@wrong("saturated_share", "Your answer does not listen to the threshold: 0.99 is only what it is when nobody says so.")
def share_with_a_fixed_threshold(a, threshold=0.99):
    return float(np.mean(np.max(a, axis=-1) > 0.99))


@wrong("saturated_share", "You return the share of the rows that are not saturated.")
def share_of_the_undecided(a, threshold=0.99):
    return float(np.mean(np.max(a, axis=-1) <= threshold))


@wrong("saturated_share", "You look for the largest weight along the first axis. A row lies along the last one.")
def share_of_the_columns(a, threshold=0.99):
    return float(np.mean(np.max(a, axis=0) > threshold))


@wrong(
    "saturated_share",
    "You look for the largest weight along axis 1. In a batch that is not the last axis, and a single row has no such axis.",
)
def share_along_axis_1(a, threshold=0.99):
    return float(np.mean(np.max(a, axis=1) > threshold))


@wrong("saturated_share", "You return one share for each part of the batch. All rows count alike, in one number.")
def share_for_each_part_of_the_batch(a, threshold=0.99):
    return np.mean(np.max(a, axis=-1) > threshold, axis=-1)


@wrong(
    "saturated_share",
    "You divide by the first size of a. That is the number of rows only when a has two axes.",
)
def share_divided_by_the_first_size(a, threshold=0.99):
    return float(np.sum(np.max(a, axis=-1) > threshold) / len(a))


@wrong("saturated_share", "You look at the first part of the batch alone.")
def share_of_the_first_part(a, threshold=0.99):
    first = a[0] if a.ndim > 2 else a
    return float(np.mean(np.max(first, axis=-1) > threshold))


@wrong("saturated_share", "You say whether there is such a row at all. The question is which share of the rows it is.")
def share_as_yes_or_no(a, threshold=0.99):
    return bool(np.any(a > threshold))


@wrong("saturated_share", "You look at the smallest weight of a row. Saturated means that the largest is near 1.")
def share_by_the_smallest(a, threshold=0.99):
    return float(np.mean(np.min(a, axis=-1) > threshold))


@wrong("saturated_share", "You return true or false for every row. How large a share of them is true?")
def share_not_yet_averaged(a, threshold=0.99):
    return np.max(a, axis=-1) > threshold


@right("saturated_share")
def share_row_by_row(a, threshold=0.99):
    rows = a.reshape(-1, a.shape[-1])
    saturated = 0
    for row in rows:
        if max(row) > threshold:
            saturated += 1
    return saturated / len(rows)


@right("saturated_share")
def share_of_rows_with_any_weight_above(a, threshold=0.99):
    return np.mean(np.any(a > threshold, axis=-1))


@right("saturated_share")
def share_with_sorted_rows(a, threshold=0.99):
    largest = np.sort(a, axis=-1)[..., -1]
    return np.count_nonzero(largest > threshold) / largest.size


@right("saturated_share")
def share_with_torch(a, threshold=0.99):
    import torch

    return (torch.tensor(np.array(a)).amax(dim=-1) > threshold).double().mean().item()


# ---------------------------------------------------------------------------------------------
# scaled_dot_product_attention. One sentence; a batch; two batch axes; a cube, where other products run
# too; and scores in the thousands.
probe("scaled_dot_product_attention", numbers(3, 4, size=2), numbers(5, 4, start=20, size=2), numbers(5, 2, start=50))
probe(
    "scaled_dot_product_attention",
    numbers(2, 4, 3, size=2),
    numbers(2, 5, 3, start=30, size=2),
    numbers(2, 5, 6, start=70),
)
probe(
    "scaled_dot_product_attention",
    numbers(2, 1, 3, 4, size=2),
    numbers(2, 1, 5, 4, start=40, size=2),
    numbers(2, 1, 5, 2, start=90),
)
probe(
    "scaled_dot_product_attention",
    numbers(3, 3, 3, size=2),
    numbers(3, 3, 3, start=30, size=2),
    numbers(3, 3, 3, start=60),
)
probe(
    "scaled_dot_product_attention",
    numbers(2, 3, size=90),
    numbers(4, 3, start=30, size=90),
    numbers(4, 1, start=60),
)


@wrong("scaled_dot_product_attention", "The scores are not scaled: a bare dot product goes into the softmax.")
def attention_unscaled(Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    a = e / e.sum(axis=-1, keepdims=True)
    return a @ V, a


@wrong(
    "scaled_dot_product_attention",
    "The scores are divided by d_k in all: by d_k itself, or twice by its root (scaled_scores has divided already). Once by the root keeps the spread at 1.",
)
def attention_scaled_by_the_size_itself(Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) / K.shape[-1]
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    a = e / e.sum(axis=-1, keepdims=True)
    return a @ V, a


@wrong(
    "scaled_dot_product_attention",
    "You multiply by the root, or divide by one over it (a power of −0.5): the choice becomes harder, not softer.",
)
def attention_multiplied_by_the_root(Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) * np.sqrt(K.shape[-1])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    a = e / e.sum(axis=-1, keepdims=True)
    return a @ V, a


@wrong(
    "scaled_dot_product_attention",
    "You divide by the root of the values' size. Values have no part in a score; the keys' size counts.",
)
def attention_scaled_by_the_size_of_a_value(Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(V.shape[-1])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    a = e / e.sum(axis=-1, keepdims=True)
    return a @ V, a


@wrong(
    "scaled_dot_product_attention",
    "You divide by the root of how many keys there are. The size of one key is meant: K's last axis.",
)
def attention_scaled_by_the_number_of_keys(Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-2])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    a = e / e.sum(axis=-1, keepdims=True)
    return a @ V, a


@wrong(
    "scaled_dot_product_attention",
    "You divide by the root of K's first size: the number of keys, or in a batch the number of sentences.",
    "d_k is counted by the last axis of K, with or without a batch.",
)
def attention_scaled_by_the_first_size(Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[0])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    a = e / e.sum(axis=-1, keepdims=True)
    return a @ V, a


@wrong(
    "scaled_dot_product_attention",
    "You divide by the root of K's second size. For one sentence that is d_k; in a batch it is the number of keys.",
)
def attention_scaled_by_the_second_size(Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[1])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    a = e / e.sum(axis=-1, keepdims=True)
    return a @ V, a


@wrong(
    "scaled_dot_product_attention",
    "The softmax runs over the queries, so that each key's weights sum to 1. Each query's weights should, over the keys.",
)
def attention_with_softmax_over_the_queries(Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1])
    e = np.exp(s - s.max(axis=-2, keepdims=True))
    a = e / e.sum(axis=-2, keepdims=True)
    return a @ V, a


@wrong(
    "scaled_dot_product_attention",
    "The softmax runs along axis 0: over the queries, or in a batch over the sentences. It should run over the keys.",
)
def attention_with_softmax_along_axis_0(Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1])
    e = np.exp(s - s.max(axis=0, keepdims=True))
    a = e / e.sum(axis=0, keepdims=True)
    return a @ V, a


@wrong(
    "scaled_dot_product_attention",
    "The softmax runs along axis 1. For one sentence these are the keys; in a batch they are not.",
    "Count the axis from the end.",
)
def attention_with_softmax_along_axis_1(Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1])
    e = np.exp(s - s.max(axis=1, keepdims=True))
    a = e / e.sum(axis=1, keepdims=True)
    return a @ V, a


@wrong(
    "scaled_dot_product_attention",
    "All weights together share one sum of 1. Each query should have a sum of 1 for itself.",
)
def attention_with_softmax_over_everything(Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1])
    e = np.exp(s - s.max())
    a = e / e.sum()
    return a @ V, a


@wrong("scaled_dot_product_attention", "The softmax is missing: the scores themselves weigh the values.")
def attention_without_softmax(Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1])
    return s @ V, s


@wrong("scaled_dot_product_attention", "The two results have changed places: the output first, the weights second.")
def attention_returning_the_weights_first(Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    a = e / e.sum(axis=-1, keepdims=True)
    return a, a @ V


@wrong("scaled_dot_product_attention", "You return the output alone. The weights are asked for too.")
def attention_returning_the_output_only(Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    a = e / e.sum(axis=-1, keepdims=True)
    return a @ V


@wrong(
    "scaled_dot_product_attention",
    "The second result holds the scores. The weights are what the softmax makes of them.",
)
def attention_returning_the_scores(Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    a = e / e.sum(axis=-1, keepdims=True)
    return a @ V, s


@wrong(
    "scaled_dot_product_attention",
    "The weights mix the keys. A key is there to be found; what is read is the value.",
)
def attention_reading_the_keys(Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    a = e / e.sum(axis=-1, keepdims=True)
    return a @ K, a


@wrong(
    "scaled_dot_product_attention",
    "The values are scaled as well. Only the scores are divided, before the softmax.",
)
def attention_with_scaled_values(Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    a = e / e.sum(axis=-1, keepdims=True)
    return a @ V / np.sqrt(K.shape[-1]), a


@wrong(
    "scaled_dot_product_attention",
    "You divide after the softmax: the weights no longer sum to 1, and the choice is as hard as before.",
)
def attention_scaled_after_the_softmax(Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    a = e / e.sum(axis=-1, keepdims=True) / np.sqrt(K.shape[-1])
    return a @ V, a


@wrong(
    "scaled_dot_product_attention",
    "The output is divided by the number of keys. The weights sum to 1: a weighted sum is an average as it stands.",
)
def attention_averaging_a_second_time(Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    a = e / e.sum(axis=-1, keepdims=True)
    return a @ V / K.shape[-2], a


@wrong(
    "scaled_dot_product_attention",
    "Queries and keys have changed places in the scores. Each row of the table belongs to a query, each column to a key.",
)
def attention_with_the_keys_asking(Q, K, V):
    s = K @ np.swapaxes(Q, -1, -2) / np.sqrt(K.shape[-1])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    a = e / e.sum(axis=-1, keepdims=True)
    return a @ V, a


@wrong(
    "scaled_dot_product_attention",
    "`.T` turns all axes of a batch around, the batch itself included. Only the last two should change places.",
)
def attention_with_all_axes_turned(Q, K, V):
    s = Q @ K.T / np.sqrt(K.shape[-1])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    a = e / e.sum(axis=-1, keepdims=True)
    return a @ V, a


@wrong(
    "scaled_dot_product_attention",
    "It works for exactly one batch axis. The shapes begin with `...`: there may be none, or several.",
)
def attention_for_one_batch_axis_only(Q, K, V):
    s = np.einsum("nld,nsd->nls", Q, K) / np.sqrt(K.shape[-1])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    a = e / e.sum(axis=-1, keepdims=True)
    return np.einsum("nls,nsd->nld", a, V), a


@wrong(
    "scaled_dot_product_attention",
    "The last product is `np.dot`: it takes every sentence's weights with every sentence's values. Each has only its own.",
)
def attention_reading_all_sentences(Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    a = e / e.sum(axis=-1, keepdims=True)
    return np.dot(a, V), a


@wrong(
    "scaled_dot_product_attention",
    "Large scores give nan: no maximum is subtracted before exp. The softmax of this notebook knows how.",
)
def attention_that_overflows(Q, K, V):
    e = np.exp(Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1]))
    a = e / e.sum(axis=-1, keepdims=True)
    return a @ V, a


@wrong("scaled_dot_product_attention", "You take the one best value. Attention mixes all of them, each by its weight.")
def attention_choosing_one_value(Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1])
    a = np.eye(K.shape[-2])[s.argmax(axis=-1)]
    return a @ V, a


@wrong(
    "scaled_dot_product_attention",
    "Q has changed: your answer divides the array that it was given.",
)
def attention_that_writes_into_the_queries(Q, K, V):
    Q /= np.sqrt(K.shape[-1])
    s = Q @ np.swapaxes(K, -1, -2)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    a = e / e.sum(axis=-1, keepdims=True)
    return a @ V, a


@right("scaled_dot_product_attention")
def attention_with_einsum(Q, K, V):
    s = np.einsum("...ld,...sd->...ls", Q, K) / K.shape[-1] ** 0.5
    e = np.exp(s - np.max(s, axis=-1, keepdims=True))
    a = e / np.einsum("...s->...", e)[..., None]
    return [np.einsum("...ls,...sv->...lv", a, V), a]


@right("scaled_dot_product_attention")
def attention_query_by_query(Q, K, V):
    out = np.zeros((*Q.shape[:-1], V.shape[-1]))
    a = np.zeros((*Q.shape[:-1], K.shape[-2]))
    for place in np.ndindex(Q.shape[:-1]):
        batch = place[:-1]
        s = K[batch] @ Q[place] / np.sqrt(Q.shape[-1])
        e = np.exp(s - s.max())
        a[place] = e / e.sum()
        for j, value in enumerate(V[batch]):
            out[place] += a[place][j] * value
    return out, a


@right("scaled_dot_product_attention")
def attention_from_the_answers_above(Q, K, V):
    weights = softmax(scaled_scores(Q, K))
    return np.matmul(weights, V), weights


@right("scaled_dot_product_attention")
def attention_sentence_by_sentence(Q, K, V):
    if Q.ndim > 2:
        pairs = [attention_sentence_by_sentence(*parts) for parts in zip(Q, K, V, strict=True)]
        return np.array([out for out, _ in pairs]), np.array([a for _, a in pairs])
    a = softmax((K @ Q.T).T / np.sqrt(Q.shape[1]), axis=1)
    return a @ V, a


@right("scaled_dot_product_attention")
def attention_with_torch(Q, K, V):
    import torch

    q, k, v = (torch.tensor(np.array(x)) for x in (Q, K, V))
    a = torch.softmax(q @ k.mT / k.shape[-1] ** 0.5, dim=-1)
    return (a @ v).numpy(), a.numpy()


# ---------------------------------------------------------------------------------------------
# repaired_attention. One sentence; a batch; two batch axes; a cube; and scores in the thousands.
probe("repaired_attention", numbers(3, 4, size=2), numbers(5, 4, start=20, size=2), numbers(5, 2, start=50))
probe(
    "repaired_attention",
    numbers(2, 4, 3, size=2),
    numbers(2, 5, 3, start=30, size=2),
    numbers(2, 5, 6, start=70),
)
probe(
    "repaired_attention",
    numbers(2, 1, 3, 4, size=2),
    numbers(2, 1, 5, 4, start=40, size=2),
    numbers(2, 1, 5, 2, start=90),
)
probe("repaired_attention", numbers(3, 3, 3, size=2), numbers(3, 3, 3, start=30, size=2), numbers(3, 3, 3, start=60))
probe("repaired_attention", numbers(2, 3, size=90), numbers(4, 3, start=30, size=90), numbers(4, 1, start=60))


@wrong(
    "repaired_attention",
    "This still is the note's function: the divisor, the softmax and the products for a batch all wait to be mended.",
)
def repaired_not_at_all(Q, K, V):
    e = np.exp(np.dot(Q, K.T) / np.sqrt(K.shape[0]))
    return np.dot(e / np.sum(e), V)


@wrong(
    "repaired_attention",
    "The divisor is mended, the softmax is not: all weights together share one sum of 1, and so your outputs are too small.",
)
def repaired_but_for_softmax_and_batch(Q, K, V):
    e = np.exp(np.dot(Q, K.T) / np.sqrt(K.shape[-1]))
    return np.dot(e / np.sum(e), V)


@wrong(
    "repaired_attention",
    "A batch is still beyond your answer: look at what `.T` and `np.dot` do with three axes.",
)
def repaired_for_a_single_sentence(Q, K, V):
    s = np.dot(Q, K.T) / np.sqrt(K.shape[-1])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return np.dot(e / e.sum(axis=-1, keepdims=True), V)


@wrong(
    "repaired_attention",
    "The divisor is still the root of K's first size: the number of keys, or in a batch the number of sentences.",
    "The comment in the note says what the divisor is meant to be. Which axis of K counts that?",
)
def repaired_but_for_the_divisor(Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[0])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ V


@wrong(
    "repaired_attention",
    "The divisor is mended for one sentence only: in a batch K's second size is the number of keys.",
    "Count the axes of K from the end.",
)
def repaired_with_the_second_size(Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[1])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ V


@wrong(
    "repaired_attention",
    "You divide by the root of how many keys there are, batch or no batch. The size of one key is meant.",
)
def repaired_with_the_number_of_keys(Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-2])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ V


@wrong("repaired_attention", "You divide by the root of a value's size. The note means the dimension of the key.")
def repaired_with_the_size_of_a_value(Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(V.shape[-1])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ V


@wrong(
    "repaired_attention",
    "The scores are divided by d_k in all: the root got lost, or is taken twice (scaled_scores has divided already).",
)
def repaired_without_the_root(Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) / K.shape[-1]
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ V


@wrong("repaired_attention", "The wrong divisor is gone, and no other has come: the scores are not scaled any more.")
def repaired_without_a_divisor(Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ V


@wrong(
    "repaired_attention",
    "The softmax is not mended: all weights together share one sum of 1. Each query should have a sum of 1 for itself.",
)
def repaired_but_for_the_softmax(Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1])
    e = np.exp(s - s.max())
    return e / e.sum() @ V


@wrong(
    "repaired_attention",
    "Your softmax runs along axis 1. For one sentence these are the keys; in a batch they are not.",
    "Count the axis from the end.",
)
def repaired_with_softmax_along_axis_1(Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1])
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True) @ V


@wrong(
    "repaired_attention",
    "Your softmax runs along axis 0: over the queries, or in a batch over the sentences. It should run over the keys.",
)
def repaired_with_softmax_along_axis_0(Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1])
    e = np.exp(s - s.max(axis=0, keepdims=True))
    return e / e.sum(axis=0, keepdims=True) @ V


@wrong(
    "repaired_attention",
    "Your softmax runs over the queries, so that each key's weights sum to 1. Each query's weights should.",
)
def repaired_with_softmax_over_the_queries(Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1])
    e = np.exp(s - s.max(axis=-2, keepdims=True))
    return e / e.sum(axis=-2, keepdims=True) @ V


@wrong(
    "repaired_attention",
    "`.T` is still there. It turns all axes of a batch around; only the last two should change places.",
)
def repaired_but_for_the_transpose(Q, K, V):
    s = Q @ K.T / np.sqrt(K.shape[-1])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ V


@wrong(
    "repaired_attention",
    "The last `np.dot` is still there. It takes every sentence's weights with every sentence's values, and an axis too many appears.",
)
def repaired_but_for_the_last_product(Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return np.dot(e / e.sum(axis=-1, keepdims=True), V)


@wrong(
    "repaired_attention",
    "Both products still are `np.dot`. It takes every sentence with every other, and each time an axis too many appears.",
)
def repaired_with_both_products_by_dot(Q, K, V):
    s = np.dot(Q, np.swapaxes(K, -1, -2)) / np.sqrt(K.shape[-1])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return np.dot(e / e.sum(axis=-1, keepdims=True), V)


@wrong(
    "repaired_attention",
    "Your sums over the keys lose their axis, so that they do not line up with the rows they should divide.",
    "A sum has an argument with which the axis stays, of size 1.",
)
def repaired_without_keeping_the_axis(Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1) @ V


@wrong(
    "repaired_attention",
    "It works for exactly one batch axis. There may be none, or several.",
)
def repaired_for_one_batch_axis_only(Q, K, V):
    s = np.einsum("nld,nsd->nls", Q, K) / np.sqrt(K.shape[-1])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return np.einsum("nls,nsd->nld", e / e.sum(axis=-1, keepdims=True), V)


@wrong("repaired_attention", "You return the weights as well. The note's function returns the output alone.")
def repaired_returning_the_weights_too(Q, K, V):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    a = e / e.sum(axis=-1, keepdims=True)
    return a @ V, a


@wrong(
    "repaired_attention",
    "Large scores give nan: no maximum is subtracted before exp. The softmax of this notebook knows how.",
)
def repaired_but_overflowing(Q, K, V):
    e = np.exp(Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1]))
    return e / e.sum(axis=-1, keepdims=True) @ V


@right("repaired_attention")
def repaired_by_the_answer_above(Q, K, V):
    out, _ = scaled_dot_product_attention(Q, K, V)
    return out


@right("repaired_attention")
def repaired_with_einsum(Q, K, V):
    weights = softmax(np.einsum("...ld,...sd->...ls", Q, K) * K.shape[-1] ** -0.5)
    return np.einsum("...ls,...sv->...lv", weights, V)


@right("repaired_attention")
def repaired_sentence_by_sentence(Q, K, V):
    if Q.ndim > 2:
        return np.stack([repaired_sentence_by_sentence(*parts) for parts in zip(Q, K, V, strict=True)])
    s = np.dot(Q, K.T) / np.sqrt(K.shape[1])
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return np.dot(e / e.sum(axis=1, keepdims=True), V)


@right("repaired_attention")
def repaired_with_torch(Q, K, V):
    import torch

    q, k, v = (torch.tensor(np.array(x)) for x in (Q, K, V))
    return torch.nn.functional.scaled_dot_product_attention(q, k, v).numpy()
