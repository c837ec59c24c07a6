"""What a run says about itself: a line on the terminal while it trains, and metrics.jsonl for later.

metrics.jsonl holds one JSON object a line. The first names the model and the device; then there is one for every few
steps, with loss, learning rate, the gradient's norm, real target tokens per second, seconds of training so far (by the
clock, and of processor time: what a machine with nothing else to do would take), and on a GPU peak memory and
utilisation; the last holds the share of right answers by number of digits.
"""

from __future__ import annotations

import contextlib
import json
import math
import time
from collections.abc import Iterator
from pathlib import Path

import torch

from autograder.progress import Progress
from gpu_lab.device import Device
from gpu_lab.parallel import World
from gpu_lab.runs import METRICS, read_metrics
from gpu_lab.settings import Settings
from gpu_lab.utilisation import operations_per_token, peak_of, utilisation
from gpu_lab.words import LabError, say


class Report:
    """Of the run in `out`, from step `first` on. In processes that do not speak it counts and says nothing."""

    def __init__(
        self, out: Path, settings: Settings, parameters: int, device: Device, world: World, first: int = 0
    ) -> None:
        self._settings, self._device, self._world = settings, device, world
        self._first, self._file = first, out / METRICS
        self._operations = operations_per_token(parameters)
        peak = peak_of(device.name, device.precision)
        self._peak = peak and peak * world.size
        self._seconds = self._seconds_since = self._processor = 0.0
        self._tokens_since = 0
        self._said = say("train.first")
        self._progress = Progress(settings.steps - first) if world.speaks else None
        if not world.speaks:
            return
        kept = [line for line in read_metrics(self._file) if line.get("step", 0) <= first and "accuracy" not in line]
        if first and kept:
            self._seconds, self._processor = (kept[-1].get(name, 0.0) for name in ("seconds", "processor_seconds"))
        else:
            kept = [{"model": settings.model, "parameters": parameters, "device": device.name}]
            kept[0] |= {"precision": device.precision, "processes": world.size, "torch": torch.__version__}
            kept[0] |= {"operations_per_token": self._operations, "peak_operations_per_second": self._peak}
        aside = self._file.with_suffix(".part")
        aside.write_text("".join(map(_line, kept)), encoding="utf-8")
        aside.replace(self._file)

    def __enter__(self) -> Report:
        if self._progress:
            self._progress.__enter__()
        if self._device.is_gpu:
            torch.cuda.reset_peak_memory_stats()
        return self

    def __exit__(self, *error: object) -> None:
        if self._progress:
            self._progress.__exit__(*error)

    @contextlib.contextmanager
    def step(self, tokens: int) -> Iterator[None]:
        """Around one step of training on so many target tokens (all processes together): its time counts."""
        began, worked = time.perf_counter(), time.process_time()
        yield
        self._processor += time.process_time() - worked
        spent = time.perf_counter() - began
        self._seconds += spent
        self._seconds_since += spent
        self._tokens_since += tokens
        if self._progress:
            self._progress.step(self._said)

    def line(self, step: int, loss: float, rate: float, norm: float) -> None:
        """One more line, after `step` steps. Raises LabError when the loss is no number any more."""
        if not math.isfinite(loss):
            raise LabError("train.diverged", loss=loss, step=step, lower=self._settings.learning_rate / 3)
        speed = self._tokens_since / self._seconds_since
        self._seconds_since, self._tokens_since = 0.0, 0
        self._said = say("train.line", loss=loss, speed=speed)
        memory = torch.cuda.max_memory_allocated() / 2**20 if self._device.is_gpu else None
        self.write(
            step=step,
            loss=loss,
            learning_rate=rate,
            gradient_norm=norm,
            tokens_per_second=speed,
            seconds=self._seconds,
            processor_seconds=self._processor,
            peak_memory_mib=memory,
            utilisation=utilisation(self._operations, speed, self._peak),
        )

    def write(self, **values: object) -> None:
        """Append a line to metrics.jsonl."""
        if self._world.speaks:
            with self._file.open("a", encoding="utf-8") as file:
                file.write(_line(values))


def _line(values: dict) -> str:
    return json.dumps(values) + "\n"
