"""What people really answer in chapter 3, and what they need to hear."""

import numpy as np

from autograder.misconceptions import probe, right, wrong

# ---------------------------------------------------------------------------------------------
# dot_scores. Sizes that all differ, then N = T, where broadcasting by luck gives no error.
probe(
    "dot_scores",
    np.array(
        [
            [[0.5, -1.0, 2.0], [1.5, 0.25, -0.5], [-2.0, 1.0, 0.75], [0.1, 0.9, -1.2]],
            [[1.0, 2.0, -0.5], [0.3, -0.7, 1.1], [2.5, 0.4, -1.5], [-0.8, 1.6, 0.2]],
        ]
    ),
    np.array([[1.0, -0.5, 0.8], [0.4, 1.2, -0.6]]),
)
probe(
    "dot_scores",
    np.array(
        [
            [[0.5, -1.0], [1.5, 0.25], [-2.0, 1.0]],
            [[1.0, 2.0], [0.3, -0.7], [2.5, 0.4]],
            [[0.9, 0.1], [-0.4, 1.3], [0.6, -1.1]],
        ]
    ),
    np.array([[1.0, -0.5], [0.4, 1.2], [-0.7, 0.3]]),
)
probe(  # N = H: here a bare matrix product runs
    "dot_scores",
    np.array([[[0.5, -1.0], [1.5, 0.25], [-2.0, 1.0]], [[1.0, 2.0], [0.3, -0.7], [2.5, 0.4]]]),
    np.array([[1.0, -0.5], [0.4, 1.2]]),
)


@wrong(
    "dot_scores",
    "Every sentence is asked the question of the first one: row n of the states should meet row n of h.",
)
def dot_with_the_first_question_only(hs, h):
    return hs @ h[0]


@wrong(
    "dot_scores",
    "Every sentence meets every question, so a third axis of length N appears. Each sentence has only its own question.",
    "Look at your shape: (N, T, N). You want one number for each sentence and each step.",
)
def dot_of_every_sentence_with_every_question(hs, h):
    return hs @ h.T


@wrong(
    "dot_scores",
    "`hs @ h` lets the numbers of a state meet the sentences of h. The axis that is summed over should be H on both sides, and each sentence keeps to its own question.",
    "Follow the shapes: (N, T, H) @ (N, H) pairs H with N, and runs only where these are equal. How can each sentence bring its own h as a column?",
)
def dot_by_a_bare_matrix_product(hs, h):
    return hs @ h


@wrong(
    "dot_scores",
    "You sum over the steps. A dot product sums over the components of the two vectors, and every step keeps its own score.",
)
def dot_summed_over_the_steps(hs, h):
    return (hs * h[:, None, :]).sum(axis=1)


@wrong(
    "dot_scores",
    "You multiply component by component and stop there. A score is one number: what is still to do with the H products?",
)
def dot_products_left_unsummed(hs, h):
    return hs * h[:, None, :]


@wrong(
    "dot_scores",
    "The sentences of the batch are added up into one row. Each of the N sentences needs its own row of scores.",
)
def dot_summed_over_the_batch(hs, h):
    return np.einsum("nth,nh->t", hs, h)


@wrong(
    "dot_scores",
    "h is lined up with the steps and not with the sentences: NumPy matches axes from the right. It runs only when N equals T, and is wrong then too.",
    "h needs an axis of length 1 where hs has its steps.",
)
def dot_without_an_axis_for_the_steps(hs, h):
    return (hs * h).sum(axis=-1)


@wrong(
    "dot_scores",
    "You divide by the square root of the size. That comes in chapter 4: here the bare dot product is asked for.",
)
def dot_scaled_too_early(hs, h):
    return (hs * h[:, None, :]).sum(axis=-1) / np.sqrt(h.shape[-1])


@wrong("dot_scores", "You return weights that sum to 1. A score is what comes before the softmax.")
def dot_scores_turned_into_weights(hs, h):
    s = (hs * h[:, None, :]).sum(axis=-1)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@wrong("dot_scores", "You divide by the lengths of the vectors. That is the cosine, which the next exercise asks for.")
def dot_divided_by_the_lengths(hs, h):
    s = (hs * h[:, None, :]).sum(axis=-1)
    return s / (np.linalg.norm(hs, axis=-1) * np.linalg.norm(h, axis=-1)[:, None])


@wrong("dot_scores", "You measure a distance. A dot product multiplies the two vectors, it does not subtract them.")
def dot_as_a_negative_distance(hs, h):
    return -((hs - h[:, None, :]) ** 2).sum(axis=-1)


@wrong("dot_scores", "Afterwards hs is not what it was: your answer writes into the array it was given.")
def dot_that_writes_into_its_input(hs, h):
    hs *= h[:, None, :]
    return hs.sum(axis=-1)


@right("dot_scores")
def dot_with_three_loops(hs, h):
    N, T, H = hs.shape
    scores = np.zeros((N, T))
    for n in range(N):
        for t in range(T):
            for i in range(H):
                scores[n, t] += hs[n, t, i] * h[n, i]
    return scores


@right("dot_scores")
def dot_with_einsum(hs, h):
    return np.einsum("nth,nh->nt", hs, h)


@right("dot_scores")
def dot_with_a_column_of_questions(hs, h):
    return (hs @ h[:, :, None])[:, :, 0]


@right("dot_scores")
def dot_with_torch(hs, h):
    import torch

    states, question = torch.tensor(np.array(hs)), torch.tensor(np.array(h))
    return torch.bmm(states, question.unsqueeze(2)).squeeze(2).numpy()


# ---------------------------------------------------------------------------------------------
# cosine_scores. Long and short vectors, then a zero state, then a zero question.
probe(
    "cosine_scores",
    np.array(
        [
            [[3.0, -1.0, 2.0, 0.5], [0.1, 0.2, -0.3, 0.1], [-2.0, 1.0, 0.75, 1.5]],
            [[0.4, 0.1, 0.2, -0.3], [1.0, 2.0, 0.5, -4.0], [-0.8, 1.6, 0.2, 0.9]],
        ]
    ),
    np.array([[1.0, -0.5, 0.8, 2.0], [0.1, 0.3, -0.2, -0.4]]),
)
probe("cosine_scores", np.array([[[1.0, 2.0], [0.0, 0.0], [-3.0, 0.5]]]), np.array([[2.0, 1.0]]))
probe("cosine_scores", np.array([[[1.0, 2.0], [2.0, -1.0], [-3.0, 0.5]]]), np.array([[0.0, 0.0]]))
probe(  # N = T: here a missing axis goes unnoticed
    "cosine_scores",
    np.array([[[1.0, 2.0, -0.5], [0.4, -1.0, 0.25]], [[-3.0, 0.5, 2.0], [1.5, 0.7, -2.0]]]),
    np.array([[2.0, 1.0, -1.0], [0.3, -0.6, 0.2]]),
)


