"""The model that chapter 1 measures: it reads a word, keeps one vector, and says the word backwards.

    runs = train(H=32, seeds=(0, 1, 2))
    exact_match(runs, T=7)  # three shares of right answers, one for each seed

Encoder and decoder have one cell each, the chapter's own: h_t = tanh(x_t W_x + h_{t-1} W_h + b). The
decoder starts from the encoder's last state and gets nothing else. All is NumPy, with gradients by
hand, which the chapter checks against nudges. R runs, which differ in their seed alone, are trained
side by side along the first axis.

Letters: R runs, N words, T letters in a word, L steps of the decoder, H numbers in a state, V = 11 tokens.
"""

from __future__ import annotations

from functools import cache
from zlib import crc32

import numpy as np

ALPHABET = "abcdefghij"
MARK = len(ALPHABET)  # one token more: "begin" when the decoder hears it, "end" when the decoder says it
V = MARK + 1
SHORTEST, LONGEST = 2, 12  # letters in a word that training shows


def answers_to(words: np.ndarray) -> np.ndarray:
    """What should be said: the letters backwards, and the mark. (..., T) → (..., T + 1)"""
    return np.concatenate([words[..., ::-1], np.full((*words.shape[:-1], 1), MARK)], axis=-1)


def is_held_out(answer: list[int]) -> bool:
    """Whether training must never see `answer`: true for one in five, for ever the same ones."""
    return crc32(bytes(answer)) % 5 == 0


