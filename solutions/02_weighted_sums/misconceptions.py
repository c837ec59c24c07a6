"""What people really answer in chapter 2, and what they need to hear."""

import numpy as np

from autograder.misconceptions import probe, right, wrong
from autograder.probes import Cubic

# hard_select ----------------------------------------------------------------------------------------
# Equal largest weights, a largest weight below zero, and one whose size is not the largest.

probe("hard_select", np.array([[1.0, 2.0], [3.0, 5.0], [-4.0, 0.5]]), np.array([0.25, 0.375, 0.375]))
probe("hard_select", np.array([[1.0, 2.0], [3.0, 5.0], [-4.0, 0.5], [7.0, -6.0]]), np.array([0.2, 0.3, -0.9, -0.4]))
probe("hard_select", np.array([[0.5, -1.5], [2.5, 4.0], [6.0, 1.0]]), np.array([-2.5, -0.6, -0.7]))


@wrong(
    "hard_select",
    "Two rows had the same largest weight, and you took the later one. The first of equals counts.",
    "Sorting puts equals in an order of its own. Ask for the place of the maximum, without sorting.",
)
def the_last_of_equals(hs, a):
    return hs[np.argsort(a, kind="stable")[-1]]


@wrong(
    "hard_select",
    "You return where the row is. The decoder needs what stands there: the row itself.",
)
def the_place_in_place_of_the_row(hs, a):
    return np.argmax(a)


@wrong(
    "hard_select",
    "You return the largest weight. It only says which row to take: return that row of hs.",
)
def the_weight_in_place_of_the_row(hs, a):
    return np.max(a)


@wrong(
    "hard_select",
    "You multiply the chosen row by its weight. A hard choice takes the row as it is.",
)
def the_row_times_its_weight(hs, a):
    return hs[np.argmax(a)] * np.max(a)


@wrong(
    "hard_select",
    "Your result has one axis too many: a table of the chosen rows. One row of shape (H,) is asked for.",
    "Comparing a with its maximum selects every row that is equally large, even when it is only one.",
)
def every_row_with_the_largest_weight(hs, a):
    return hs[a == a.max()]


@wrong(
    "hard_select",
    "Where several weights are the largest, you add their rows up. Only the first of them counts.",
)
def all_equals_added_up(hs, a):
    return (a == a.max()).astype(hs.dtype) @ hs


@wrong(
    "hard_select",
    "You round the weights to 0 and 1. The largest weight may well be below one half, or below zero.",
)
def weights_rounded(hs, a):
    return np.round(a) @ hs


@wrong(
    "hard_select",
    "You look for the weight of the largest size, whatever its sign. −0.9 is smaller than 0.3.",
)
def the_largest_size(hs, a):
    return hs[np.argmax(np.abs(a))]


@wrong(
    "hard_select",
    "You take the row with the smallest weight.",
)
def the_smallest_weight(hs, a):
    return hs[np.argmin(a)]


@wrong(
    "hard_select",
    "Your search begins from a largest weight of 0, so weights that are all below zero never count.",
)
def a_search_that_begins_at_zero(hs, a):
    best, largest = 0, 0.0
    for t in range(len(a)):
        if a[t] > largest:
            best, largest = t, a[t]
    return hs[best]


@right("hard_select")
def a_loop_over_the_weights(hs, a):
    best = 0
    for t, weight in enumerate(a):
        if weight > a[best]:
            best = t
    return hs[best].copy()


@right("hard_select")
def a_one_hot_row_times_hs(hs, a):
    chosen = np.zeros(len(a))
    chosen[a.argmax()] = 1.0
    return chosen @ hs


@right("hard_select")
def python_own_index_of_the_maximum(hs, a):
    weights = a.tolist()
    return np.array(hs[weights.index(max(weights))])


@right("hard_select")
def a_stable_sort_of_the_negated_weights(hs, a):
    order = np.argsort(-a, kind="stable")
    return hs[order[0]]


# weighted_sum ---------------------------------------------------------------------------------------
# Weights that do not sum to 1, one of them below zero; then as many rows as columns, where a wrong
# broadcast goes unnoticed.