@wrong(
    "cosine_scores",
    "You divide by the squared lengths. Multiply a vector by 2 and your score halves; a cosine would not move.",
    "The length of a vector is the square root of the sum of its squares.",
)
def cosine_with_squared_lengths(hs, h):
    s = np.einsum("nth,nh->nt", hs, h)
    lengths = (hs**2).sum(axis=-1) * (h**2).sum(axis=-1)[:, None]
    return s / np.where(lengths == 0, 1.0, lengths)


@wrong(
    "cosine_scores",
    "You divide by the length of the states only. A cosine does not depend on the length of the question either.",
)
def cosine_with_the_length_of_the_states_only(hs, h):
    s = np.einsum("nth,nh->nt", hs, h)
    lengths = np.linalg.norm(hs, axis=-1)
    return s / np.where(lengths == 0, 1.0, lengths)


@wrong("cosine_scores", "You divide by the length of the question only. A long state still wins by its length.")
def cosine_with_the_length_of_the_question_only(hs, h):
    s = np.einsum("nth,nh->nt", hs, h)
    lengths = np.linalg.norm(h, axis=-1)[:, None]
    return s / np.where(lengths == 0, 1.0, lengths)


@wrong(
    "cosine_scores",
    "A zero vector gives 0 / 0, which is nan. It has no direction: its score should be 0.",
    "Which divisor may you put in the place of a length of 0, when the dot product above it is 0 anyway?",
)
def cosine_dividing_by_zero(hs, h):
    s = np.einsum("nth,nh->nt", hs, h)
    return s / (np.linalg.norm(hs, axis=-1) * np.linalg.norm(h, axis=-1)[:, None])


@wrong(
    "cosine_scores",
    "NumPy warns: you divide by 0 first and repair the nan afterwards. Avoid the division instead.",
)
def cosine_repaired_after_the_warning(hs, h):
    s = np.einsum("nth,nh->nt", hs, h)
    return np.nan_to_num(s / (np.linalg.norm(hs, axis=-1) * np.linalg.norm(h, axis=-1)[:, None]))


@wrong(
    "cosine_scores",
    "The lengths of the questions are lined up with the steps and not with the sentences: an error, or where N equals T wrong scores without one.",
    "The lengths of the states are (N, T), those of the questions (N,). NumPy matches axes from the right: which axis is missing?",
)
def cosine_without_an_axis_for_the_steps(hs, h):
    s = np.einsum("nth,nh->nt", hs, h)
    lengths = np.linalg.norm(hs, axis=-1) * np.linalg.norm(h, axis=-1)
    return s / np.where(lengths == 0, 1.0, lengths)


@wrong(
    "cosine_scores",
    "Two things at once. The lengths of the questions are lined up with the steps and not with the sentences: an axis is missing. And a zero vector gives 0 / 0.",
)
def cosine_without_an_axis_for_the_steps_dividing_by_zero(hs, h):
    s = np.einsum("nth,nh->nt", hs, h)
    return s / (np.linalg.norm(hs, axis=-1) * np.linalg.norm(h, axis=-1))


@wrong("cosine_scores", "You take care of a zero state, but a zero question still divides by 0.")
def cosine_that_forgets_a_zero_question(hs, h):
    s = np.einsum("nth,nh->nt", hs, h)
    lengths = np.linalg.norm(hs, axis=-1)
    return s / np.where(lengths == 0, 1.0, lengths) / np.linalg.norm(h, axis=-1)[:, None]


@wrong("cosine_scores", "You take care of a zero question, but a zero state still divides by 0.")
def cosine_that_forgets_a_zero_state(hs, h):
    s = np.einsum("nth,nh->nt", hs, h)
    lengths = np.linalg.norm(h, axis=-1)[:, None]
    return s / np.linalg.norm(hs, axis=-1) / np.where(lengths == 0, 1.0, lengths)


@wrong(
    "cosine_scores",
    "A vector shorter than 1 is not brought to length 1: you raise small lengths to 1. Only a length of 0 needs another divisor.",
)
def cosine_with_short_lengths_raised_to_one(hs, h):
    s = np.einsum("nth,nh->nt", hs, h)
    return s / (np.maximum(np.linalg.norm(hs, axis=-1), 1.0) * np.maximum(np.linalg.norm(h, axis=-1), 1.0)[:, None])


@wrong(
    "cosine_scores",
    "The length is taken along the wrong axis: it runs over the components of one vector, not over the steps.",
)
def cosine_with_lengths_over_the_steps(hs, h):
    lengths = np.linalg.norm(hs, axis=1, keepdims=True)
    directions = hs / np.where(lengths == 0, 1.0, lengths)
    length = np.linalg.norm(h, axis=-1, keepdims=True)
    return np.einsum("nth,nh->nt", directions, h / np.where(length == 0, 1.0, length))


@wrong("cosine_scores", "You use one length for all vectors together. Each state, and each question, has its own.")
def cosine_with_one_length_for_all(hs, h):
    s = np.einsum("nth,nh->nt", hs, h)
    lengths = np.linalg.norm(hs) * np.linalg.norm(h)
    return s / (lengths if lengths else 1.0)


@wrong(
    "cosine_scores",
    "You return the dot product. Divide out the lengths: two vectors of the same direction should score 1.",
)
def cosine_without_dividing(hs, h):
    return np.einsum("nth,nh->nt", hs, h)


@wrong("cosine_scores", "You lose the sign. A vector that points the other way should score −1, not 1.")
def cosine_without_its_sign(hs, h):
    s = np.einsum("nth,nh->nt", hs, h)
    lengths = np.linalg.norm(hs, axis=-1) * np.linalg.norm(h, axis=-1)[:, None]
    return np.abs(s) / np.where(lengths == 0, 1.0, lengths)


@wrong("cosine_scores", "You return the angle. The score is its cosine: 1 for the same direction, 0 for a right angle.")
def cosine_turned_into_the_angle(hs, h):
    s = np.einsum("nth,nh->nt", hs, h)
    lengths = np.linalg.norm(hs, axis=-1) * np.linalg.norm(h, axis=-1)[:, None]
    return np.arccos(np.clip(s / np.where(lengths == 0, 1.0, lengths), -1.0, 1.0))


