"""Two recurrent translators: with one fixed vector, and with attention to all states of the encoder.

Both have the interface of the exercise's `Seq2SeqTransformer`, so that they are trained and asked in the same way:
`encode(source)` → memory, `decode(target_in, memory, source)` → logits, and `forward(source, target_in)`, which does one
after the other. The Transformer itself is yours: `gpu_lab.notebook` takes it from your notebook.

Letters: N sentences, S source tokens, L target tokens, E numbers in an embedding, H in a state.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor, nn

from gpu_lab.data import ENGLISH, KOREAN, PADDING
from gpu_lab.notebook import transformer_of
from gpu_lab.words import LabError

VOCABULARIES = {"source_vocab": len(ENGLISH), "target_vocab": len(KOREAN)}


class FixedVectorGRU(nn.Module):
    """The encoder hands over one vector, its last real state, whatever the length (Sutskever et al. 2014; Cho et al. 2014)."""

    def __init__(self, source_vocab: int, target_vocab: int, d_embedding: int = 64, d_hidden: int = 128) -> None:
        super().__init__()
        self.source_embedding = nn.Embedding(source_vocab, d_embedding)
        self.target_embedding = nn.Embedding(target_vocab, d_embedding)
        self.encoder = nn.GRU(d_embedding, d_hidden, batch_first=True)
        self.decoder = nn.GRU(d_embedding, d_hidden, batch_first=True)
        self.output = nn.Linear(d_hidden, target_vocab)

    def encode(self, source: Tensor) -> Tensor:
        """Every state of the encoder: source (N, S) → (N, S, H)."""
        return self.encoder(self.source_embedding(source))[0]

    def decode(self, target_in: Tensor, memory: Tensor, source: Tensor) -> Tensor:
        """Logits for the token after each of target_in (N, L), given the encoder's states (N, S, H): (N, L, target_vocab)."""
        return self.output(self._states(target_in, memory, source))

    def forward(self, source: Tensor, target_in: Tensor) -> Tensor:
        """source (N, S), target_in (N, L) → logits (N, L, target_vocab)."""
        return self.decode(target_in, self.encode(source), source)

    def _states(self, target_in: Tensor, memory: Tensor, source: Tensor) -> Tensor:
        last = (source != PADDING).sum(dim=1).sub(1).clamp(min=0)  # (N,)
        rows = torch.arange(len(source), device=source.device)  # (N,)
        # The row of the last real word, picked out: packed sequences do the same and were slower on a CPU.
        start = memory[rows, last][None].contiguous()  # (1, N, H)
        return self.decoder(self.target_embedding(target_in), start)[0]  # (N, L, H)


class AttentionGRU(FixedVectorGRU):
    """The same, and each state of the decoder also looks at all states of the encoder.

    The context and the state are joined by one layer: tanh(W [h; c]) (Luong et al. 2015, "global attention", dot). The
    dot products are scaled, which theirs were not: without it one seed of three stayed at 90 % of 12 digits, with
    weights that were 0 or 1 and no gradient to leave that.
    """

    def __init__(self, source_vocab: int, target_vocab: int, d_embedding: int = 64, d_hidden: int = 128) -> None:
        super().__init__(source_vocab, target_vocab, d_embedding, d_hidden)
        self.join = nn.Linear(2 * d_hidden, d_hidden)

    def decode(self, target_in: Tensor, memory: Tensor, source: Tensor) -> Tensor:
        """As in FixedVectorGRU."""
        return self.decode_and_align(target_in, memory, source)[0]

    def decode_and_align(self, target_in: Tensor, memory: Tensor, source: Tensor) -> tuple[Tensor, Tensor]:
        """The logits (N, L, target_vocab), and the weights (N, L, S) with which each was looked up."""
        h = self._states(target_in, memory, source)  # (N, L, H)
        scores = h @ memory.transpose(1, 2) / h.shape[-1] ** 0.5  # (N, L, S)
        a = scores.masked_fill((source == PADDING)[:, None], -torch.inf).softmax(dim=-1)  # (N, L, S)
        c = a @ memory  # (N, L, H)
        return self.output(torch.tanh(self.join(torch.cat([h, c], dim=-1)))), a


RECURRENT = {"fixed": FixedVectorGRU, "attention": AttentionGRU}
MODELS = (*RECURRENT, "transformer")

# The sizes with which the three have about as many parameters.
SIZES: dict[str, dict[str, int | float]] = {
    "fixed": {"d_embedding": 64, "d_hidden": 128},
    "attention": {"d_embedding": 64, "d_hidden": 128},
    "transformer": {"d_model": 64, "n_heads": 4, "d_ff": 128, "n_layers": 2, "dropout": 0.0},
}


def build(model: str, sizes: Mapping[str, int | float], notebook: Path | None = None) -> nn.Module:
    """An untrained model of the given sizes; a Transformer is built by the class in `notebook`. Raises LabError."""
    if model in RECURRENT:
        return RECURRENT[model](**VOCABULARIES, **sizes)
    if notebook is None:
        raise LabError("notebook.none")
    return transformer_of(notebook)(**VOCABULARIES, **sizes)


def parameters_of(model: nn.Module) -> int:
    """How many numbers are trained."""
    return sum(parameter.numel() for parameter in model.parameters())
