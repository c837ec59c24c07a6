"""What people really answer in chapter 1, and what they need to hear."""

import numpy as np

from autograder.misconceptions import probe, right, wrong
from autograder.probes import StepTable

# rnn_states -----------------------------------------------------------------------------------------
# T, D and H all differ, W_h is not symmetric, b is not zero; then a sentence of no words.

probe(
    "rnn_states",
    np.array([[1.0, -0.5], [0.25, 2.0], [-1.5, 0.5], [0.75, 0.125]]),
    np.array([[0.5, -0.25, 0.75], [-0.375, 0.625, 0.25]]),
    np.array([[0.25, 0.5, -0.75], [-0.5, 0.125, 0.375], [0.625, -0.25, 0.5]]),
    np.array([0.125, -0.375, 0.25]),
)
probe(
    "rnn_states",
    np.zeros((0, 2)),
    np.array([[0.5, -0.25, 0.75], [-0.375, 0.625, 0.25]]),
    np.array([[0.25, 0.5, -0.75], [-0.5, 0.125, 0.375], [0.625, -0.25, 0.5]]),
    np.array([0.125, -0.375, 0.25]),
)


@wrong(
    "rnn_states",
    "Each of your states knows its own word alone. A state is also made from the state before it.",
    "One of the three terms of the formula is missing, the one that carries the earlier words on.",
)
def each_state_from_its_own_word(xs, W_x, W_h, b):
    return np.tanh(xs @ W_x + b)


@wrong(
    "rnn_states",
    "The bias b is missing from your states.",
)
def no_bias(xs, W_x, W_h, b):
    h, states = np.zeros(len(b)), np.zeros((len(xs), len(b)))
    for t, x in enumerate(xs):
        h = np.tanh(x @ W_x + h @ W_h)
        states[t] = h
    return states


@wrong(
    "rnn_states",
    "Your states are sums that nothing bends: the tanh is missing.",
)
def no_tanh(xs, W_x, W_h, b):
    h, states = np.zeros(len(b)), np.zeros((len(xs), len(b)))
    for t, x in enumerate(xs):
        h = x @ W_x + h @ W_h + b
        states[t] = h
    return states


@wrong(
    "rnn_states",
    "You hand on the sum from before the tanh. The next step should get the state itself, after the tanh.",
)
def the_sum_is_handed_on(xs, W_x, W_h, b):
    z, states = np.zeros(len(b)), np.zeros((len(xs), len(b)))
    for t, x in enumerate(xs):
        z = x @ W_x + z @ W_h + b
        states[t] = np.tanh(z)
    return states


@wrong(
    "rnn_states",
    "You take a tanh of each term and add these up. There is one tanh, around the whole sum.",
)
def a_tanh_for_each_term(xs, W_x, W_h, b):
    h, states = np.zeros(len(b)), np.zeros((len(xs), len(b)))
    for t, x in enumerate(xs):
        h = np.tanh(x @ W_x) + np.tanh(h @ W_h) + b
        states[t] = h
    return states


@wrong(
    "rnn_states",
    "Your states lie between 0 and 1: you use the sigmoid. This cell uses tanh, which also goes below zero.",
)
def sigmoid_in_place_of_tanh(xs, W_x, W_h, b):
    h, states = np.zeros(len(b)), np.zeros((len(xs), len(b)))
    for t, x in enumerate(xs):
        h = 1 / (1 + np.exp(-(x @ W_x + h @ W_h + b)))
        states[t] = h
    return states


@wrong(
    "rnn_states",
    "You use W_h turned round. States are rows here: the row of the state comes first in the product.",
    "Multiplying the matrix by the state uses its transpose. NumPy cannot notice, for W_h is square.",
)
def the_state_on_the_wrong_side(xs, W_x, W_h, b):
    h, states = np.zeros(len(b)), np.zeros((len(xs), len(b)))
    for t, x in enumerate(xs):
        h = np.tanh(x @ W_x + W_h @ h + b)
        states[t] = h
    return states


@wrong(
    "rnn_states",
    "You return the last state alone. Every state is asked for, one row for each word.",
)
def the_last_state_alone(xs, W_x, W_h, b):
    h = np.zeros(len(b))
    for x in xs:
        h = np.tanh(x @ W_x + h @ W_h + b)
    return h


@wrong(
    "rnn_states",
    "You begin from a state of ones. Before the first word there is nothing to remember: begin from zeros.",
)
def a_start_from_ones(xs, W_x, W_h, b):
    h, states = np.ones(len(b)), np.zeros((len(xs), len(b)))
    for t, x in enumerate(xs):
        h = np.tanh(x @ W_x + h @ W_h + b)
        states[t] = h
    return states


@wrong(
    "rnn_states",
    "The same sentence gives other states each time: you begin from random numbers. Begin from zeros.",
)
def a_random_start(xs, W_x, W_h, b):
    h, states = np.random.randn(len(b)), np.zeros((len(xs), len(b)))
    for t, x in enumerate(xs):
        h = np.tanh(x @ W_x + h @ W_h + b)
        states[t] = h
    return states


@wrong(
    "rnn_states",
    "You have one row too many: the state before the first word is not asked for.",
)
def the_state_before_the_first_word_too(xs, W_x, W_h, b):
    states = np.zeros((len(xs) + 1, len(b)))
    for t, x in enumerate(xs):
        states[t + 1] = np.tanh(x @ W_x + states[t] @ W_h + b)
    return states