@wrong("cosine_scores", "Afterwards hs is not what it was: your answer writes into the array it was given.")
def cosine_that_writes_into_its_input(hs, h):
    lengths = np.linalg.norm(hs, axis=-1, keepdims=True)
    hs /= np.where(lengths == 0, 1.0, lengths)
    length = np.linalg.norm(h, axis=-1, keepdims=True)
    return np.einsum("nth,nh->nt", hs, h / np.where(length == 0, 1.0, length))


@right("cosine_scores")
def cosine_with_loops(hs, h):
    N, T, H = hs.shape
    scores = np.zeros((N, T))
    for n in range(N):
        for t in range(T):
            product = sum(hs[n, t, i] * h[n, i] for i in range(H))
            lengths = np.sqrt(sum(x * x for x in hs[n, t])) * np.sqrt(sum(x * x for x in h[n]))
            scores[n, t] = product / lengths if lengths > 0 else 0.0
    return scores


@right("cosine_scores")
def cosine_of_unit_vectors(hs, h):
    def unit(x):
        lengths = np.sqrt(np.sum(x * x, axis=-1, keepdims=True))
        return np.divide(x, lengths, out=np.zeros_like(x), where=lengths > 0)

    return (unit(hs) @ unit(h)[:, :, None])[:, :, 0]


@right("cosine_scores")
def cosine_with_a_quiet_division(hs, h):
    with np.errstate(invalid="ignore", divide="ignore"):
        s = np.einsum("nth,nh->nt", hs, h) / np.linalg.norm(hs, axis=-1) / np.linalg.norm(h, axis=-1)[:, None]
    return np.nan_to_num(s)


@right("cosine_scores")
def cosine_with_a_tiny_number_below(hs, h):
    lengths = np.linalg.norm(hs, axis=-1) * np.linalg.norm(h, axis=-1)[:, None]
    return np.sum(hs * h[:, None, :], axis=-1) / (lengths + 1e-12)


@right("cosine_scores")
def cosine_with_torch(hs, h):
    import torch

    states, question = torch.tensor(np.array(hs)), torch.tensor(np.array(h))
    return torch.nn.functional.cosine_similarity(states, question[:, None, :], dim=-1).numpy()


# ---------------------------------------------------------------------------------------------
# additive_scores. All sizes differ; then square weights (H = H_dec = A); then N = T.
probe(
    "additive_scores",
    np.array(
        [
            [[0.5, -1.0], [1.5, 0.3], [-0.7, 0.9], [0.2, 0.8]],
            [[1.1, 0.4], [-0.3, -0.6], [0.7, 1.2], [-0.9, 0.1]],
            [[0.6, -0.2], [0.1, 0.5], [1.3, -0.8], [-0.4, 0.7]],
        ]
    ),
    np.array([[0.3, -0.7, 0.2, 0.5, 0.1], [-0.6, 0.4, 0.9, -0.1, 0.8], [0.7, 0.2, -0.5, 0.3, -0.9]]),
    np.array([[0.4, -0.8, 1.0, 0.2, -0.5, 0.6], [0.9, 0.3, -0.4, 0.7, 0.1, -1.1]]),
    np.array(
        [
            [0.5, -0.2, 0.3, 0.8, -0.6, 0.1],
            [-0.4, 0.7, 0.2, -0.1, 0.9, 0.6],
            [0.3, 0.5, -0.9, 0.4, 0.2, -0.7],
            [0.8, -0.3, 0.1, 0.6, -0.5, 0.2],
            [-0.2, 0.4, 0.7, -0.8, 0.3, 0.5],
        ]
    ),
    np.array([1.0, -0.7, 0.5, 0.9, -1.2, 0.3]),
)
probe(
    "additive_scores",
    np.array([[[0.5, -1.0, 0.2], [1.5, 0.3, -0.4]]]),
    np.array([[0.7, -0.6, 0.9]]),
    np.array([[0.4, -0.8, 1.0], [0.9, 0.3, -0.4], [0.2, 0.6, -0.7]]),
    np.array([[0.5, -0.2, 0.3], [-0.4, 0.7, 0.1], [0.8, 0.9, -0.5]]),
    np.array([1.0, -0.7, 0.5]),
)
probe(
    "additive_scores",
    np.array([[[0.5, -1.0, 0.1], [1.5, 0.3, -0.2]], [[1.1, 0.4, 0.6], [-0.3, -0.6, 0.8]]]),
    np.array([[0.3], [-0.9]]),
    np.array([[0.4, -0.8, 1.0, 0.2], [0.9, 0.3, -0.4, 0.7], [-0.5, 0.6, 0.1, -1.1]]),
    np.array([[0.5, -0.2, 0.3, 0.8]]),
    np.array([1.0, -0.7, 0.5, 0.9]),
)


@wrong(
    "additive_scores",
    "tanh is missing. Without it the question only adds the same number to every score of a sentence, and the softmax takes that out again.",
)
def additive_without_tanh(hs, h, W_h, W_s, v):
    return (hs @ W_h + (h @ W_s)[:, None, :]) @ v


@wrong(
    "additive_scores",
    "v is missing: the A numbers behind tanh are summed as they are, where each should count as much as its own entry of v says.",
)
def additive_without_v(hs, h, W_h, W_s, v):
    return np.tanh(hs @ W_h + (h @ W_s)[:, None, :]).sum(axis=-1)


@wrong(
    "additive_scores",
    "You multiply with v and stop there. A score is one number: the last axis of length A should be gone.",
)
def additive_left_unsummed(hs, h, W_h, W_s, v):
    return np.tanh(hs @ W_h + (h @ W_s)[:, None, :]) * v


@wrong(
    "additive_scores",
    "The projected question is lined up with the steps and not with the sentences. It runs only when N equals T (or one of them is 1), and then mixes up the sentences.",
    "hs W_h has three axes, h W_s has two. Where does the second need an axis of length 1?",
)
def additive_without_an_axis_for_the_steps(hs, h, W_h, W_s, v):
    return np.tanh(hs @ W_h + h @ W_s) @ v


@wrong(
    "additive_scores",
    "The two weights are swapped: W_h belongs to the encoder's states hs, W_s to the decoder's state h.",
)
def additive_with_swapped_weights(hs, h, W_h, W_s, v):
    return np.tanh(hs @ W_s + (h @ W_h)[:, None, :]) @ v


@wrong(
    "additive_scores",
    "You put the vectors side by side in one order and the weights below each other in the other order: hs meets W_s.",
)
def additive_side_by_side_in_another_order(hs, h, W_h, W_s, v):
    N, T, _ = hs.shape
    both = np.concatenate([hs, np.broadcast_to(h[:, None, :], (N, T, h.shape[-1]))], axis=-1)
    return np.tanh(both @ np.concatenate([W_s, W_h], axis=0)) @ v


