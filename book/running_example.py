"""나는 학생이다 → I am a student: the sentence that every chapter follows, small enough to check by hand.

Nothing here is trained. The numbers were chosen so that the sizes all differ (vocabulary 5, T = 4,
H = 3, L = 5 target words with <eos>) and so that a dot product finds the right source word.
"""

from __future__ import annotations

import numpy as np

VOCABULARY = ("나", "너", "는", "학생", "이다")
SOURCE = ("나", "는", "학생", "이다")  # T = 4
GLOSS = ("I", "(topic)", "student", "to be")  # what each source word means
TARGET = ("I", "am", "a", "student", "<eos>")  # L = 5

# One-hot inputs, one row for each source word.
XS = np.eye(len(VOCABULARY))[[VOCABULARY.index(word) for word in SOURCE]]  # (T, D) = (4, 5)

# h_t = tanh(x_t W_x + h_{t-1} W_h + b)
W_X = np.array([[1.5, -0.3, 0.1], [0.9, -0.9, 0.3], [0.0, 0.2, 1.1], [-0.4, 1.6, -0.2], [-0.9, -0.8, 0.6]])  # (D, H)
W_H = np.array([[0.3, 0.1, 0.0], [0.0, 0.2, 0.1], [-0.1, 0.0, 0.2]])  # (H, H)
B = np.array([0.0, 0.1, 0.0])  # (H,)

# The decoder's state just before it says each target word.
DECODER_STATES = np.array(
    [[2.4, -0.6, -0.8], [-1.4, -2.0, 1.2], [-1.2, 1.2, -0.2], [-0.6, 2.6, -0.6], [-1.5, -1.5, 1.0]]
)  # (L, H)


def encoder_states() -> np.ndarray:
    """Run the small encoder over the source sentence: every h_t, shape (T, H)."""
    h = np.zeros(W_H.shape[0])  # (H,)
    states = []
    for x in XS:  # one step for each word: a step must wait for the one before it
        h = np.tanh(x @ W_X + h @ W_H + B)  # (H,)
        states.append(h)
    return np.array(states)  # (T, H)