@wrong(
    "rnn_states",
    "Your rows are one step late: each holds the state from before its word, and the last state is missing.",
    "You keep the state first and compute the new one afterwards. Turn these two around.",
)
def kept_before_it_is_new(xs, W_x, W_h, b):
    h, states = np.zeros(len(b)), np.zeros((len(xs), len(b)))
    for t, x in enumerate(xs):
        states[t] = h
        h = np.tanh(x @ W_x + h @ W_h + b)
    return states


@wrong(
    "rnn_states",
    "All your rows are equal to the last one: you keep the same array again and again, and it goes on changing.",
    "A list keeps the array, not what stood in it at the time. Make a new array at each step, or keep a copy.",
)
def the_same_array_again_and_again(xs, W_x, W_h, b):
    h, states = np.zeros(len(b)), []
    for x in xs:
        h[:] = np.tanh(x @ W_x + h @ W_h + b)
        states.append(h)
    return np.array(states).reshape(len(xs), len(b))


@wrong(
    "rnn_states",
    "You read the sentence from its end. The first step belongs to the first word.",
)
def the_last_word_first(xs, W_x, W_h, b):
    h, states = np.zeros(len(b)), np.zeros((len(xs), len(b)))
    for t, x in enumerate(xs[::-1]):
        h = np.tanh(x @ W_x + h @ W_h + b)
        states[t] = h
    return states


@wrong(
    "rnn_states",
    "Your states are the columns of the table. They should be its rows: one row for each word.",
)
def a_column_for_each_word(xs, W_x, W_h, b):
    h, states = np.zeros(len(b)), np.zeros((len(b), len(xs)))
    for t, x in enumerate(xs):
        h = np.tanh(x @ W_x + h @ W_h + b)
        states[:, t] = h
    return states


@wrong(
    "rnn_states",
    "You return a Python list of states. Make one NumPy array of them.",
)
def a_list_of_states(xs, W_x, W_h, b):
    h, states = np.zeros(len(b)), []
    for x in xs:
        h = np.tanh(x @ W_x + h @ W_h + b)
        states.append(h)
    return states


@wrong(
    "rnn_states",
    "A sentence of no words should give an array with no rows and H columns. Yours has lost its columns.",
    "An array made from an empty list cannot know how many columns it should have had.",
)
def no_words_no_columns(xs, W_x, W_h, b):
    h, states = np.zeros(len(b)), []
    for x in xs:
        h = np.tanh(x @ W_x + h @ W_h + b)
        states.append(h)
    return np.array(states)


@wrong(
    "rnn_states",
    "A sentence of no words makes your answer fail: there is nothing to put together. It should give no rows, and H columns.",
)
def no_words_an_error(xs, W_x, W_h, b):
    h, states = np.zeros(len(b)), []
    for x in xs:
        h = np.tanh(x @ W_x + h @ W_h + b)
        states.append(h)
    return np.stack(states)


@right("rnn_states")
def a_table_filled_row_by_row(xs, W_x, W_h, b):
    hs = np.zeros((xs.shape[0] + 1, W_h.shape[0]))
    from_words = xs @ W_x + b  # all words at once: only the recurrent part has to wait
    for t in range(xs.shape[0]):
        hs[t + 1] = np.tanh(from_words[t] + hs[t] @ W_h)
    return hs[1:]


@right("rnn_states")
def a_list_stacked_and_reshaped(xs, W_x, W_h, b):
    H = b.shape[0]
    h = np.zeros(H, dtype=xs.dtype)
    states = []
    for x in xs:
        h = np.tanh(np.einsum("d,dh->h", x, W_x) + np.einsum("i,ih->h", h, W_h) + b)
        states.append(h)
    return np.array(states, dtype=xs.dtype).reshape(-1, H)


@right("rnn_states")
def recursion(xs, W_x, W_h, b):
    if len(xs) == 0:
        return np.zeros((0, len(b)))
    before = rnn_states(xs[:-1], W_x, W_h, b)
    h = before[-1] if len(before) else np.zeros(len(b))
    return np.concatenate([before, np.tanh(xs[-1:] @ W_x + h @ W_h + b)])


@right("rnn_states")
def both_matrices_joined(xs, W_x, W_h, b):
    W = np.vstack([W_x, W_h, b[None, :]])  # (D + H + 1, H)
    hs = np.empty((len(xs), len(b)))
    h = np.zeros(len(b))
    for t in range(len(xs)):
        h = np.tanh(np.concatenate([xs[t], h, [1.0]]) @ W)
        hs[t] = h
    return hs


@right("rnn_states")
def with_torch(xs, W_x, W_h, b):
    import torch

    words, from_word, from_state, bias = (torch.from_numpy(np.array(array)) for array in (xs, W_x, W_h, b))
    hs = torch.zeros(len(words), len(bias), dtype=bias.dtype)
    h = torch.zeros(len(bias), dtype=bias.dtype)
    for t in range(len(words)):
        h = torch.tanh(words[t] @ from_word + h @ from_state + bias)
        hs[t] = h
    return hs.numpy()


# encode_fixed ---------------------------------------------------------------------------------------
# One sentence fills the batch, one has a single word; padding of numbers, then of zeros; a real step
# of zeros; then lengths that no sentence can have.

