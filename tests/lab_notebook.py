"""A learner's notebook for the tests of the lab, whose class has the Transformer's name and interface and is none."""

from __future__ import annotations

import json
from pathlib import Path

IMPORTS = "import torch\nfrom torch import nn"

# An average of the source's embeddings stands for all of it: enough to train, stop, share and go on.
CLASS = """
class Seq2SeqTransformer(nn.Module):
    def __init__(self, source_vocab, target_vocab, d_model=64, n_heads=4, d_ff=128, n_layers=2, dropout=0.0):
        super().__init__()
        self.source_embedding = nn.Embedding(source_vocab, d_model)
        self.target_embedding = nn.Embedding(target_vocab, d_model)
        self.encoder = nn.ModuleList([nn.Linear(d_model, d_model) for _ in range(n_layers)])
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(d_model, target_vocab)

    def encode(self, source):
        x = self.source_embedding(source)
        for layer in self.encoder:
            x = x + self.dropout(torch.tanh(layer(x)))
        return x

    def decode(self, target_in, memory, source):
        real = (source != 0)[..., None]
        return self.output(self.target_embedding(target_in) + (memory * real).mean(dim=1, keepdim=True))

    def forward(self, source, target_in):
        return self.decode(target_in, self.encode(source), source)
"""


def code(source: str, **nbgrader: object) -> dict:
    """A code cell; with keyword arguments, one that nbgrader has marked."""
    marks = {"nbgrader": {"grade": False, "solution": False, "locked": False} | nbgrader} if nbgrader else {}
    return {"cell_type": "code", "id": f"cell{abs(hash(source)) % 10**6}", "metadata": marks, "source": source}


def write(path: Path, *cells: dict) -> Path:
    """A notebook of these cells."""
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}), encoding="utf-8")
    return path


def learners_notebook(folder: Path) -> Path:
    """One whose class works."""
    return write(folder / "gpu_lab.ipynb", code(IMPORTS, locked=True), code(CLASS, solution=True))