probe(
    "weighted_sum",
    np.array([[1.0, 2.0, -1.0], [0.5, -3.0, 4.0], [2.5, 0.25, 7.0], [-2.0, 6.0, 0.75]]),
    np.array([0.5, 2.0, -1.0, 0.25]),
)
probe(
    "weighted_sum",
    np.array([[1.0, 2.0, -1.0], [0.5, -3.0, 4.0], [2.5, 0.25, 7.0]]),
    np.array([0.75, 2.0, -0.5]),
)
probe(
    "weighted_sum",
    np.array([[1.5, 2.0], [0.5, -3.0], [2.5, 0.25], [-2.0, 6.0], [3.0, 1.0]]),
    np.array([0.5, 1.5, -1.0, 0.25, 3.0]),
)


@wrong(
    "weighted_sum",
    "The weights were laid along the numbers of a row. Each weight belongs to a whole row.",
    "NumPy lines shapes up from the right: (T,) beside (T, H) meets H. Give a the shape of a column first.",
)
def weights_along_the_hidden_axis(hs, a):
    return (hs * a).sum(axis=0)


@wrong(
    "weighted_sum",
    "In your product each row of hs meets all the weights. A matrix product sums over the axes that touch: T should touch T.",
)
def matrix_product_the_wrong_way_round(hs, a):
    return hs @ a


@wrong(
    "weighted_sum",
    "You add up along the numbers of a row, so one number for each word is left. Add up over the words.",
)
def sum_over_the_hidden_axis(hs, a):
    return (hs * a[:, None]).sum(axis=1)


@wrong(
    "weighted_sum",
    "The rows have their weights, but they are not yet added up: the context is one vector.",
)
def products_not_added_up(hs, a):
    return hs * a[:, None]


@wrong(
    "weighted_sum",
    "You added up everything into a single number. The sum runs over the words alone.",
)
def sum_over_everything(hs, a):
    return np.sum(hs * a[:, None])


@wrong(
    "weighted_sum",
    "You divide by the number of words: that is a mean of the products. Here the weights alone say how much each counts.",
)
def mean_in_place_of_the_sum(hs, a):
    return (hs * a[:, None]).mean(axis=0)


@wrong(
    "weighted_sum",
    "You made the weights sum to 1 first. Use them as they come.",
)
def weights_made_to_sum_to_one(hs, a):
    return (a / a.sum()) @ hs


@wrong(
    "weighted_sum",
    "You sent the weights through a softmax first. They are weights already: use them as they come.",
)
def softmax_of_the_weights(hs, a):
    e = np.exp(a - a.max())
    return (e / e.sum()) @ hs


@wrong(
    "weighted_sum",
    "The rows are added up without their weights, so every word counts the same.",
)
def sum_without_weights(hs, a):
    return hs.sum(axis=0)


@wrong(
    "weighted_sum",
    "You took one row and left the others out. Each row gives a part, as large as its weight.",
)
def the_hard_choice(hs, a):
    return hs[np.argmax(a)]


@wrong(
    "weighted_sum",
    "The sizes 4 and 3 are written into your answer, so it fits one example alone. Take T and H from the shape of hs.",
)
def sizes_written_into_the_code(hs, a):
    ar = a.reshape(4, 1).repeat(3, axis=1)
    return np.sum(hs * ar, axis=0)


@wrong(
    "weighted_sum",
    "Your loop leaves out the last word.",
)
def the_last_word_left_out(hs, a):
    c = np.zeros(hs.shape[1])
    for t in range(len(a) - 1):
        c = c + a[t] * hs[t]
    return c


@wrong(
    "weighted_sum",
    "hs is not what it was: you multiplied the weights into it. It will be used again.",
    "`*=` and `+=` write into the array that you were given, and also into its rows. Make a new array.",
)
def weights_multiplied_into_hs(hs, a):
    hs *= a[:, None]
    return hs.sum(axis=0)


@right("weighted_sum")
def a_loop_over_the_words(hs, a):
    c = np.zeros(hs.shape[1], dtype=hs.dtype)
    for t in range(hs.shape[0]):
        c += a[t] * hs[t]
    return c


@right("weighted_sum")
def weights_times_the_table(hs, a):
    return a @ hs


@right("weighted_sum")
def einsum_over_t(hs, a):
    return np.einsum("t,th->h", a, hs)


@right("weighted_sum")
def repeat_multiply_sum(hs, a):
    T, H = hs.shape
    ar = a.reshape(T, 1).repeat(H, axis=1)
    return (hs * ar).sum(axis=0)