probe(
    "encode_fixed",
    np.array(
        [
            [[1.0, -2.0], [0.5, 3.0], [4.0, -0.25], [2.5, 6.0]],
            [[-1.5, 0.75], [7.0, 1.25], [-3.0, 5.0], [0.125, -4.0]],
            [[2.0, 8.0], [-6.0, 0.375], [1.75, -7.0], [9.0, 3.5]],
        ]
    ),
    np.array([2, 3, 1]),
)
probe(
    "encode_fixed",
    np.array([[[1.0, -2.0], [0.5, 3.0], [4.0, -0.25]], [[-1.5, 0.75], [7.0, 1.25], [0.0, 0.0]]]),
    np.array([3, 2]),
)
probe(
    "encode_fixed",
    np.array([[[1.0, -2.0], [0.0, 0.0], [4.0, -0.25]], [[-1.5, 0.75], [7.0, 1.25], [2.5, -6.0]]]),
    np.array([2, 1]),
)
probe(
    "encode_fixed",
    np.array([[[1.0, -2.0], [0.5, 3.0], [4.0, -0.25]], [[-1.5, 0.75], [7.0, 1.25], [2.5, -6.0]]]),
    np.array([2, 0]),
    naming=(0, 3),
)
probe(
    "encode_fixed",
    np.array([[[1.0, -2.0], [0.5, 3.0], [4.0, -0.25]], [[-1.5, 0.75], [7.0, 1.25], [2.5, -6.0]]]),
    np.array([2, 5]),
    naming=(5, 3),
)


@wrong(
    "encode_fixed",
    "You take each sentence's last row. In a short sentence that row is padding.",
    "How many rows of a sentence are real stands in lengths.",
)
def the_last_row_of_all(hs, lengths):
    T = hs.shape[1]
    for length in lengths:
        if not 1 <= length <= T:
            raise ValueError(f"length {length} with T = {T}")
    return hs[:, -1]


@wrong(
    "encode_fixed",
    "You are one step late. A sentence of two words has its last state in row 1, because rows are counted from 0.",
)
def one_step_late(hs, lengths):
    N, T = hs.shape[:2]
    for length in lengths:
        if not 1 <= length <= T:
            raise ValueError(f"length {length} with T = {T}")
    return hs[np.arange(N), lengths]


@wrong(
    "encode_fixed",
    "You are one step late, and where a sentence fills the batch you stay on its last row to avoid the error. That error was right.",
)
def one_step_late_and_clipped(hs, lengths):
    N, T = hs.shape[:2]
    for length in lengths:
        if not 1 <= length <= T:
            raise ValueError(f"length {length} with T = {T}")
    return hs[np.arange(N), np.minimum(lengths, T - 1)]


@wrong(
    "encode_fixed",
    "You average over the states of a sentence, padding and all. One state is asked for, the last real one.",
)
def the_mean_of_all_rows(hs, lengths):
    T = hs.shape[1]
    for length in lengths:
        if not 1 <= length <= T:
            raise ValueError(f"length {length} with T = {T}")
    return hs.mean(axis=1)


@wrong(
    "encode_fixed",
    "You average over the real states of a sentence. One state is asked for, the last real one.",
)
def the_mean_of_the_real_rows(hs, lengths):
    T = hs.shape[1]
    for length in lengths:
        if not 1 <= length <= T:
            raise ValueError(f"length {length} with T = {T}")
    return np.array([hs[n, :length].mean(axis=0) for n, length in enumerate(lengths)])


@wrong(
    "encode_fixed",
    "Your result has an axis too many: every sentence is read at the lengths of all the others too.",
    "A colon and an array of places make every pair of them. Pair each sentence with its own place.",
)
def every_length_for_every_sentence(hs, lengths):
    T = hs.shape[1]
    for length in lengths:
        if not 1 <= length <= T:
            raise ValueError(f"length {length} with T = {T}")
    return hs[:, lengths - 1]


@wrong(
    "encode_fixed",
    "You use one length for the whole batch. Each sentence has its own.",
)
def the_first_length_for_all(hs, lengths):
    T = hs.shape[1]
    for length in lengths:
        if not 1 <= length <= T:
            raise ValueError(f"length {length} with T = {T}")
    return hs[:, lengths[0] - 1]


@wrong(
    "encode_fixed",
    "You look for the last row that is not zero. Padding need not be zeros, and a real state may be. The lengths tell you.",
)
def the_last_row_that_is_not_zero(hs, lengths):
    T = hs.shape[1]
    for length in lengths:
        if not 1 <= length <= T:
            raise ValueError(f"length {length} with T = {T}")
    return np.array([states[np.any(states != 0, axis=1)][-1] for states in hs])


@wrong(
    "encode_fixed",
    "You look for the last row that is not zero, and never at the lengths. Padding need not be zeros, and a real state may be. And a length that cannot be goes on unseen.",
)
def the_last_row_that_is_not_zero_and_no_check(hs, lengths):
    return np.array([states[np.any(states != 0, axis=1)][-1] for states in hs])


@wrong(
    "encode_fixed",
    "You count the rows that are not zero, and never look at the lengths. Padding need not be zeros, and a real state may be. And a length that cannot be goes on unseen.",
)
def rows_that_are_not_zero_counted(hs, lengths):
    counted = np.any(hs != 0, axis=2).sum(axis=1)
    return hs[np.arange(len(hs)), counted - 1]