def draw_words(rng: np.random.Generator, N: int, T: int, held_out: bool) -> np.ndarray:
    """N random words of T letters whose answers lie on one side of the split: (N, T)."""
    words = np.empty((0, T), dtype=int)
    while len(words) < N:
        drawn = rng.integers(0, MARK, (3 * N // 2, T))  # some are thrown away: this many are mostly enough
        wanted = [is_held_out(answer) == held_out for answer in answers_to(drawn).tolist()]
        words = np.concatenate([words, drawn[wanted]])
    return words[:N]


@cache
def held_out_words(T: int, N: int = 300) -> np.ndarray:
    """Different words of T letters whose answers no training sees, N or as many as there are: (≤ N, T)."""
    rng = np.random.default_rng(T)
    drawn = draw_words(rng, 10 * N, T, held_out=True)
    words = np.array(list(dict.fromkeys(map(tuple, drawn.tolist())))[:N])
    words.flags.writeable = False  # everybody gets the same array
    return words


def spell(tokens: np.ndarray) -> str:
    """The tokens (L,) as letters, up to the mark."""
    return "".join(f"{ALPHABET} "[token] for token in tokens).split(" ")[0]


class Runs:
    """R models of one size, side by side: `weights[name]` has the runs along its first axis."""

    def __init__(self, H: int, seeds: tuple[int, ...]) -> None:
        self.H, self.R = H, len(seeds)
        started = [_start(np.random.default_rng([seed, H]), H) for seed in seeds]
        self.weights = {name: np.stack([run[name] for run in started]) for name in started[0]}
        self.seen: set[bytes] = set()  # every answer that training has shown to any of the runs

    def encoder_states(self, words: np.ndarray) -> np.ndarray:
        """Every state of the encoder. words (N, T) or (R, N, T) → (R, N, T, H)."""
        words = np.broadcast_to(words, (self.R, *words.shape[-2:]))
        return np.moveaxis(self._states("encoder", words, self._zeros(words))[1:], 0, 2)

    def encode(self, words: np.ndarray) -> np.ndarray:
        """What the encoder hands over: its last state. words (N, T) or (R, N, T) → (R, N, H)."""
        return self.encoder_states(words)[:, :, -1]

    def decode(self, h: np.ndarray, L: int) -> np.ndarray:
        """Greedy decoding, L steps: each token heard is the one said before. h (R, N, H) → (R, N, L)."""
        token = np.full(h.shape[:2], MARK)  # (R, N)
        said = []
        for _ in range(L):
            h = self._states("decoder", token[..., None], h)[-1]  # (R, N, H)
            token = self._scores(h).argmax(axis=-1)  # (R, N)
            said.append(token)
        return np.stack(said, axis=-1)

    def decode_with_teacher(self, h: np.ndarray, answers: np.ndarray) -> np.ndarray:
        """The same, but each token heard is the right one. h (R, N, H), answers (N, L) → (R, N, L)."""
        heard = np.broadcast_to(_heard(answers), (*h.shape[:2], answers.shape[-1]))
        return np.moveaxis(self._scores(self._states("decoder", heard, h)[1:]).argmax(axis=-1), 0, 2)

    def loss_and_gradients(self, words: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """The mean cross-entropy of the right token, with a teacher, of each run (R,); its gradients to `weights`.

        words (R, N, T).
        """
        answers = answers_to(words)  # (R, N, L), L = T + 1
        heard = _heard(answers)
        read = self._states("encoder", words, self._zeros(words))  # (T + 1, R, N, H)
        written = self._states("decoder", heard, read[-1])  # (L + 1, R, N, H)
        scores = self._scores(written[1:])  # (L, R, N, V)
        p = np.exp(scores - scores.max(axis=-1, keepdims=True))
        p /= p.sum(axis=-1, keepdims=True)
        wanted = _one_hot(answers, p.dtype)  # (L, R, N, V)
        loss = -np.log(np.sum(p * wanted, axis=-1)).mean(axis=(0, 2))  # (R,)

        ds = (p - wanted) / (p.shape[0] * p.shape[2])  # (L, R, N, V)
        gradients = {"W_o": _products(written[1:], ds), "b_o": ds.sum(axis=(0, 2))[:, None, :]}
        dwritten = ds @ np.swapaxes(self.weights["W_o"], 1, 2)  # (L, R, N, H)
        dread = np.zeros_like(read[1:])  # (T, R, N, H): nobody asks the earlier states for anything
        dread[-1] = self._back("decoder", heard, written, dwritten, gradients)
        self._back("encoder", words, read, dread, gradients)
        return loss, gradients

    def _states(self, side: str, tokens: np.ndarray, h: np.ndarray) -> np.ndarray:
        """h, and the state after each token. tokens (R, N, T), h (R, N, H) → (T + 1, R, N, H)."""
        W_x, W_h, b = (self.weights[f"{side} {name}"] for name in ("W_x", "W_h", "b"))
        rows = (W_x + b)[np.arange(self.R)[:, None, None], tokens]  # (R, N, T, H): a one-hot x_t picks a row
        hs = np.empty((tokens.shape[2] + 1, *h.shape), dtype=h.dtype)  # (T + 1, R, N, H)
        hs[0] = h
        for t in range(tokens.shape[2]):
            hs[t + 1] = np.tanh(rows[:, :, t] + hs[t] @ W_h)  # (R, N, H)
        return hs

    def _back(
        self, side: str, tokens: np.ndarray, hs: np.ndarray, dhs: np.ndarray, gradients: dict[str, np.ndarray]
    ) -> np.ndarray:
        """Send dhs (T, R, N, H), the gradients to hs[1:], back through `_states`; returns that to hs[0]."""
        W_h = np.swapaxes(self.weights[f"{side} W_h"], 1, 2)
        dz = np.empty_like(dhs)
        dh = np.zeros_like(dhs[0])  # (R, N, H)
        for t in reversed(range(len(dhs))):
            dz[t] = (dhs[t] + dh) * (1 - hs[t + 1] ** 2)
            dh = dz[t] @ W_h
        gradients[f"{side} W_x"] = _products(_one_hot(tokens, dz.dtype), dz)
        gradients[f"{side} W_h"] = _products(hs[:-1], dz)
        gradients[f"{side} b"] = dz.sum(axis=(0, 2))[:, None, :]
        return dh

    def _scores(self, h: np.ndarray) -> np.ndarray:
        """How much each token is wanted next. (..., R, N, H) → (..., R, N, V)"""
        return h @ self.weights["W_o"] + self.weights["b_o"]

    def _zeros(self, words: np.ndarray) -> np.ndarray:
        return np.zeros((*words.shape[:2], self.H), dtype=self.weights["W_o"].dtype)


def train(H: int, seeds: tuple[int, ...], steps: int = 600, N: int = 32, rate: float = 0.01) -> Runs:
    """Train one model for each seed: `steps` batches, each of N words of one length, none of them held out."""
    runs = Runs(H, seeds)
    data = [np.random.default_rng([seed, H, 1]) for seed in seeds]
    lengths = np.random.default_rng([seeds[0], 2]).integers(SHORTEST, LONGEST + 1, steps)
    adam = {name: (np.zeros_like(w), np.zeros_like(w)) for name, w in runs.weights.items()}
    for step, T in enumerate(lengths, start=1):
        words = np.stack([draw_words(rng, N, T, held_out=False) for rng in data])  # (R, N, T)
        runs.seen.update(bytes(answer) for answer in answers_to(words).reshape(-1, T + 1).tolist())
        _, gradients = runs.loss_and_gradients(words)
        _clip(gradients)
        # Adam; its rate rises for a tenth of the steps and then falls to 0 along a cosine.
        now = rate * min(10 * step / steps, 0.5 + 0.5 * np.cos(np.pi * step / steps))
        for name, g in gradients.items():
            mean, square = adam[name]
            mean += 0.1 * (g - mean)
            square += 0.001 * (g * g - square)
            size = np.sqrt(square / (1 - 0.999**step)) + 1e-8
            runs.weights[name] -= now / (1 - 0.9**step) * mean / size
    return runs


def exact_match(runs: Runs, T: int) -> np.ndarray:
    """The share of held-out words of T letters that each run says backwards without a single fault: (R,)."""
    words = held_out_words(T)
    said = runs.decode(runs.encode(words), T + 1)  # (R, N, T + 1)
    return (said == answers_to(words)).all(axis=-1).mean(axis=-1)


def _start(rng: np.random.Generator, H: int) -> dict[str, np.ndarray]:
    """Weights before training: small, and W_h a rotation, so that at first nothing fades and nothing explodes."""
    size = 1 / np.sqrt(H)
    weights = {"W_o": rng.uniform(-size, size, (H, V)), "b_o": np.zeros((1, V))}
    for side in ("encoder", "decoder"):
        weights[f"{side} W_x"] = rng.uniform(-size, size, (V, H))
        weights[f"{side} W_h"] = np.linalg.qr(rng.normal(size=(H, H)))[0]
        weights[f"{side} b"] = np.zeros((1, H))
    return {name: w.astype(np.float32) for name, w in weights.items()}


def _heard(answers: np.ndarray) -> np.ndarray:
    """What a teacher lets the decoder hear: the mark, then the answer without its last token. (..., L)"""
    return np.concatenate([np.full((*answers.shape[:-1], 1), MARK), answers[..., :-1]], axis=-1)


def _one_hot(tokens: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """(R, N, T) → (T, R, N, V)"""
    return np.eye(V, dtype=dtype)[np.moveaxis(tokens, 2, 0)]


def _products(rows: np.ndarray, gradients: np.ndarray) -> np.ndarray:
    """The sum over steps and words of rowᵀ gradient. (T, R, N, A), (T, R, N, B) → (R, A, B)"""
    T, R, N, A = rows.shape
    rows = np.moveaxis(rows, 0, 1).reshape(R, T * N, A)
    gradients = np.moveaxis(gradients, 0, 1).reshape(R, T * N, -1)
    return np.swapaxes(rows, 1, 2) @ gradients


def _clip(gradients: dict[str, np.ndarray]) -> None:
    """Shorten each run's whole gradient to length 1 where it is longer."""
    squares = sum((g.reshape(len(g), -1) ** 2).sum(axis=1) for g in gradients.values())  # (R,)
    factor = 1 / np.maximum(np.sqrt(squares), 1)
    for g in gradients.values():
        g *= factor.reshape(-1, 1, 1)