@right("weighted_sum")
def the_transposed_table_times_the_weights(hs, a):
    return np.dot(hs.T, a)


@right("weighted_sum")
def number_by_number(hs, a):
    def column(k):
        return sum(float(weight) * float(row[k]) for weight, row in zip(a, hs, strict=True))

    return np.array([column(k) for k in range(hs.shape[1])])


# weighted_sum_batch ---------------------------------------------------------------------------------
# All sizes different; one sentence; N = T; then all three equal: each hides another mistake.

probe(
    "weighted_sum_batch",
    np.array(
        [[[1.0, 2.0], [0.5, -3.0], [2.5, 0.25], [-1.5, 4.0]], [[3.0, -1.0], [5.0, 0.75], [-2.0, 6.0], [1.25, 7.0]]]
    ),
    np.array([[0.5, 2.0, -1.0, 0.75], [1.5, 0.25, 3.0, -0.5]]),
)
probe(
    "weighted_sum_batch",
    np.array([[[1.0, 2.0, 5.0], [0.5, -3.0, 8.0], [2.5, 0.25, -4.0], [-1.5, 4.0, 0.5]]]),
    np.array([[0.5, 2.0, -1.0, 0.75]]),
)
probe(
    "weighted_sum_batch",
    np.array([[[1.0, 2.0, 4.0], [0.5, -3.0, 9.0]], [[3.0, -1.0, 0.0], [5.0, 0.75, -2.0]]]),
    np.array([[0.5, 2.0], [1.5, 0.25]]),
)
probe(
    "weighted_sum_batch",
    np.array([[[1.0, 2.0], [0.5, -3.0]], [[3.0, -1.0], [5.0, 0.75]]]),
    np.array([[0.5, 2.0], [1.5, 0.25]]),
)


@wrong(
    "weighted_sum_batch",
    "The new axis of a stands before the words, so the weights meet the numbers of a row. A weight belongs to a whole row.",
    "Write the shapes of a and hs under each other, from the right: T must stand under T.",
)
def the_new_axis_in_the_middle(hs, a):
    return (a[:, None] * hs).sum(axis=1)


@wrong(
    "weighted_sum_batch",
    "a and hs are multiplied as they come: NumPy lines them up from the right, and T meets H, N meets T.",
    "a needs one more axis, for the numbers of a row.",
)
def no_new_axis_at_all(hs, a):
    return (a * hs).sum(axis=1)


@wrong(
    "weighted_sum_batch",
    "Your product applies every sentence's weights to every sentence's rows: N × N contexts. Each sentence has only its own.",
    "Give each sentence's weights the shape of a matrix with one row, (1, T).",
)
def every_weight_with_every_sentence(hs, a):
    return a @ hs


@wrong(
    "weighted_sum_batch",
    "`np.dot` pairs every row of a with every sentence of hs: N × N contexts. Each sentence has only its own weights.",
)
def dot_with_every_sentence(hs, a):
    return np.dot(a, hs)


@wrong(
    "weighted_sum_batch",
    "You used the first sentence's weights for all sentences.",
)
def the_first_sentence_weights_for_all(hs, a):
    return np.einsum("t,nth->nh", a[0], hs)


@wrong(
    "weighted_sum_batch",
    "You add up over the sentences. The sum runs over the words of one sentence.",
    "With the batch in front, the words are no longer axis 0.",
)
def sum_over_the_batch(hs, a):
    return (hs * a[:, :, None]).sum(axis=0)


@wrong(
    "weighted_sum_batch",
    "You add up along the numbers of a row, so a number for each word is left. Add up over the words.",
)
def sum_over_the_hidden_axis_in_a_batch(hs, a):
    return (hs * a[:, :, None]).sum(axis=2)


@wrong(
    "weighted_sum_batch",
    "You divide by the number of words: that is a mean. The weights alone say how much each word counts.",
)
def mean_over_the_words(hs, a):
    return (hs * a[:, :, None]).mean(axis=1)


@wrong(
    "weighted_sum_batch",
    "You made each sentence's weights sum to 1 first. Use them as they come.",
)
def rows_of_weights_made_to_sum_to_one(hs, a):
    return np.einsum("nt,nth->nh", a / a.sum(axis=1, keepdims=True), hs)