@wrong(
    "encode_fixed",
    "Nothing stops a length that cannot be. A length of 0 becomes the place −1, and Python takes that for the last row.",
    "Look at the lengths before you use them, on both sides, and raise ValueError.",
)
def no_check_at_all(hs, lengths):
    return hs[np.arange(len(hs)), lengths - 1]


@wrong(
    "encode_fixed",
    "A length of 0 passes, and gives the last row, padding or not. Lengths below 1 should raise ValueError.",
)
def lengths_below_one_pass(hs, lengths):
    N, T = hs.shape[:2]
    if max(lengths) > T:
        raise ValueError(f"length {max(lengths)} with T = {T}")
    return hs[np.arange(N), lengths - 1]


@wrong(
    "encode_fixed",
    "A length above T gives NumPy's own error. Raise ValueError before NumPy trips over it.",
)
def lengths_above_T_trip_numpy(hs, lengths):
    N, T = hs.shape[:2]
    if min(lengths) < 1:
        raise ValueError(f"length {min(lengths)} with T = {T}")
    return hs[np.arange(N), lengths - 1]


@wrong(
    "encode_fixed",
    "You press lengths that cannot be into the range from 1 to T. Then a mistake of the caller goes on unseen: raise ValueError.",
)
def lengths_pressed_into_range(hs, lengths):
    N, T = hs.shape[:2]
    return hs[np.arange(N), np.clip(lengths, 1, T) - 1]


@wrong(
    "encode_fixed",
    "You stop at a wrong length with assert. Callers expect ValueError, and assert is left out when Python runs with -O.",
)
def assert_in_place_of_an_error(hs, lengths):
    N, T = hs.shape[:2]
    assert np.all((lengths >= 1) & (lengths <= T)), f"length {lengths} with T = {T}"
    return hs[np.arange(N), lengths - 1]


@wrong(
    "encode_fixed",
    "Your ValueError does not say enough. Whoever reads it needs to know which length was wrong, and what T is.",
)
def an_error_without_the_numbers(hs, lengths):
    N, T = hs.shape[:2]
    if np.any(lengths < 1) or np.any(lengths > T):
        raise ValueError("invalid length")
    return hs[np.arange(N), lengths - 1]


@wrong(
    "encode_fixed",
    "Afterwards the caller's lengths are one smaller than before. Leave them as they are.",
    "`-=` on an array changes the array itself, also for everybody else who holds it.",
)
def the_callers_lengths_are_changed(hs, lengths):
    N, T = hs.shape[:2]
    for length in lengths:
        if not 1 <= length <= T:
            raise ValueError(f"length {length} with T = {T}")
    lengths -= 1
    return hs[np.arange(N), lengths]


@right("encode_fixed")
def one_sentence_after_the_other(hs, lengths):
    T = hs.shape[1]
    rows = []
    for states, length in zip(hs, lengths, strict=True):
        if length < 1 or length > T:
            raise ValueError(f"a sentence cannot have {length} words when T is {T}")
        rows.append(states[length - 1])
    return np.stack(rows)


@right("encode_fixed")
def taken_along_the_axis(hs, lengths):
    T = hs.shape[1]
    bad = lengths[(lengths < 1) | (lengths > T)]
    if bad.size:
        raise ValueError(f"lengths {bad.tolist()} are not between 1 and {T}")
    return np.take_along_axis(hs, (lengths - 1)[:, None, None], axis=1)[:, 0]


@right("encode_fixed")
def a_one_hot_row_for_each_sentence(hs, lengths):
    T = hs.shape[1]
    if lengths.min() < 1 or lengths.max() > T:
        raise ValueError(f"lengths go from {lengths.min()} to {lengths.max()}, T = {T}")
    last = np.arange(1, T + 1) == lengths[:, None]
    return np.einsum("nt,nth->nh", last.astype(hs.dtype), hs)


@right("encode_fixed")
def a_boolean_mask(hs, lengths):
    T = hs.shape[1]
    for n, length in enumerate(lengths.tolist()):
        if not (0 < length < T + 1):
            raise ValueError(f"sentence {n}: length {length}, T = {T}")
    return hs[np.arange(T)[None, :] == lengths[:, None] - 1]


# greedy_decode --------------------------------------------------------------------------------------
# The table says another thing in each state (h = 0, 1, 2, …), so a state that is not handed on shows.