@wrong(
    "additive_scores", "The weights are transposed. Here a state stands on the left: hs W_h, with W_h of shape (H, A)."
)
def additive_with_transposed_weights(hs, h, W_h, W_s, v):
    return np.tanh(hs @ W_h.T + (h @ W_s.T)[:, None, :]) @ v


@wrong(
    "additive_scores",
    "You bend each part on its own and add afterwards. Then the question shifts all scores of a sentence alike: add first, then tanh.",
)
def additive_with_tanh_before_the_sum(hs, h, W_h, W_s, v):
    return (np.tanh(hs @ W_h) + np.tanh(h @ W_s)[:, None, :]) @ v


@wrong("additive_scores", "tanh comes after v here. It should bend the A sums, before v makes one number of them.")
def additive_with_tanh_at_the_end(hs, h, W_h, W_s, v):
    return np.tanh((hs @ W_h + (h @ W_s)[:, None, :]) @ v)


@wrong("additive_scores", "You multiply the two projections. This score has its name from adding them.")
def additive_that_multiplies(hs, h, W_h, W_s, v):
    return np.tanh((hs @ W_h) * (h @ W_s)[:, None, :]) @ v


@wrong(
    "additive_scores",
    "You take the dot product of the two projections. Here they are added, go through tanh, and meet v.",
)
def additive_as_a_dot_of_projections(hs, h, W_h, W_s, v):
    return np.einsum("nta,na->nt", hs @ W_h, h @ W_s)


@wrong("additive_scores", "You use the sigmoid, which lies between 0 and 1. tanh lies between −1 and 1.")
def additive_with_a_sigmoid(hs, h, W_h, W_s, v):
    return (1 / (1 + np.exp(-(hs @ W_h + (h @ W_s)[:, None, :])))) @ v


@wrong("additive_scores", "You use ReLU, which cuts off below 0. The formula asks for tanh.")
def additive_with_relu(hs, h, W_h, W_s, v):
    return np.maximum(hs @ W_h + (h @ W_s)[:, None, :], 0.0) @ v


@wrong("additive_scores", "You return weights that sum to 1. A score is what comes before the softmax.")
def additive_scores_turned_into_weights(hs, h, W_h, W_s, v):
    s = np.tanh(hs @ W_h + (h @ W_s)[:, None, :]) @ v
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@wrong(
    "additive_scores",
    "Every sentence is asked the question of the first one: row n of the states should meet row n of h.",
)
def additive_with_the_first_question_only(hs, h, W_h, W_s, v):
    return np.tanh(hs @ W_h + h[0] @ W_s) @ v


@right("additive_scores")
def additive_with_loops(hs, h, W_h, W_s, v):
    N, T, _ = hs.shape
    scores = np.zeros((N, T))
    for n in range(N):
        for t in range(T):
            scores[n, t] = sum(v[i] * np.tanh(hs[n, t] @ W_h[:, i] + h[n] @ W_s[:, i]) for i in range(len(v)))
    return scores


@right("additive_scores")
def additive_with_einsum(hs, h, W_h, W_s, v):
    keys = np.einsum("nth,ha->nta", hs, W_h)
    question = np.einsum("nd,da->na", h, W_s)
    return np.einsum("nta,a->nt", np.tanh(keys + question[:, np.newaxis]), v)


@right("additive_scores")
def additive_side_by_side(hs, h, W_h, W_s, v):
    repeated = np.repeat(h[:, None, :], hs.shape[1], axis=1)
    both = np.concatenate([hs, repeated], axis=2)
    return np.tanh(both @ np.vstack([W_h, W_s])) @ v


@right("additive_scores")
def additive_with_torch(hs, h, W_h, W_s, v):
    import torch

    hs, h, W_h, W_s, v = (torch.tensor(np.array(x)) for x in (hs, h, W_h, W_s, v))
    return (torch.tanh(hs @ W_h + (h @ W_s).unsqueeze(1)) @ v).numpy()


# ---------------------------------------------------------------------------------------------
# softmax. Rows that differ, a square, huge scores, a low row below a high one, −inf, every axis.
probe("softmax", np.array([[1.0, 2.0, 4.0], [0.0, 0.5, -1.0]]))
probe("softmax", np.array([[1.0, 2.0, 4.0], [0.0, 0.5, -1.0], [2.0, -0.5, 0.3]]))
probe("softmax", np.array([[1e4, 9999.0, -1e4], [-1e4, -9999.0, -1e4]]))
probe("softmax", np.array([[1.0, 0.0, 2.0], [-2000.0, -2001.0, -1999.0]]))
probe("softmax", np.array([[0.5, -np.inf, 1.0], [2.0, 0.0, -np.inf]]))
probe("softmax", np.array([[300.0, 200.0, -600.0]]))  # too far from the lowest score, not from the mean
probe(
    "softmax",
    np.array(
        [
            [[0.1, 2.0, -1.0, 0.5], [1.0, 0.3, 0.7, -0.2], [0.4, -0.6, 1.5, 0.9]],
            [[-0.5, 0.8, 0.2, 1.1], [0.6, 1.3, -0.9, 0.0], [2.0, -0.3, 0.5, 0.7]],
        ]
    ),
)
probe(
    "softmax",
    np.array(
        [
            [[0.1, 2.0, -1.0, 0.5], [1.0, 0.3, 0.7, -0.2], [0.4, -0.6, 1.5, 0.9]],
            [[-0.5, 0.8, 0.2, 1.1], [0.6, 1.3, -0.9, 0.0], [2.0, -0.3, 0.5, 0.7]],
        ]
    ),
    axis=1,
)
probe("softmax", np.array([[1.0, 2.0, 4.0], [0.0, 0.5, -1.0]]), axis=0)


@wrong(
    "softmax",
    "Large scores give nan: no maximum is subtracted, so exp(1000) becomes inf, and inf / inf is no number.",
    "Adding the same number to every score of a row does not change its weights. Which number keeps every exponent at or below 0?",
)
def softmax_without_the_maximum(s, axis=-1):
    e = np.exp(s)
    return e / e.sum(axis=axis, keepdims=True)


@wrong(
    "softmax",
    "Your weights sum to 1 down the columns, whatever `axis` says. Along the last axis, each row's own weights should sum to 1.",
    "Take the maximum and the sum along `axis`.",
)
def softmax_along_the_first_axis(s, axis=-1):
    e = np.exp(s - s.max(axis=0, keepdims=True))
    return e / e.sum(axis=0, keepdims=True)