@wrong(
    "weighted_sum_batch",
    "The repeated weights have the right shape and the wrong order: each weight's copies should lie side by side along a row.",
    "`tile` repeats the whole row of weights; what you need repeats every single weight.",
)
def tiled_in_place_of_repeated(hs, a):
    N, T, H = hs.shape
    ar = np.tile(a, H).reshape(N, T, H)
    return (hs * ar).sum(axis=1)


@wrong(
    "weighted_sum_batch",
    "A batch of one sentence lost its batch axis. One sentence should give (1, H).",
    "Squeezing drops every axis of size 1: name the one that you mean.",
)
def squeezed_too_much(hs, a):
    return (a[:, None, :] @ hs).squeeze()


@wrong(
    "weighted_sum_batch",
    "The weights are read in the wrong order: a is transposed, so word t of sentence n gets another one's weight.",
)
def transposed_weights(hs, a):
    return (hs * a.T[:, :, None]).sum(axis=1)


@wrong(
    "weighted_sum_batch",
    "hs is not what it was: you multiplied the weights into it. Make a new array.",
)
def weights_multiplied_into_the_batch(hs, a):
    hs *= a[:, :, None]
    return hs.sum(axis=1)


@right("weighted_sum_batch")
def one_sentence_after_the_other(hs, a):
    return np.stack([weighted_sum(rows, weights) for rows, weights in zip(hs, a, strict=True)])


@right("weighted_sum_batch")
def einsum_over_t_in_a_batch(hs, a):
    return np.einsum("nt,nth->nh", a, hs)


@right("weighted_sum_batch")
def matrices_with_one_row(hs, a):
    return np.matmul(a[:, np.newaxis, :], hs)[:, 0, :]


@right("weighted_sum_batch")
def repeat_multiply_sum_in_a_batch(hs, a):
    N, T, H = hs.shape
    ar = a.reshape(N, T, 1).repeat(H, axis=2)
    return np.sum(hs * ar, axis=1)


@right("weighted_sum_batch")
def word_after_word(hs, a):
    c = 0
    for t in range(hs.shape[1]):
        c = c + a[:, t : t + 1] * hs[:, t]
    return c


@right("weighted_sum_batch")
def with_torch(hs, a):
    import torch

    return torch.einsum("nt,nth->nh", torch.from_numpy(a), torch.from_numpy(hs)).numpy()


# weighted_sum_grad ----------------------------------------------------------------------------------
# All sizes different; one sentence; then all three equal, where a wrong axis goes unnoticed.

probe(
    "weighted_sum_grad",
    np.array([[1.0, -2.0], [0.5, 3.0], [-1.5, 4.0]]),
    np.array(
        [
            [[1.0, 2.0], [0.5, -3.0], [2.5, 0.25], [-1.5, 4.0]],
            [[3.0, -1.0], [5.0, 0.75], [-2.0, 6.0], [1.25, 7.0]],
            [[0.25, 8.0], [-6.0, 1.5], [9.0, 2.25], [0.125, -5.0]],
        ]
    ),
    np.array([[0.5, 2.0, -1.0, 0.75], [1.5, 0.25, 3.0, -0.5], [4.0, -0.125, 0.375, 1.0]]),
)
probe(
    "weighted_sum_grad",
    np.array([[2.0, -1.0, 0.5]]),
    np.array([[[1.0, 2.0, 3.0], [0.5, -3.0, 1.5]]]),
    np.array([[0.5, 2.0]]),
)
probe(
    "weighted_sum_grad",
    np.array([[1.0, -2.0], [0.5, 3.0]]),
    np.array([[[1.0, 2.0], [0.5, -3.0]], [[3.0, -1.0], [5.0, 0.75]]]),
    np.array([[0.5, 2.0], [1.5, 0.25]]),
)


@wrong(
    "weighted_sum_grad",
    "da has one axis too many. A weight was used for every number of its row: what comes back from all of them adds up.",
)
def da_not_added_up(dc, hs, a):
    dt = dc[:, None, :]
    return dt * a[:, :, None], dt * hs