_TALK = [
    [[0.5, 2.0, 1.0, 0.25], [1.0, 0.5, 3.0, 2.0], [2.0, 1.5, 0.5, 1.0], [0.5, 2.5, 1.0, 0.25]],
    [[0.5, 1.0, 4.0, 2.0], [0.25, 1.0, 3.5, 2.0], [1.0, 3.0, 0.5, 2.0], [2.5, 1.0, 0.5, 2.0]],
    [[3.0, 0.5, 1.0, 2.5], [1.0, 0.25, 0.5, 2.0], [2.0, 0.5, 1.0, 0.75], [0.5, 1.0, 2.5, 2.0]],
    [[1.0, 0.5, 0.25, 3.0], [0.5, 1.0, 0.75, 4.0], [1.5, 2.0, 0.5, 4.5], [0.5, 1.0, 2.0, 3.0]],
    [[0.5, 3.0, 1.0, 2.0], [2.0, 0.5, 1.0, 0.25], [3.0, 2.0, 0.5, 1.0], [0.5, 1.0, 3.0, 2.0]],
]
_EQUALS = [[[1.0, 2.0, 2.0], [0.5, 1.5, 1.5], [1.0, 0.5, 3.0]]] * 3 + [
    [[3.0, 1.0, 2.0]] * 3
]  # at last comes eos: nothing runs for ever
probe("greedy_decode", StepTable(_TALK), 0, 0, 3, 8)  # ended by eos
probe("greedy_decode", StepTable(_TALK), 0, 3, 3, 8)  # bos and eos are the same token
probe("greedy_decode", StepTable(_TALK), 0, 0, 3, 2)  # ended by max_len
probe("greedy_decode", StepTable(_EQUALS), 0, 0, 0, 3)  # two tokens are equally good
probe("greedy_decode", StepTable([[-1.0, -2.0, -3.0], [-3.0, -2.5, -0.5], [-1.0, -2.0, -1.5]]), 0, 1, 0, 4)
probe("greedy_decode", StepTable(_TALK), 0, 0, 3, 0)


@wrong(
    "greedy_decode",
    "Where bos and eos are the same token you stop before the first word. bos is only heard: compare with eos what was said.",
)
def bos_compared_with_eos(step, h, bos, eos, max_len):
    said, token = [], bos
    while token != eos and len(said) < max_len:
        scores, h = step(token, h)
        token = int(np.argmax(scores))
        if token != eos:
            said.append(token)
    return said


@wrong(
    "greedy_decode",
    "eos stands in your list. It says that the sentence is over, and is not a part of it.",
)
def eos_is_kept(step, h, bos, eos, max_len):
    said, token = [], bos
    for _ in range(max_len):
        scores, h = step(token, h)
        token = int(np.argmax(scores))
        said.append(token)
        if token == eos:
            break
    return said


@wrong(
    "greedy_decode",
    "bos stands in your list. It is what the decoder hears first, not a thing that it says.",
)
def bos_is_kept(step, h, bos, eos, max_len):
    said = [bos]
    for _ in range(max_len):
        scores, h = step(said[-1], h)
        token = int(np.argmax(scores))
        if token == eos:
            break
        said.append(token)
    return said


@wrong(
    "greedy_decode",
    "Your decoder hears bos at every step. After the first step it should hear what it has said last.",
)
def bos_at_every_step(step, h, bos, eos, max_len):
    said = []
    for _ in range(max_len):
        scores, h = step(bos, h)
        token = int(np.argmax(scores))
        if token == eos:
            break
        said.append(token)
    return said


@wrong(
    "greedy_decode",
    "Your decoder begins every step in the state that it had at the start. Hand on the new state that it returns.",
)
def the_state_is_not_handed_on(step, h, bos, eos, max_len):
    said, token = [], bos
    for _ in range(max_len):
        scores, _ = step(token, h)
        token = int(np.argmax(scores))
        if token == eos:
            break
        said.append(token)
    return said


@wrong(
    "greedy_decode",
    "Of equal scores you take the last one. The first counts.",
)
def the_last_of_equals(step, h, bos, eos, max_len):
    said, token = [], bos
    for _ in range(max_len):
        scores, h = step(token, h)
        token = int(np.argsort(scores, kind="stable")[-1])
        if token == eos:
            break
        said.append(token)
    return said


@wrong(
    "greedy_decode",
    "You take the token with the smallest score.",
)
def the_smallest_score(step, h, bos, eos, max_len):
    said, token = [], bos
    for _ in range(max_len):
        scores, h = step(token, h)
        token = int(np.argmin(scores))
        if token == eos:
            break
        said.append(token)
    return said


@wrong(
    "greedy_decode",
    "You look for the score of the largest size, whatever its sign. −3 is smaller than −1.",
)
def the_largest_size(step, h, bos, eos, max_len):
    said, token = [], bos
    for _ in range(max_len):
        scores, h = step(token, h)
        token = int(np.argmax(np.abs(scores)))
        if token == eos:
            break
        said.append(token)
    return said


@wrong(
    "greedy_decode",
    "You keep the scores. What was said is the tokens: the place of the largest score, not the score.",
)
def the_scores_in_place_of_the_tokens(step, h, bos, eos, max_len):
    said, token = [], bos
    for _ in range(max_len):
        scores, h = step(token, h)
        token = int(np.argmax(scores))
        if token == eos:
            break
        said.append(float(np.max(scores)))
    return said


@wrong(
    "greedy_decode",
    "You stop one token too early: bos is not one of the max_len tokens.",
)
def bos_counts_as_a_token(step, h, bos, eos, max_len):
    tokens = [bos]
    while len(tokens) < max_len:
        scores, h = step(tokens[-1], h)
        token = int(np.argmax(scores))
        if token == eos:
            break
        tokens.append(token)
    return tokens[1:]


@wrong(
    "greedy_decode",
    "You say one token more than max_len allows.",
    "Look at how many tokens there are before you ask for the next one. With max_len=0 nothing is said.",
)
def one_token_too_many(step, h, bos, eos, max_len):
    said, token = [], bos
    while True:
        scores, h = step(token, h)
        token = int(np.argmax(scores))
        if token == eos:
            break
        said.append(token)
        if len(said) > max_len:
            break
    return said


