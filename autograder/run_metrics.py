"""What a run's metrics.jsonl claims, held against itself, against the device, and against what the model does.

Speed earns nothing, so nobody need believe it: here it is looked at for contradictions, and shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from autograder.words import say

CLOSE = 0.02  # a share that is rounded when it is written
CLAIM = 0.1  # of an accuracy: other questions give another one


def contradictions(lines: Sequence[Mapping[str, Any]], parameters: int, shares: Mapping[int, float]) -> list[str]:
    """What cannot be true of the lines, a sentence each. `shares`: measured, by number of digits."""
    return [
        *_of_parameters(lines, parameters),
        *_of_time(lines),
        *_of_speed(lines, parameters),
        *_of_accuracy(lines, shares),
    ]


def told(lines: Sequence[Mapping[str, Any]], parameters: int) -> list[str]:
    """What the lines tell of speed and memory, a sentence each; utilisation is computed here."""
    speeds = sorted(line["tokens_per_second"] for line in lines if _is_number(line.get("tokens_per_second")))
    if not speeds:
        return []
    device = _first(lines, "device")
    median = speeds[len(speeds) // 2]
    sentences = [say("run.told_speed", speed=f"{median:,.0f}", device=device or "?")]
    share = _utilisation(lines, parameters, median)
    if share is not None:
        sentences.append(say("run.told_utilisation", share=f"{share:.1%}"))
    memory = max((line["peak_memory_mib"] for line in lines if _is_number(line.get("peak_memory_mib"))), default=None)
    if memory is not None:
        sentences.append(say("run.told_memory", memory=f"{memory:,.0f}"))
    return sentences


def _of_parameters(lines: Sequence[Mapping[str, Any]], parameters: int) -> Iterator[str]:
    claimed = _first(lines, "parameters")
    if claimed and claimed != parameters:
        yield say("run.parameters", claimed=f"{claimed:g}", counted=parameters)


def _of_time(lines: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for name in ("step", "seconds"):
        values = [line[name] for line in lines if _is_number(line.get(name)) and "accuracy" not in line]
        if any(later < earlier for earlier, later in pairwise(values)):
            yield say("run.steps")
            return


def _of_speed(lines: Sequence[Mapping[str, Any]], parameters: int) -> Iterator[str]:
    device, before = _first(lines, "device") or "", 0.0
    for line in lines:
        speed, seconds = line.get("tokens_per_second"), line.get("seconds")
        if not _is_number(speed):
            continue
        step, computed = f"{line.get('step', 0):g}", _utilisation(lines, parameters, speed)
        claimed = line.get("utilisation")
        if speed <= 0 or (_is_number(seconds) and seconds <= before):
            yield say("run.speed", step=step, speed=f"{speed:g}")
            return
        before = seconds if _is_number(seconds) else before
        if computed is not None and computed >= 1:
            yield say("run.impossible", step=step, speed=f"{speed:g}", device=device)
            return
        if _is_number(claimed) and computed is None:
            yield say("run.no_peak", device=device)
            return
        if _is_number(claimed) and abs(claimed - computed) > CLOSE * computed + 0.0005:
            yield say(
                "run.utilisation", step=step, claimed=f"{claimed:g}", speed=f"{speed:g}", computed=f"{computed:.4f}"
            )
            return


def _of_accuracy(lines: Sequence[Mapping[str, Any]], shares: Mapping[int, float]) -> Iterator[str]:
    claims = [line["accuracy"] for line in lines if isinstance(line.get("accuracy"), dict)]
    for digits, measured in shares.items():
        claimed = claims[-1].get(str(digits)) if claims else None
        if claimed is not None and abs(claimed - measured) > CLAIM:
            yield say("run.claims", claimed=f"{claimed:.0%}", digits=digits, measured=f"{measured:.0%}")
            return


def _utilisation(lines: Sequence[Mapping[str, Any]], parameters: int, speed: float) -> float | None:
    from gpu_lab.utilisation import operations_per_token, peak_of, utilisation

    peak = peak_of(_first(lines, "device") or "", _first(lines, "precision") or "")
    devices = _first(lines, "processes") or 1
    return utilisation(operations_per_token(parameters), speed, peak and peak * devices)


def _first(lines: Sequence[Mapping[str, Any]], name: str) -> Any:
    """What the first line that names it says."""
    return next((line[name] for line in lines if name in line), None)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)