@wrong(
    "weighted_sum_grad",
    "dhs is the gradient dc, repeated. A row that counted for little should get little of it.",
)
def dhs_without_the_weights(dc, hs, a):
    dt = np.repeat(dc[:, None, :], hs.shape[1], axis=1)
    return dt, np.sum(dt * hs, axis=2)


@wrong(
    "weighted_sum_grad",
    "Both gradients are there, in the other order: dhs comes first.",
)
def da_before_dhs(dc, hs, a):
    dt = dc[:, None, :]
    return np.sum(dt * hs, axis=2), dt * a[:, :, None]


@wrong(
    "weighted_sum_grad",
    "Each input got its own value back as the factor. In a product, the slope along one input is the other input.",
)
def factors_not_swapped(dc, hs, a):
    dt = dc[:, None, :]
    return dt * hs, np.sum(dt * a[:, :, None], axis=2)


@wrong(
    "weighted_sum_grad",
    "You give the slopes of c alone; dc is not in them. The chain rule multiplies the two.",
)
def dc_left_out(dc, hs, a):
    return np.repeat(a[:, :, None], hs.shape[2], axis=2), hs.sum(axis=2)


@wrong(
    "weighted_sum_grad",
    "For da you take the mean over a row's numbers. Their parts add up.",
)
def da_as_a_mean(dc, hs, a):
    dt = dc[:, None, :]
    return dt * a[:, :, None], np.mean(dt * hs, axis=2)


@wrong(
    "weighted_sum_grad",
    "da is added up over the words. Each word's weight has a gradient of its own.",
)
def da_added_up_over_the_words(dc, hs, a):
    dt = dc[:, None, :]
    return dt * a[:, :, None], np.sum(dt * hs, axis=1)


@wrong(
    "weighted_sum_grad",
    "dc is lined up with the words and not with the sentences: an error, or where N equals T wrong gradients without one.",
    "dc is (N, H) and hs is (N, T, H). The axis that dc lacks is the one in the middle.",
)
def dc_lined_up_with_the_words(dc, hs, a):
    dt = dc[None, :]
    return dt * a[:, :, None], np.sum(dt * hs, axis=2)


@wrong(
    "weighted_sum_grad",
    "You divide the gradients by the number of sentences. dc is the gradient as it comes: nothing is averaged here.",
)
def averaged_over_the_batch(dc, hs, a):
    dt = dc[:, None, :] / len(dc)
    return dt * a[:, :, None], np.sum(dt * hs, axis=2)


@wrong(
    "weighted_sum_grad",
    "You share dc out among the words, as a mean would. The forward step was a sum: every word gets all of it.",
)
def dc_shared_out_among_the_words(dc, hs, a):
    dt = np.repeat(dc[:, None, :], hs.shape[1], axis=1) / hs.shape[1]
    return dt * a[:, :, None], np.sum(dt * hs, axis=2)


@wrong(
    "weighted_sum_grad",
    "The gradients are added up over the batch. Each sentence has rows and weights of its own, and so gradients of its own.",
)
def added_up_over_the_batch(dc, hs, a):
    dt = dc[:, None, :]
    return np.sum(dt * a[:, :, None], axis=0), np.sum(np.sum(dt * hs, axis=2), axis=0)


@wrong(
    "weighted_sum_grad",
    "da is the gradient to what stands before a softmax. There is no softmax in this step: a itself is the input.",
)
def da_sent_through_a_softmax(dc, hs, a):
    dt = dc[:, None, :]
    da = np.sum(dt * hs, axis=2)
    return dt * a[:, :, None], a * (da - np.sum(a * da, axis=1, keepdims=True))


@wrong(
    "weighted_sum_grad",
    "Only one gradient came back. Both inputs of the weighted sum get one: the rows and the weights.",
)
def dhs_alone(dc, hs, a):
    return dc[:, None, :] * a[:, :, None]


@wrong(
    "weighted_sum_grad",
    "hs is not what it was: you wrote into it. It will be used again.",
)
def dhs_written_into_hs(dc, hs, a):
    da = np.einsum("nh,nth->nt", dc, hs)
    hs[...] = dc[:, None, :] * a[:, :, None]
    return hs, da


@right("weighted_sum_grad")
def gradients_by_loops(dc, hs, a):
    dhs, da = np.zeros(hs.shape), np.zeros(a.shape)
    for n in range(hs.shape[0]):
        for t in range(hs.shape[1]):
            dhs[n, t] = a[n, t] * dc[n]
            da[n, t] = np.dot(dc[n], hs[n, t])
    return dhs, da