@wrong(
    "greedy_decode",
    "With max_len=0 a word is said all the same: you count only after you have said one.",
    "Look at how many tokens there are before you ask for the next one.",
)
def counted_after_the_word(step, h, bos, eos, max_len):
    said, token = [], bos
    while True:
        scores, h = step(token, h)
        token = int(np.argmax(scores))
        if token == eos:
            break
        said.append(token)
        if len(said) >= max_len:
            break
    return said


@wrong(
    "greedy_decode",
    "With max_len=0 your decoder talks on to its eos: the number of tokens is compared with max_len after the first one, and then it is never equal to 0.",
    "Look at how many tokens there are before you ask for the next one.",
)
def compared_with_max_len_after_the_word(step, h, bos, eos, max_len):
    said, token = [], bos
    while True:
        scores, h = step(token, h)
        token = int(np.argmax(scores))
        if token == eos:
            break
        said.append(token)
        if len(said) == max_len:
            break
    return said


@wrong(
    "greedy_decode",
    "You never look at max_len. A decoder that does not say eos then talks for ever.",
)
def no_end_but_eos(step, h, bos, eos, max_len):
    said, token = [], bos
    while True:
        scores, h = step(token, h)
        token = int(np.argmax(scores))
        if token == eos:
            return said
        said.append(token)


@wrong(
    "greedy_decode",
    "You go on after eos, and only leave it out of the list. eos ends the sentence: nothing that follows counts.",
)
def on_and_on_after_eos(step, h, bos, eos, max_len):
    said, token = [], bos
    for _ in range(max_len):
        scores, h = step(token, h)
        token = int(np.argmax(scores))
        if token != eos:
            said.append(token)
    return said


@wrong(
    "greedy_decode",
    "You never look for eos. The sentence is over when the decoder says it.",
)
def always_max_len_tokens(step, h, bos, eos, max_len):
    said, token = [], bos
    for _ in range(max_len):
        scores, h = step(token, h)
        token = int(np.argmax(scores))
        said.append(token)
    return said


@wrong(
    "greedy_decode",
    "Your tokens come as a NumPy array. A list of int is asked for.",
)
def an_array_of_tokens(step, h, bos, eos, max_len):
    said, token = [], bos
    for _ in range(max_len):
        scores, h = step(token, h)
        token = int(np.argmax(scores))
        if token == eos:
            break
        said.append(token)
    return np.array(said, dtype=int)


@right("greedy_decode")
def a_while_loop(step, h, bos, eos, max_len):
    scores, said = None, []
    heard = bos
    while len(said) < max_len:
        scores, h = step(heard, h)
        heard = np.argmax(scores)
        if heard == eos:
            return said
        said += [heard]
    return said


@right("greedy_decode")
def python_own_maximum(step, h, bos, eos, max_len):
    tokens = [bos]
    for _ in range(max_len):
        scores, h = step(tokens[-1], h)
        best = max(range(len(scores)), key=lambda token: scores[token])
        if best == eos:
            break
        tokens.append(best)
    return tokens[1:]


@right("greedy_decode")
def recursion_from_token_to_token(step, h, bos, eos, max_len):
    if max_len == 0:
        return []
    scores, h = step(bos, h)
    token = int(scores.argmax())
    if token == eos:
        return []
    return [token, *greedy_decode(step, h, token, eos, max_len - 1)]


@right("greedy_decode")
def a_generator_inside(step, h, bos, eos, max_len):
    def tokens(token, state):
        while True:
            scores, state = step(token, state)
            token = int(np.flatnonzero(scores == np.max(scores))[0])
            if token == eos:
                return
            yield token

    return [token for _, token in zip(range(max_len), tokens(bos, h), strict=False)]


# accuracy_by_length ---------------------------------------------------------------------------------
# Long before short; too short, too long, turned round, empty, nearly right; a gap; two lists that do not match.

probe(
    "accuracy_by_length",
    [[4, 2, 7], [5, 5], [6, 1], [3], [8, 1, 8], [2, 9], [], [1, 2, 3, 5], [2, 9, 4]],
    [[4, 2, 7], [5], [6, 1], [3, 3], [1, 8, 8], [2, 9], [6], [1, 2, 3, 4], [2, 9, 4]],
)
probe("accuracy_by_length", [[1, 2, 3, 4, 5], [7, 8]], [[1, 2, 3, 4, 5], [7, 8]])
probe("accuracy_by_length", [], [])
probe("accuracy_by_length", [[1], [2, 3], [5]], [[1], [2, 3], [4], [6, 7], [8]], naming=(3, 5))


@wrong(
    "accuracy_by_length",
    "You sort the answers by their own lengths. Sort them by the length of the target: that is what was asked of the model.",
)
def by_the_length_of_the_prediction(predictions, targets):
    if len(predictions) != len(targets):
        raise ValueError(f"{len(predictions)} and {len(targets)}")
    right = {}
    for prediction, target in zip(predictions, targets, strict=True):
        right.setdefault(len(prediction), []).append(prediction == target)
    return {length: sum(right[length]) / len(right[length]) for length in sorted(right)}


@wrong(
    "accuracy_by_length",
    "Your lengths stand in the order in which they came. They should ascend.",
)
def lengths_as_they_come(predictions, targets):
    if len(predictions) != len(targets):
        raise ValueError(f"{len(predictions)} and {len(targets)}")
    right = {}
    for prediction, target in zip(predictions, targets, strict=True):
        right.setdefault(len(target), []).append(prediction == target)
    return {length: sum(right[length]) / len(right[length]) for length in right}


