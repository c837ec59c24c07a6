"""Inside the sandbox: a run's files become a model of the course's own, which is asked questions.

Nothing of a learner's runs here, but their files are hostile until read: `safetensors` takes names, shapes and
numbers out of one and nothing else, the others are JSON. What is asked for are numbers; the right answers stay with
whoever asks (`run_grading`). Needs PyTorch.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load as parse_weights
from torch import Tensor, nn

from autograder.plaintext import listed, one_line
from autograder.words import say

MOST_PARAMETERS = 2_000_000
MOST_LINES = 20_000  # of metrics.jsonl
# The sizes that a config.json may give, and the largest of each: a model is made before its parameters are counted.
LARGEST = {"d_model": 512, "n_heads": 64, "d_ff": 2048, "n_layers": 8}
_DTYPES = (torch.float32, torch.float16, torch.bfloat16)
_TOLD = 3  # names that a sentence tells
_METRICS = ("device", "precision", "processes", "parameters", "step", "loss", "seconds", "tokens_per_second")
_METRICS += ("peak_memory_mib", "utilisation", "accuracy")


class Fault(Exception):
    """What is wrong with a run, in one sentence."""


class RunProbe:
    """One run. `make(source_vocab, target_vocab, **sizes)` is the course's own Transformer."""

    def __init__(self, make: Callable[..., nn.Module]) -> None:
        self._make = make
        self._model: nn.Module = nn.Identity()

    def load(self, weights: Any, config: Any, metrics: Any, source_vocab: int, target_vocab: int) -> dict[str, Any]:
        """Take the run from its files' bytes: `fault`, or `parameters` and the `lines` of its metrics."""
        try:
            sizes = _sizes(_json(bytes(config), "config.json"))
            self._model = self._make(source_vocab, target_vocab, **sizes)
            parameters = sum(parameter.numel() for parameter in self._model.parameters())
            if parameters > MOST_PARAMETERS:
                raise Fault(say("run.many_parameters", count=parameters, limit=MOST_PARAMETERS))
            self._model.load_state_dict(_weights(bytes(weights), self._model.state_dict()))
            self._model.eval()
            return {"fault": "", "parameters": parameters, "lines": _lines(bytes(metrics))}
        except Fault as fault:
            return {"fault": str(fault)}

    @torch.no_grad()
    def answers(self, source: Tensor, bos: int, eos: int, most: int) -> list[list[int]]:
        """What the model says to each row of source (N, S), greedily: tokens before eos, at most `most`."""
        memory = self._model.encode(source)
        said = torch.full((len(source), 1), bos)  # (N, 1)
        ended = torch.zeros(len(source), dtype=torch.bool)  # (N,)
        while said.shape[1] <= most and not ended.all():
            token = self._model.decode(said, memory, source)[:, -1].argmax(dim=-1)  # (N,)
            said = torch.cat([said, token[:, None]], dim=1)
            ended |= token == eos
        return [row[: row.index(eos)] if eos in row else row for row in said[:, 1:].tolist()]

    @torch.no_grad()
    def logits(self, source: Tensor, target_in: Tensor) -> Tensor:
        """source (N, S), target_in (N, L) → (N, L, target_vocab)."""
        return self._model(source, target_in)

    @torch.no_grad()
    def tokens_with(self, seen: str, source: Tensor, target_in: Tensor) -> Tensor:
        """The likeliest token at each place (N, L) if attention also saw the "future", or the "padding" of the source."""
        with _seeing(self._model, seen):
            return self._model(source, target_in).argmax(dim=-1)


@contextmanager
def _seeing(model: nn.Module, seen: str) -> Iterator[None]:
    """The model with one of its masks taken away: what a model that was trained so would need."""

    def encoder_layer(layer: nn.Module, args: tuple) -> tuple:
        return (args[0], None)

    def decoder_layer(layer: nn.Module, args: tuple) -> tuple:
        y, memory, target_mask, source_mask = args
        return (y, memory, None, source_mask) if seen == "future" else (y, memory, target_mask, None)

    hooks = [layer.register_forward_pre_hook(decoder_layer) for layer in model.decoder]
    if seen == "padding":
        hooks += [layer.register_forward_pre_hook(encoder_layer) for layer in model.encoder]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _json(content: bytes, name: str) -> Any:
    try:
        return json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise Fault(say("run.not_json", name=name)) from None


def _sizes(config: Any) -> dict[str, int]:
    if not isinstance(config, dict) or not isinstance(config.get("sizes"), dict):
        raise Fault(say("run.no_sizes"))
    kind = config.get("model", "transformer")
    if kind != "transformer":
        raise Fault(say("run.other_model", model=one_line(str(kind), 40)))
    sizes = {name: config["sizes"][name] for name in LARGEST if name in config["sizes"]}
    for name, size in sizes.items():
        if type(size) is not int or not 1 <= size <= LARGEST[name]:
            raise Fault(say("run.size", name=name, value=one_line(str(size), 40), limit=LARGEST[name]))
    width, heads = sizes.get("d_model", 64), sizes.get("n_heads", 4)
    if width % heads:
        raise Fault(say("run.heads", width=width, heads=heads))
    return sizes


def _weights(content: bytes, own: dict[str, Tensor]) -> dict[str, Tensor]:
    """The weights in the file, where they are those of a model with `own` state."""
    try:
        came = parse_weights(content)
    except (SafetensorError, ValueError, KeyError, TypeError, OverflowError):
        raise Fault(say("run.not_safetensors")) from None
    missing, unknown = sorted(own.keys() - came.keys()), sorted(came.keys() - own.keys())
    if missing:
        raise Fault(say("run.weights_missing", names=listed(missing, _TOLD)))
    if unknown:
        raise Fault(say("run.weights_unknown", names=one_line(listed(unknown, _TOLD), 200)))
    for name, tensor in came.items():
        if tensor.dtype not in _DTYPES:
            raise Fault(say("run.dtype", name=name, dtype=str(tensor.dtype).removeprefix("torch.")))
        if tensor.shape != own[name].shape:
            raise Fault(say("run.shape", name=name, came=tuple(tensor.shape), want=tuple(own[name].shape)))
        if not tensor.isfinite().all():
            raise Fault(say("run.not_finite", name=name))
    return came


def _lines(content: bytes) -> list[dict[str, Any]]:
    """The lines of metrics.jsonl, of each what the course's program writes there."""
    lines = [line for line in content.decode("utf-8", "replace").splitlines() if line.strip()]
    if not lines or len(lines) > MOST_LINES:
        raise Fault(say("run.metrics_lines", count=len(lines), limit=MOST_LINES))
    made = []
    for number, line in enumerate(lines, start=1):
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            entry = None
        if not isinstance(entry, dict):
            raise Fault(say("run.metrics_line", line=number))
        made.append({name: value for name in _METRICS if (value := _plain(entry.get(name))) is not None})
    return made


def _plain(value: Any) -> Any:
    """A number, a short text, or an accuracy by number of digits; None for anything else."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if abs(value) < 1e30 and math.isfinite(value) else None
    if isinstance(value, str):
        return one_line(value, 80)
    if isinstance(value, dict) and len(value) < 100:
        shares = {str(key)[:8]: _plain(share) for key, share in value.items()}
        return {key: share for key, share in shares.items() if isinstance(share, float)}
    return None