@right("weighted_sum_grad")
def gradients_by_einsum(dc, hs, a):
    return np.einsum("nh,nt->nth", dc, a), np.einsum("nh,nth->nt", dc, hs)


@right("weighted_sum_grad")
def gradients_by_matrix_products(dc, hs, a):
    da = (hs @ dc[:, :, None])[:, :, 0]
    dhs = a[:, :, None] @ dc[:, None, :]
    return [dhs, da]


@right("weighted_sum_grad")
def node_by_node(dc, hs, a):
    N, T, H = hs.shape
    dt = dc.reshape(N, 1, H).repeat(T, axis=1)
    ar = a.reshape(N, T, 1).repeat(H, axis=2)
    dhs = dt * ar
    dar = dt * hs
    da = np.sum(dar, axis=2)
    return dhs, da


# numerical_grad -------------------------------------------------------------------------------------
# Steps so large that one-sided differences and wrong divisors show, and that x + step − step is not x;
# then x of two axes, also laid out the other way round in memory; a single number; float32.

probe("numerical_grad", Cubic(np.array([1.0, -2.0, 0.5])), np.array([0.3, 0.7, -1.1]), eps=0.1)
probe(
    "numerical_grad",
    Cubic(np.array([[1.0, -2.0, 0.5], [3.0, 0.25, -1.5]])),
    np.array([[0.3, 0.7, -1.1], [0.9, 2.0, 1.3]]),
)
probe(
    "numerical_grad",
    Cubic(np.array([[1.0, -2.0, 0.5], [3.0, 0.25, -1.5]])),
    np.array([[0.3, 0.7], [-1.1, 0.9], [2.0, 1.3]]).T,
)
probe("numerical_grad", Cubic(np.array(2.0)), np.array(1.5))
probe("numerical_grad", Cubic(np.array([1.0, -2.0])), np.array([1.1, 1.7], dtype=np.float32))


@wrong(
    "numerical_grad",
    "You look to one side only. A central difference compares a step forward with a step back.",
)
def forward_difference(f, x, eps=1e-5):
    point = np.array(x, dtype=np.float64)
    grad = np.zeros(point.shape)
    here = f(point)
    for index in np.ndindex(point.shape):
        centre = point[index]
        point[index] = centre + eps
        grad[index] = (f(point) - here) / eps
        point[index] = centre
    return grad


@wrong(
    "numerical_grad",
    "You look back only. A central difference compares a step forward with a step back.",
)
def backward_difference(f, x, eps=1e-5):
    point = np.array(x, dtype=np.float64)
    grad = np.zeros(point.shape)
    here = f(point)
    for index in np.ndindex(point.shape):
        centre = point[index]
        point[index] = centre - eps
        grad[index] = (here - f(point)) / eps
        point[index] = centre
    return grad


@wrong(
    "numerical_grad",
    "Your slopes are twice too steep. How far apart are the two places at which you ask f?",
)
def divided_by_eps_alone(f, x, eps=1e-5):
    point = np.array(x, dtype=np.float64)
    grad = np.zeros(point.shape)
    for index in np.ndindex(point.shape):
        centre = point[index]
        point[index] = centre + eps
        above = f(point)
        point[index] = centre - eps
        grad[index] = (above - f(point)) / eps
        point[index] = centre
    return grad


@wrong(
    "numerical_grad",
    "Your slopes are almost zero: `/ 2 * eps` divides by 2 and then multiplies by eps. Put the divisor in brackets.",
)
def multiplied_by_eps(f, x, eps=1e-5):
    point = np.array(x, dtype=np.float64)
    grad = np.zeros(point.shape)
    for index in np.ndindex(point.shape):
        centre = point[index]
        point[index] = centre + eps
        above = f(point)
        point[index] = centre - eps
        grad[index] = (above - f(point)) / 2 * eps
        point[index] = centre
    return grad


@wrong(
    "numerical_grad",
    "Your sign is turned round: f after the step forward comes first, f after the step back is taken away.",
)
def back_minus_forward(f, x, eps=1e-5):
    point = np.array(x, dtype=np.float64)
    grad = np.zeros(point.shape)
    for index in np.ndindex(point.shape):
        centre = point[index]
        point[index] = centre - eps
        below = f(point)
        point[index] = centre + eps
        grad[index] = (below - f(point)) / (2 * eps)
        point[index] = centre
    return grad