@wrong(
    "accuracy_by_length",
    "You count right tokens. An answer counts as a whole: one wrong token makes it wrong.",
)
def token_by_token(predictions, targets):
    if len(predictions) != len(targets):
        raise ValueError(f"{len(predictions)} and {len(targets)}")
    right = {}
    for prediction, target in zip(predictions, targets, strict=True):
        same = sum(p == t for p, t in zip(prediction, target, strict=False))
        right.setdefault(len(target), []).append(same / max(len(target), 1))
    return {length: sum(right[length]) / len(right[length]) for length in sorted(right)}


@wrong(
    "accuracy_by_length",
    "An answer that breaks off counts as right with you, even an empty one: you compare as far as the shorter list goes.",
    "`zip` ends with the shorter of its lists. Two lists that are equal are also equally long.",
)
def as_far_as_the_shorter_goes(predictions, targets):
    if len(predictions) != len(targets):
        raise ValueError(f"{len(predictions)} and {len(targets)}")
    right = {}
    for prediction, target in zip(predictions, targets, strict=True):
        same = all(p == t for p, t in zip(prediction, target, strict=False))
        right.setdefault(len(target), []).append(same)
    return {length: sum(right[length]) / len(right[length]) for length in sorted(right)}


@wrong(
    "accuracy_by_length",
    "An answer that goes on after the target counts as right with you. One token too many is a mistake too.",
)
def cut_to_the_length_of_the_target(predictions, targets):
    if len(predictions) != len(targets):
        raise ValueError(f"{len(predictions)} and {len(targets)}")
    right = {}
    for prediction, target in zip(predictions, targets, strict=True):
        right.setdefault(len(target), []).append(prediction[: len(target)] == target)
    return {length: sum(right[length]) / len(right[length]) for length in sorted(right)}


@wrong(
    "accuracy_by_length",
    "The right tokens in a wrong order count as right with you. The order matters.",
)
def in_any_order(predictions, targets):
    if len(predictions) != len(targets):
        raise ValueError(f"{len(predictions)} and {len(targets)}")
    right = {}
    for prediction, target in zip(predictions, targets, strict=True):
        right.setdefault(len(target), []).append(sorted(prediction) == sorted(target))
    return {length: sum(right[length]) / len(right[length]) for length in sorted(right)}


@wrong(
    "accuracy_by_length",
    "You give percent. A share lies between 0 and 1.",
)
def percent(predictions, targets):
    if len(predictions) != len(targets):
        raise ValueError(f"{len(predictions)} and {len(targets)}")
    right = {}
    for prediction, target in zip(predictions, targets, strict=True):
        right.setdefault(len(target), []).append(prediction == target)
    return {length: 100 * sum(right[length]) / len(right[length]) for length in sorted(right)}


@wrong(
    "accuracy_by_length",
    "You count how many are right. Divide by how many there are of that length.",
)
def how_many_are_right(predictions, targets):
    if len(predictions) != len(targets):
        raise ValueError(f"{len(predictions)} and {len(targets)}")
    right = {}
    for prediction, target in zip(predictions, targets, strict=True):
        right[len(target)] = right.get(len(target), 0) + (prediction == target)
    return {length: right[length] for length in sorted(right)}


@wrong(
    "accuracy_by_length",
    "You divide by the number of all targets. Divide by the number of targets of that length.",
)
def the_share_of_all(predictions, targets):
    if len(predictions) != len(targets):
        raise ValueError(f"{len(predictions)} and {len(targets)}")
    right = {}
    for prediction, target in zip(predictions, targets, strict=True):
        right[len(target)] = right.get(len(target), 0) + (prediction == target)
    return {length: right[length] / len(targets) for length in sorted(right)}


@wrong(
    "accuracy_by_length",
    "Lengths at which nothing is right are missing. They are the ones that we want to see: their share is 0.",
)
def only_lengths_with_a_right_answer(predictions, targets):
    if len(predictions) != len(targets):
        raise ValueError(f"{len(predictions)} and {len(targets)}")
    right, all_of = {}, {}
    for prediction, target in zip(predictions, targets, strict=True):
        all_of[len(target)] = all_of.get(len(target), 0) + 1
        if prediction == target:
            right[len(target)] = right.get(len(target), 0) + 1
    return {length: right[length] / all_of[length] for length in sorted(right)}


@wrong(
    "accuracy_by_length",
    "You have keys for lengths that no target has. A share of 0 there would be a claim about nothing.",
)
def lengths_that_nobody_has(predictions, targets):
    if len(predictions) != len(targets):
        raise ValueError(f"{len(predictions)} and {len(targets)}")
    shares = {}
    for length in range(1, max(map(len, targets), default=0) + 1):
        right = [p == t for p, t in zip(predictions, targets, strict=True) if len(t) == length]
        shares[length] = sum(right) / len(right) if right else 0.0
    return shares


@wrong(
    "accuracy_by_length",
    "You have a key for every length from 0 to the longest. Only lengths that a target has are keys: a share of 0 elsewhere would be a claim about nothing.",
)
def every_length_from_zero(predictions, targets):
    if len(predictions) != len(targets):
        raise ValueError(f"{len(predictions)} and {len(targets)}")
    shares = {}
    for length in range(max(map(len, targets), default=-1) + 1):
        right = [p == t for p, t in zip(predictions, targets, strict=True) if len(t) == length]
        shares[length] = sum(right) / len(right) if right else 0.0
    return shares