@wrong(
    "softmax",
    "Two things at once. The axis is wrong: your weights sum to 1 down the columns, not along each row. And no maximum is subtracted, so large scores overflow to nan.",
    "First sum along `axis`. Then look for the number that you may subtract from every score of a row without changing its weights.",
)
def softmax_along_the_first_axis_without_the_maximum(s, axis=-1):
    e = np.exp(s)
    return e / e.sum(axis=0, keepdims=True)


@wrong(
    "softmax",
    "Called without an axis, yours goes down the columns. The last axis is the one that is meant then: see the default in the first line.",
)
def softmax_with_the_first_axis_by_default(s, axis=0):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@wrong(
    "softmax",
    "Two things at once. Called without an axis, yours takes the wrong one and goes down the columns. And no maximum is subtracted, so large scores overflow to nan.",
)
def softmax_with_the_first_axis_by_default_without_the_maximum(s, axis=0):
    e = np.exp(s)
    return e / e.sum(axis=axis, keepdims=True)


@wrong("softmax", "You always go along the last axis. The caller may ask for another one: use `axis`.")
def softmax_that_ignores_axis(s, axis=-1):
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@wrong(
    "softmax",
    "Two things at once. `axis` is not used: you always go along the last axis. And no maximum is subtracted, so large scores overflow to nan.",
)
def softmax_that_ignores_axis_without_the_maximum(s, axis=-1):
    e = np.exp(s)
    return e / e.sum(axis=-1, keepdims=True)


@wrong(
    "softmax",
    "You always go along axis 1. That is the last axis of a table, but not of a batch of tables, and one row alone has no axis 1: use `axis`.",
)
def softmax_along_axis_one(s, axis=-1):
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@wrong(
    "softmax",
    "Two things at once. You always go along axis 1, whatever `axis` says. And no maximum is subtracted, so large scores overflow to nan.",
)
def softmax_along_axis_one_without_the_maximum(s, axis=-1):
    e = np.exp(s)
    return e / e.sum(axis=1, keepdims=True)


@wrong(
    "softmax",
    "You always go along the last axis but one: down the columns of a table. Use `axis`; without one, each row's own weights should sum to 1.",
)
def softmax_along_the_last_axis_but_one(s, axis=-1):
    e = np.exp(s - s.max(axis=-2, keepdims=True))
    return e / e.sum(axis=-2, keepdims=True)


@wrong(
    "softmax",
    "Two things at once. The axis is wrong: you always go along the last axis but one. And no maximum is subtracted, so large scores overflow to nan.",
)
def softmax_along_the_last_axis_but_one_without_the_maximum(s, axis=-1):
    e = np.exp(s)
    return e / e.sum(axis=-2, keepdims=True)


@wrong(
    "softmax",
    "All your weights together sum to 1, so that the rows share them. Each row should have weights of its own that sum to 1.",
    "A sum without an axis runs over the whole array.",
)
def softmax_over_the_whole_array(s, axis=-1):
    e = np.exp(s - s.max())
    return e / e.sum()


@wrong(
    "softmax",
    "Two things at once. The sum runs over the whole array and not along `axis`. And no maximum is subtracted, so large scores overflow to nan.",
)
def softmax_over_the_whole_array_without_the_maximum(s, axis=-1):
    e = np.exp(s)
    return e / e.sum()


@wrong(
    "softmax",
    "One maximum for the whole array is too much for a low row: all its exponentials become 0, and 0 / 0 is nan. Each row has its own maximum.",
)
def softmax_with_one_maximum_for_all(s, axis=-1):
    e = np.exp(s - s.max())
    return e / e.sum(axis=axis, keepdims=True)


@wrong(
    "softmax",
    "Two things at once. Your weights sum to 1 down the columns, not along each row. And one maximum for the whole array lets low scores vanish to 0 / 0: take it along the same axis as the sum.",
)
def softmax_along_the_first_axis_with_one_maximum(s, axis=-1):
    e = np.exp(s - s.max())
    return e / e.sum(axis=0, keepdims=True)


@wrong(
    "softmax",
    "The maximum is taken along one axis and the sum along another one. Both belong to the same row of scores.",
)
def softmax_with_maximum_and_sum_along_two_axes(s, axis=-1):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=0, keepdims=True)


@wrong(
    "softmax",
    "The maximum and the sum lose their axis, so NumPy lines them up with the columns: an error, or in a square table wrong weights without one.",
    "Keep the axis that you reduce, as an axis of length 1 (keepdims).",
)
def softmax_without_keepdims(s, axis=-1):
    e = np.exp(s - s.max(axis=axis))
    return e / e.sum(axis=axis)


@wrong(
    "softmax",
    "The sum loses its axis, so that each row is divided by the sums of other rows: an error, or in a square table wrong weights without one.",
    "Keep the axis that you sum over, as an axis of length 1 (keepdims).",
)
def softmax_without_keepdims_in_the_sum(s, axis=-1):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis)


@wrong(
    "softmax",
    "Two things at once. The sum loses its axis (keepdims), so that rows are divided by the sums of other rows. And no maximum is subtracted, so large scores overflow to nan.",
)
def softmax_without_keepdims_and_maximum(s, axis=-1):
    e = np.exp(s)
    return e / e.sum(axis=axis)