@wrong(
    "numerical_grad",
    "Your step is half as long as asked: f should be called at eps above and at eps below.",
)
def half_a_step(f, x, eps=1e-5):
    point = np.array(x, dtype=np.float64)
    grad = np.zeros(point.shape)
    for index in np.ndindex(point.shape):
        centre = point[index]
        point[index] = centre + eps / 2
        above = f(point)
        point[index] = centre - eps / 2
        grad[index] = (above - f(point)) / eps
        point[index] = centre
    return grad


@wrong(
    "numerical_grad",
    "The argument eps makes no difference: a step is written into your answer.",
)
def a_step_of_its_own(f, x, eps=1e-5):
    step = 1e-5
    point = np.array(x, dtype=np.float64)
    grad = np.zeros(point.shape)
    for index in np.ndindex(point.shape):
        centre = point[index]
        point[index] = centre + step
        above = f(point)
        point[index] = centre - step
        grad[index] = (above - f(point)) / (2 * step)
        point[index] = centre
    return grad


@wrong(
    "numerical_grad",
    "All numbers are nudged at once, so their slopes come added up. Nudge one, and leave the others where they are.",
)
def all_nudged_at_once(f, x, eps=1e-5):
    x = np.asarray(x, dtype=np.float64)
    return np.full(x.shape, (f(x + eps) - f(x - eps)) / (2 * eps))


@wrong(
    "numerical_grad",
    "x is not what it was: adding eps and taking it away leaves at least traces of rounding. Keep the old number and put it back.",
)
def traces_of_rounding_in_x(f, x, eps=1e-5):
    x = x if x.dtype == np.float64 else x.astype(np.float64)
    grad = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        x[index] += eps
        above = f(x)
        x[index] -= 2 * eps
        grad[index] = (above - f(x)) / (2 * eps)
        x[index] += eps
    return grad


@wrong(
    "numerical_grad",
    "You nudge in x's own kind of number. In float32 a step of 1e-5 is lost in rounding, and in whole numbers at once.",
)
def nudged_in_the_kind_of_x(f, x, eps=1e-5):
    point = x.copy()
    grad = np.zeros(point.shape)
    for index in np.ndindex(point.shape):
        centre = point[index]
        point[index] = centre + eps
        above = f(point)
        point[index] = centre - eps
        grad[index] = (above - f(point)) / (2 * eps)
        point[index] = centre
    return grad


@wrong(
    "numerical_grad",
    "For some arrays all your slopes are 0. Flattening gives a copy when the numbers do not lie side by side: x never felt the nudge.",
    "Walk over the indices of x itself, or call f with the array that you nudged.",
)
def a_flattened_copy_is_nudged(f, x, eps=1e-5):
    x = np.asarray(x, dtype=np.float64)
    flat = x.ravel()
    grad = np.zeros(x.size)
    for i in range(x.size):
        centre = flat[i]
        flat[i] = centre + eps
        above = f(x)
        flat[i] = centre - eps
        grad[i] = (above - f(x)) / (2 * eps)
        flat[i] = centre
    return grad.reshape(x.shape)


@wrong(
    "numerical_grad",
    "Your loop walks along the first axis only, and nudges a whole row at once. x may have any number of axes, or none.",
)
def only_the_first_axis(f, x, eps=1e-5):
    point = np.array(x, dtype=np.float64)
    grad = np.zeros(point.shape)
    for i in range(len(point)):
        centre = point[i].copy()
        point[i] = centre + eps
        above = f(point)
        point[i] = centre - eps
        grad[i] = (above - f(point)) / (2 * eps)
        point[i] = centre
    return grad


@wrong(
    "numerical_grad",
    "Two things at once. Your loop walks along the first axis only, and nudges a whole row at once. And it nudges in x's own kind of number, where a step of 1e-5 may be lost.",
)
def only_the_first_axis_in_the_kind_of_x(f, x, eps=1e-5):
    grad = np.zeros_like(x)
    for i in range(len(x)):
        above, below = x.copy(), x.copy()
        above[i] += eps
        below[i] -= eps
        grad[i] = (f(above) - f(below)) / (2 * eps)
    return grad