@wrong(
    "accuracy_by_length",
    "You have keys for lengths that no target has, and the share there is nan, the mean of nothing. Take only lengths that occur.",
)
def the_mean_of_nothing(predictions, targets):
    if len(predictions) != len(targets):
        raise ValueError(f"{len(predictions)} and {len(targets)}")
    shares = {}
    for length in range(1, max(map(len, targets), default=0) + 1):
        right = [p == t for p, t in zip(predictions, targets, strict=True) if len(t) == length]
        shares[length] = sum(right) / len(right) if right else float("nan")
    return shares


@wrong(
    "accuracy_by_length",
    "You give the share of right tokens of each answer. An answer counts as a whole: one wrong token makes it wrong.",
)
def the_share_of_right_tokens(predictions, targets):
    if len(predictions) != len(targets):
        raise ValueError(f"{len(predictions)} and {len(targets)}")
    right = {}
    for prediction, target in zip(predictions, targets, strict=True):
        same = sum(p == t for p, t in zip(prediction, target, strict=False))
        right.setdefault(len(target), []).append(same / max(len(target), len(prediction), 1))
    return {length: sum(right[length]) / len(right[length]) for length in sorted(right)}


@wrong(
    "accuracy_by_length",
    "A length at which nothing is right makes your answer fail with KeyError: nothing was counted there. Its share is 0.",
)
def nothing_counted_where_nothing_is_right(predictions, targets):
    if len(predictions) != len(targets):
        raise ValueError(f"{len(predictions)} and {len(targets)}")
    right, all_of = {}, {}
    for prediction, target in zip(predictions, targets, strict=True):
        all_of[len(target)] = all_of.get(len(target), 0) + 1
        if prediction == target:
            right[len(target)] = right.get(len(target), 0) + 1
    return {length: right[length] / all_of[length] for length in sorted(all_of)}


@wrong(
    "accuracy_by_length",
    "Where there are fewer predictions than targets you leave the rest out without a word. Raise ValueError.",
    "`zip` ends with the shorter of its lists. Compare the two lengths before anything else.",
)
def the_rest_is_left_out(predictions, targets):
    right = {}
    for prediction, target in zip(predictions, targets, strict=False):
        right.setdefault(len(target), []).append(prediction == target)
    return {length: sum(right[length]) / len(right[length]) for length in sorted(right)}


@wrong(
    "accuracy_by_length",
    "Your ValueError does not say how long the two lists are. Whoever reads it needs both numbers.",
)
def an_error_without_the_lengths(predictions, targets):
    right = {}
    for prediction, target in zip(predictions, targets, strict=True):
        right.setdefault(len(target), []).append(prediction == target)
    return {length: sum(right[length]) / len(right[length]) for length in sorted(right)}


@wrong(
    "accuracy_by_length",
    "You return one number. Count for each length by itself: a dict from length to share.",
)
def one_number_for_everything(predictions, targets):
    if len(predictions) != len(targets):
        raise ValueError(f"{len(predictions)} and {len(targets)}")
    right = [prediction == target for prediction, target in zip(predictions, targets, strict=True)]
    return sum(right) / max(len(right), 1)


@right("accuracy_by_length")
def numpy_means(predictions, targets):
    if len(predictions) != len(targets):
        raise ValueError(f"got {len(predictions)} predictions and {len(targets)} targets")
    lengths = np.array([len(target) for target in targets], dtype=int)
    right = np.array([p == t for p, t in zip(predictions, targets, strict=True)], dtype=bool)
    return {int(length): right[lengths == length].mean() for length in np.unique(lengths)}


@right("accuracy_by_length")
def counters(predictions, targets):
    from collections import Counter

    n, m = len(predictions), len(targets)
    if n != m:
        raise ValueError(f"{n} != {m}")
    all_of = Counter(len(target) for target in targets)
    right = Counter(len(t) for p, t in zip(predictions, targets, strict=True) if p == t)
    return {length: right[length] / all_of[length] for length in sorted(all_of)}


@right("accuracy_by_length")
def sorted_and_grouped(predictions, targets):
    from itertools import groupby

    if len(predictions) - len(targets):
        raise ValueError(f"lists of {len(predictions)} and of {len(targets)}: they should be equally long")
    pairs = sorted(zip(targets, predictions, strict=True), key=lambda pair: len(pair[0]))
    shares = {}
    for length, group in groupby(pairs, key=lambda pair: len(pair[0])):
        right = [int(target == prediction) for target, prediction in group]
        shares[length] = float(np.mean(right))
    return shares


@right("accuracy_by_length")
def token_loops(predictions, targets):
    if len(predictions) != len(targets):
        raise ValueError(f"{len(predictions)} predictions, {len(targets)} targets")
    totals, rights = {}, {}
    for i in range(len(targets)):
        n = len(targets[i])
        same = len(predictions[i]) == n
        for j in range(n):
            if same and predictions[i][j] != targets[i][j]:
                same = False
        totals[n] = totals.get(n, 0) + 1
        rights[n] = rights.get(n, 0) + same
    return dict(sorted((n, rights[n] / totals[n]) for n in totals))