@wrong(
    "softmax",
    "You subtract the mean. A row with −inf has the mean −inf, and a score far above the mean still overflows: another number of the row is safe.",
)
def softmax_minus_the_mean(s, axis=-1):
    e = np.exp(s - s.mean(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@wrong(
    "softmax",
    "You subtract the smallest score, so the others grow and overflow, and −inf gives nan. Which end of the row has to become 0?",
)
def softmax_minus_the_minimum(s, axis=-1):
    e = np.exp(s - s.min(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@wrong(
    "softmax",
    "You subtract the largest size, not the largest score: in a row of very low scores everything vanishes to 0 / 0, and −inf has an infinite size.",
)
def softmax_minus_the_largest_size(s, axis=-1):
    e = np.exp(s - np.abs(s).max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@wrong(
    "softmax",
    "You divide the scores by their maximum. That changes their differences, and with them the weights; subtracting does not.",
)
def softmax_of_scores_divided_by_the_maximum(s, axis=-1):
    e = np.exp(s / s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@wrong(
    "softmax",
    "You clip large scores. Nothing overflows, but scores of 9,999 and 10,000 become equal. Subtracting keeps their difference.",
)
def softmax_of_clipped_scores(s, axis=-1):
    e = np.exp(np.clip(s, -500.0, 500.0))
    return e / e.sum(axis=axis, keepdims=True)


@wrong(
    "softmax",
    "You divide by the number of scores. The weights sum to 1 only when you divide by the sum of the exponentials.",
)
def softmax_divided_by_the_count(s, axis=-1):
    return np.exp(s - s.max(axis=axis, keepdims=True)) / s.shape[axis]


@wrong(
    "softmax",
    "You use the size of a score where exp belongs: −2 counts as much as 2, and the order of the scores is lost.",
)
def softmax_with_sizes_in_place_of_exp(s, axis=-1):
    return np.abs(s) / np.abs(s).sum(axis=axis, keepdims=True)


@wrong("softmax", "exp is missing: the scores divided by their sum. With negative scores that gives negative weights.")
def softmax_without_exp(s, axis=-1):
    return s / s.sum(axis=axis, keepdims=True)


@wrong("softmax", "You return logarithms of weights. They are at most 0 and do not sum to 1.")
def softmax_as_logarithms(s, axis=-1):
    shifted = s - s.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


@wrong("softmax", "You give everything to the best score. Softmax is soft: the other scores get their share too.")
def softmax_that_is_hard(s, axis=-1):
    best = (s == s.max(axis=axis, keepdims=True)).astype(float)
    return best / best.sum(axis=axis, keepdims=True)


@wrong("softmax", "Afterwards s is not what it was: your answer writes into the array it was given.")
def softmax_that_writes_into_its_input(s, axis=-1):
    s -= s.max(axis=axis, keepdims=True)
    e = np.exp(s)
    return e / e.sum(axis=axis, keepdims=True)


@right("softmax")
def softmax_row_by_row(s, axis=-1):
    rows = np.moveaxis(s, axis, -1)
    weights = np.zeros(rows.shape)
    for place in np.ndindex(rows.shape[:-1]):
        largest = max(rows[place])
        exponentials = [np.exp(x - largest) for x in rows[place]]
        weights[place] = [x / sum(exponentials) for x in exponentials]
    return np.moveaxis(weights, -1, axis)


@right("softmax")
def softmax_through_its_logarithm(s, axis=-1):
    m = np.max(s, axis=axis, keepdims=True)
    return np.exp(s - m - np.log(np.sum(np.exp(s - m), axis=axis, keepdims=True)))


@right("softmax")
def softmax_with_expand_dims(s, axis=-1):
    largest = np.expand_dims(np.max(s, axis=axis), axis)
    e = np.exp(s - largest)
    return np.true_divide(e, np.expand_dims(np.sum(e, axis), axis))


@right("softmax")
def softmax_with_torch(s, axis=-1):
    import torch

    return torch.softmax(torch.tensor(np.array(s)), dim=axis).numpy()


# ---------------------------------------------------------------------------------------------
# softmax_grad. Two rows of three, a square, a row alone.
probe("softmax_grad", np.array([[1.0, -1.0, 0.5], [0.3, 2.0, -0.7]]), np.array([[0.1, 0.2, 0.7], [0.5, 0.15, 0.35]]))
probe("softmax_grad", np.array([[1.0, -1.0], [0.3, 2.0]]), np.array([[0.1, 0.9], [0.6, 0.4]]))
probe("softmax_grad", np.array([0.4, -0.8, 1.2, 0.1]), np.array([0.25, 0.4, 0.05, 0.3]))


@wrong(
    "softmax_grad",
    "You keep only a · da. Each weight depends on every score, since they share one sum: what one score gains, the others lose.",
    "Your result should sum to 0 along the last axis: adding the same to every score changes nothing. What has to be taken off?",
)
def grad_without_the_coupling(da, a):
    return a * da


@wrong(
    "softmax_grad",
    "You keep only the diagonal, a(1 − a). That is how a weight answers to its own score; it answers to all the others too.",
)
def grad_with_the_diagonal_only(da, a):
    return a * (1 - a) * da


@wrong(
    "softmax_grad", "The sum runs down the columns. The weights that share one sum stand in a row, along the last axis."
)
def grad_summed_over_the_first_axis(da, a):
    return a * (da - (a * da).sum(axis=0, keepdims=True))


@wrong(
    "softmax_grad",
    "The sum runs over the whole array, so the rows leak into each other. Each row has a sum of its own.",
)
def grad_summed_over_everything(da, a):
    return a * (da - (a * da).sum())


@wrong("softmax_grad", "The sum is not weighted: it has to run over da · a, not over da alone.")
def grad_with_an_unweighted_sum(da, a):
    return a * (da - da.sum(axis=-1, keepdims=True))


@wrong("softmax_grad", "You take off the plain mean of da. The average that counts is the one under the weights a.")
def grad_with_a_plain_mean(da, a):
    return a * (da - da.mean(axis=-1, keepdims=True))


@wrong(
    "softmax_grad",
    "The mean of da · a is taken where the sum belongs. The weights sum to 1 already: nothing is left to divide by.",
)
def grad_with_the_mean_of_the_products(da, a):
    return a * (da - (a * da).mean(axis=-1, keepdims=True))


@wrong(
    "softmax_grad",
    "A factor a is missing in front: a score whose weight is 0 moves nothing, and its gradient should be 0.",
)
def grad_without_the_factor_in_front(da, a):
    return da - (a * da).sum(axis=-1, keepdims=True)


@wrong("softmax_grad", "The sign is turned: follow this gradient and the loss goes the other way.")
def grad_with_the_other_sign(da, a):
    return a * ((a * da).sum(axis=-1, keepdims=True) - da)


@wrong(
    "softmax_grad",
    "da and a have changed places somewhere: the result should double when da doubles.",
    "Linear in da: no da may be multiplied with another da.",
)
def grad_with_da_and_a_exchanged(da, a):
    return da * (a - (a * da).sum(axis=-1, keepdims=True))


@wrong(
    "softmax_grad",
    "The sum loses its axis, so rows get the sums of other rows: an error, or in a square table wrong numbers without one.",
    "Keep the axis that you sum over, as an axis of length 1 (keepdims).",
)
def grad_without_keepdims(da, a):
    return a * (da - (a * da).sum(axis=-1))


@wrong(
    "softmax_grad",
    "You apply softmax to a. The second argument holds the weights already: no exponential is needed on the way back.",
)
def grad_with_a_second_softmax(da, a):
    e = np.exp(a - a.max(axis=-1, keepdims=True))
    w = e / e.sum(axis=-1, keepdims=True)
    return w * (da - (w * da).sum(axis=-1, keepdims=True))


@wrong("softmax_grad", "Afterwards da is not what it was: your answer writes into the array it was given.")
def grad_that_writes_into_its_input(da, a):
    da -= (a * da).sum(axis=-1, keepdims=True)
    return a * da


@right("softmax_grad")
def grad_through_the_whole_jacobian(da, a):
    jacobian = np.eye(a.shape[-1]) * a[..., None] - a[..., :, None] * a[..., None, :]
    return np.einsum("...i,...ij->...j", da, jacobian)


@right("softmax_grad")
def grad_row_by_row(da, a):
    ds = np.zeros(a.shape)
    for place in np.ndindex(a.shape[:-1]):
        for j in range(a.shape[-1]):
            for i in range(a.shape[-1]):
                ds[place][j] += da[place][i] * a[place][i] * ((i == j) - a[place][j])
    return ds


@right("softmax_grad")
def grad_in_two_steps(da, a):
    ds = a * da
    total = np.sum(ds, axis=-1, keepdims=True)
    return ds - a * total


@right("softmax_grad")
def grad_with_torch(da, a):
    import torch

    a, da = torch.tensor(np.array(a)), torch.tensor(np.array(da))
    s = torch.log(a).requires_grad_()  # softmax of log a is a again
    alive = torch.where(a > 0, s, torch.full_like(s, -torch.inf))
    torch.softmax(alive, dim=-1).backward(da)
    return torch.nan_to_num(s.grad).numpy()


# ---------------------------------------------------------------------------------------------
# attend. Sizes that all differ; then scores in the thousands, once as a single sentence.
probe(
    "attend",
    np.array(
        [
            [[0.5, -1.0, 0.8], [1.5, 0.25, -0.5], [-0.9, 1.0, 0.75], [0.1, 0.9, -1.2]],
            [[1.0, 0.6, -0.5], [0.3, -0.7, 1.1], [-0.4, 0.2, 1.4], [-0.8, 1.6, 0.2]],
        ]
    ),
    np.array([[1.0, -0.5, 0.8], [0.4, 1.2, -0.6]]),
)
probe("attend", np.array([[[50.0, 0.0], [49.0, 30.0], [-20.0, 10.0]]]), np.array([[60.0, 1.0]]))


@wrong(
    "attend",
    "The softmax runs over the sentences of the batch. The weights of one sentence, over its T steps, should sum to 1.",
)
def attend_with_softmax_over_the_batch(hs, h):
    s = np.einsum("nth,nh->nt", hs, h)
    e = np.exp(s - s.max(axis=0, keepdims=True))
    a = e / e.sum(axis=0, keepdims=True)
    return np.einsum("nt,nth->nh", a, hs), a


@wrong(
    "attend",
    "The softmax runs over the whole batch at once, so that the sentences share one sum of 1. Each sentence has its own.",
)
def attend_with_softmax_over_everything(hs, h):
    s = np.einsum("nth,nh->nt", hs, h)
    e = np.exp(s - s.max())
    a = e / e.sum()
    return np.einsum("nt,nth->nh", a, hs), a


@wrong("attend", "The two results have changed places: the context comes first, the weights second.")
def attend_returning_the_weights_first(hs, h):
    s = np.einsum("nth,nh->nt", hs, h)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    a = e / e.sum(axis=-1, keepdims=True)
    return a, np.einsum("nt,nth->nh", a, hs)


@wrong("attend", "You return the context alone. The weights are asked for too: people look at them.")
def attend_returning_the_context_only(hs, h):
    s = np.einsum("nth,nh->nt", hs, h)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    a = e / e.sum(axis=-1, keepdims=True)
    return np.einsum("nt,nth->nh", a, hs)


@wrong(
    "attend",
    "The weights meet the scores. The context is a mix of the states hs: that is what the decoder wants to read.",
)
def attend_weighing_the_scores(hs, h):
    s = np.einsum("nth,nh->nt", hs, h)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    a = e / e.sum(axis=-1, keepdims=True)
    return a * s, a


@wrong(
    "attend",
    "Your second result holds the scores. The weights are what softmax makes of them.",
)
def attend_returning_the_scores(hs, h):
    s = np.einsum("nth,nh->nt", hs, h)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    a = e / e.sum(axis=-1, keepdims=True)
    return np.einsum("nt,nth->nh", a, hs), s


@wrong("attend", "The softmax is missing: the scores themselves weigh the states, negative ones included.")
def attend_without_softmax(hs, h):
    s = np.einsum("nth,nh->nt", hs, h)
    return np.einsum("nt,nth->nh", s, hs), s


@wrong(
    "attend",
    "You divide the scores by the square root of the size. That comes in chapter 4: here the bare dot product is asked for.",
)
def attend_scaled_too_early(hs, h):
    s = np.einsum("nth,nh->nt", hs, h) / np.sqrt(h.shape[-1])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    a = e / e.sum(axis=-1, keepdims=True)
    return np.einsum("nt,nth->nh", a, hs), a


@wrong("attend", "You take the one best state. Attention mixes all of them, each by its weight.")
def attend_choosing_one_state(hs, h):
    s = np.einsum("nth,nh->nt", hs, h)
    a = np.eye(hs.shape[1])[s.argmax(axis=-1)]
    return np.einsum("nt,nth->nh", a, hs), a


@wrong(
    "attend", "The context is divided by T. The weights sum to 1 already: a weighted sum is an average as it stands."
)
def attend_averaging_a_second_time(hs, h):
    s = np.einsum("nth,nh->nt", hs, h)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    a = e / e.sum(axis=-1, keepdims=True)
    return np.einsum("nt,nth->nh", a, hs) / hs.shape[1], a


@wrong("attend", "Large scores give nan: no maximum is subtracted before exp. The softmax of this notebook knows how.")
def attend_with_an_overflowing_softmax(hs, h):
    s = np.einsum("nth,nh->nt", hs, h)
    a = np.exp(s) / np.exp(s).sum(axis=-1, keepdims=True)
    return np.einsum("nt,nth->nh", a, hs), a


@wrong("attend", "The weighted states are not added up: the context still has its T steps.")
def attend_without_the_sum(hs, h):
    s = np.einsum("nth,nh->nt", hs, h)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    a = e / e.sum(axis=-1, keepdims=True)
    return a[:, :, None] * hs, a


@wrong(
    "attend",
    "An axis of length 1 is left over from broadcasting: the weights should have the shape (N, T).",
)
def attend_with_an_axis_left_over(hs, h):
    s = hs @ h[:, :, None]
    e = np.exp(s - s.max(axis=1, keepdims=True))
    a = e / e.sum(axis=1, keepdims=True)
    return (a * hs).sum(axis=1), a


@wrong("attend", "You divide by the lengths of the vectors: cosine scores. Here the bare dot product is asked for.")
def attend_with_cosine_scores(hs, h):
    s = np.einsum("nth,nh->nt", hs, h) / np.linalg.norm(hs, axis=-1) / np.linalg.norm(h, axis=-1)[:, None]
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    a = e / e.sum(axis=-1, keepdims=True)
    return np.einsum("nt,nth->nh", a, hs), a


@right("attend")
def attend_with_the_answers_above(hs, h):
    a = softmax(dot_scores(hs, h))
    return weighted_sum_batch(hs, a), a


@right("attend")
def attend_sentence_by_sentence(hs, h):
    contexts, weights = [], []
    for states, question in zip(hs, h, strict=True):
        s = states @ question
        e = np.exp(s - s.max())
        a = e / e.sum()
        contexts.append(a @ states)
        weights.append(a)
    return np.array(contexts), np.array(weights)


@right("attend")
def attend_with_a_list_of_results(hs, h):
    s = (hs @ h[:, :, None])[:, :, 0]
    e = np.exp(s - np.max(s, axis=1, keepdims=True))
    a = e / np.sum(e, axis=1, keepdims=True)
    return [(a[:, None, :] @ hs)[:, 0], a]


@right("attend")
def attend_with_torch(hs, h):
    import torch

    states, question = torch.tensor(np.array(hs)), torch.tensor(np.array(h))
    a = torch.softmax(torch.einsum("nth,nh->nt", states, question), dim=1)
    return torch.einsum("nt,nth->nh", a, states).numpy(), a.numpy()


# ---------------------------------------------------------------------------------------------
# simple_self_attention. More tokens than numbers, fewer, then scores in the thousands.
probe(
    "simple_self_attention",
    np.array([[0.5, -1.0, 0.8], [1.5, 0.25, -0.5], [-0.9, 1.0, 0.75], [0.1, 0.9, -1.2], [0.7, -0.3, 0.4]]),
)
probe("simple_self_attention", np.array([[1.0, 0.6, -0.5], [0.3, -0.7, 1.1]]))
probe("simple_self_attention", np.array([[50.0, 0.0], [49.0, 30.0], [-20.0, 10.0]]))


@wrong("simple_self_attention", "You divide the scores by √d. That comes in chapter 4: here nothing is scaled.")
def self_attention_scaled_by_the_size(X):
    s = X @ X.T / np.sqrt(X.shape[1])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ X


@wrong("simple_self_attention", "You divide the scores by √T, the number of tokens. Here nothing is scaled.")
def self_attention_scaled_by_the_tokens(X):
    s = X @ X.T / np.sqrt(X.shape[0])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ X


@wrong(
    "simple_self_attention",
    "The softmax runs down the columns, so a token's own weights do not sum to 1. The scores look the same either way, for X Xᵀ is symmetric; the weights do not. Or did you transpose them afterwards?",
)
def self_attention_with_softmax_down_the_columns(X):
    s = X @ X.T
    e = np.exp(s - s.max(axis=0, keepdims=True))
    return e / e.sum(axis=0, keepdims=True) @ X


@wrong(
    "simple_self_attention",
    "The softmax runs over the whole table, so that the tokens share one sum of 1. Each token's row sums to 1 on its own.",
)
def self_attention_with_softmax_over_everything(X):
    s = X @ X.T
    e = np.exp(s - s.max())
    return e / e.sum() @ X


@wrong(
    "simple_self_attention",
    "You return the weights, a table of T times T. One step is missing: mix the tokens with them.",
)
def self_attention_without_the_second_product(X):
    s = X @ X.T
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@wrong("simple_self_attention", "The softmax is missing: the scores themselves mix the tokens.")
def self_attention_without_softmax(X):
    return X @ X.T @ X


@wrong(
    "simple_self_attention",
    "You compare the columns, Xᵀ X: how alike two of the d numbers are. Compare the tokens, which stand in the rows.",
)
def self_attention_over_the_columns(X):
    s = X.T @ X
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return X @ (e / e.sum(axis=-1, keepdims=True))


@wrong(
    "simple_self_attention",
    "A token may not look at itself in your answer. It may: its own row has its place among the others.",
)
def self_attention_without_itself(X):
    s = X @ X.T
    s[np.arange(len(X)), np.arange(len(X))] = -np.inf
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ X


@wrong(
    "simple_self_attention",
    "A token sees only the tokens before it in your answer. That is chapter 5: here every token sees all of them.",
)
def self_attention_that_looks_back_only(X):
    s = np.where(np.tri(len(X), dtype=bool), X @ X.T, -np.inf)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ X


@wrong("simple_self_attention", "You return two results. Only the contexts are asked for, without the weights.")
def self_attention_returning_the_weights_too(X):
    s = X @ X.T
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    a = e / e.sum(axis=-1, keepdims=True)
    return a @ X, a


@wrong(
    "simple_self_attention",
    "You divide by the lengths of the tokens: cosine scores. Here the bare dot product is asked for.",
)
def self_attention_with_cosine_scores(X):
    lengths = np.linalg.norm(X, axis=-1)
    s = X @ X.T / lengths / lengths[:, None]
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ X


@wrong(
    "simple_self_attention",
    "You add X to the result. The context replaces the token here: each token is in its own mix already.",
)
def self_attention_added_to_the_input(X):
    s = X @ X.T
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return X + e / e.sum(axis=-1, keepdims=True) @ X


@wrong(
    "simple_self_attention",
    "The scores are divided by their sum, without exp. With negative scores the weights become negative.",
)
def self_attention_without_exp(X):
    s = X @ X.T
    return s / s.sum(axis=-1, keepdims=True) @ X


@wrong(
    "simple_self_attention",
    "Large scores give nan: no maximum is subtracted before exp. The softmax of this notebook knows how.",
)
def self_attention_that_overflows(X):
    e = np.exp(X @ X.T)
    return e / e.sum(axis=-1, keepdims=True) @ X


@right("simple_self_attention")
def self_attention_with_the_answers_above(X):
    return softmax(X @ X.T, axis=1) @ X


@right("simple_self_attention")
def self_attention_token_by_token(X):
    contexts = np.zeros(X.shape)
    for i in range(len(X)):
        s = np.array([sum(X[i, k] * X[j, k] for k in range(X.shape[1])) for j in range(len(X))])
        e = np.exp(s - s.max())
        for j in range(len(X)):
            contexts[i] += e[j] / e.sum() * X[j]
    return contexts


@right("simple_self_attention")
def self_attention_as_attend_with_a_batch_of_questions(X):
    T, d = X.shape
    c, _ = attend(np.broadcast_to(X, (T, T, d)), X)
    return c


@right("simple_self_attention")
def self_attention_with_torch(X):
    import torch

    x = torch.tensor(np.array(X))
    return torch.nn.functional.scaled_dot_product_attention(x, x, x, scale=1.0).numpy()