@wrong(
    "numerical_grad",
    "Your loop walks along the first axis only: a table gets one slope for each row. x may have any number of axes, or none, and each number has a slope.",
)
def one_slope_for_each_row(f, x, eps=1e-5):
    point = np.array(x, dtype=np.float64)
    grad = np.zeros(len(point))
    for i in range(len(point)):
        above, below = point.copy(), point.copy()
        above[i] += eps
        below[i] -= eps
        grad[i] = (f(above) - f(below)) / (2 * eps)
    return grad


@wrong(
    "numerical_grad",
    "Two things at once. A table gets one slope for each row: x may have any number of axes, or none, and each number has a slope. And you nudge in x's own kind of number, where a step of 1e-5 may be lost.",
)
def one_slope_for_each_row_in_the_kind_of_x(f, x, eps=1e-5):
    grad = np.zeros(len(x))
    for i in range(len(x)):
        above, below = x.copy(), x.copy()
        above[i] += eps
        below[i] -= eps
        grad[i] = (f(above) - f(below)) / (2 * eps)
    return grad


@wrong(
    "numerical_grad",
    "You call f with a flat array. It may need the shape of x: two rows to multiply, say.",
    "Flatten for the loop if you like, but give f an array of the shape of x.",
)
def f_called_with_a_flat_array(f, x, eps=1e-5):
    flat = np.array(x, dtype=np.float64, order="C").reshape(-1)
    grad = np.zeros(flat.size)
    for i in range(flat.size):
        centre = flat[i]
        flat[i] = centre + eps
        above = f(flat)
        flat[i] = centre - eps
        grad[i] = (above - f(flat)) / (2 * eps)
        flat[i] = centre
    return grad.reshape(np.shape(x))


@wrong(
    "numerical_grad",
    "Your slopes come as one long row. The gradient has the shape of x.",
)
def a_flat_result(f, x, eps=1e-5):
    point = np.array(x, dtype=np.float64)
    slopes = []
    for index in np.ndindex(point.shape):
        centre = point[index]
        point[index] = centre + eps
        above = f(point)
        point[index] = centre - eps
        slopes.append((above - f(point)) / (2 * eps))
        point[index] = centre
    return np.array(slopes)


@right("numerical_grad")
def a_flat_copy(f, x, eps=1e-5):
    shape = np.shape(x)
    flat = np.array(x, dtype=np.float64, order="C").reshape(-1)
    grad = np.empty(flat.size)
    for i, centre in enumerate(flat.tolist()):
        flat[i] = centre + eps
        above = f(flat.reshape(shape).copy())
        flat[i] = centre - eps
        below = f(flat.reshape(shape).copy())
        flat[i] = centre
        grad[i] = (above - below) / (2 * eps)
    return grad.reshape(shape)


@right("numerical_grad")
def a_new_array_for_each_nudge(f, x, eps=1e-5):
    x = np.asarray(x, dtype=np.float64)

    def slope(index):
        nudge = np.zeros(x.shape)
        nudge[index] = eps
        return (f(x + nudge) - f(x - nudge)) / (2 * eps)

    return np.array([slope(index) for index in np.ndindex(x.shape)]).reshape(x.shape)


@right("numerical_grad")
def in_x_itself_with_every_number_put_back(f, x, eps=1e-5):
    x = np.asarray(x, dtype=np.float64)  # x itself where it is float64
    grad = np.zeros(x.shape)
    walk = np.nditer(x, flags=["multi_index"])
    while not walk.finished:
        index = walk.multi_index
        centre = x[index].copy()
        x[index] = centre + eps
        above = f(x)
        x[index] = centre - eps
        below = f(x)
        x[index] = centre
        grad[index] = (above - below) / (2 * eps)
        walk.iternext()
    return grad


@right("numerical_grad")
def in_the_kind_of_x(f, x, eps=1e-5):
    point = x.astype(np.float64)
    grad = np.zeros_like(point)
    for index in np.ndindex(x.shape):
        sides = []
        for step in (eps, -eps):
            moved = point.copy()
            moved[index] += step
            sides.append(f(moved))
        grad[index] = (sides[0] - sides[1]) / (2 * eps)
    return grad.astype(x.dtype)
