"""Where to compute and with how many bits: the best of what this machine has, and a sentence that says which."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass

import torch

from gpu_lab.words import LabError, say

PRECISIONS = {"fp32": None, "bf16": torch.bfloat16, "fp16": torch.float16}


@dataclass(frozen=True)
class Device:
    """A device, and the precision of its products."""

    torch_device: torch.device
    precision: str  # a key of PRECISIONS
    name: str
    sentences: tuple[str, ...]  # what was chosen, for the learner

    @property
    def is_gpu(self) -> bool:
        return self.torch_device.type == "cuda"

    def autocast(self) -> contextlib.AbstractContextManager[object]:
        """In here products are computed in 16 bits, where that was chosen; sums of many terms stay in 32."""
        dtype = PRECISIONS[self.precision]
        if dtype is None:
            return contextlib.nullcontext()
        return torch.autocast(self.torch_device.type, dtype)

    def scaler(self) -> torch.amp.GradScaler:
        """For fp16, whose smallest number is 6·10⁻⁸: the loss is multiplied before, gradients divided after. Else idle."""
        return torch.amp.GradScaler(self.torch_device.type, enabled=self.precision == "fp16")


def choose(device: str = "auto", precision: str = "auto", local_rank: int = 0) -> Device:
    """The device "auto", "cpu" or "cuda", the precision "auto" or a key of PRECISIONS. Raises LabError.

    Sets one thread on a CPU: the products are small, and on a busy machine threads wait for each other (two were
    twelve times slower than one).
    """
    has_gpu = torch.cuda.is_available()
    if device == "cuda" and not has_gpu:
        raise LabError("device.no_gpu")
    if device == "cpu" or not has_gpu:
        torch.set_num_threads(1)
        chosen = "fp32" if precision == "auto" else precision
        where = say("device.cpu_asked" if device == "cpu" else "device.cpu")
        return Device(torch.device("cpu"), chosen, "cpu", (where, say(f"precision.{chosen}")))
    torch.cuda.set_device(local_rank)
    _same_sums_every_time()
    name = torch.cuda.get_device_name(local_rank)
    chosen, why = _gpu_precision(precision, torch.cuda.is_bf16_supported)
    return Device(torch.device("cuda", local_rank), chosen, name, (say("device.gpu", name=name), why))


def _gpu_precision(wanted: str, is_bf16_supported: Callable[..., bool]) -> tuple[str, str]:
    """The precision to take, and why. Emulated bf16 (a T4 has it, and says yes) is slower than no bf16 at all."""
    if wanted in ("auto", "bf16") and not is_bf16_supported(including_emulation=False):
        return "fp16", say("precision.fallback")
    chosen = "bf16" if wanted == "auto" else wanted
    return chosen, say(f"precision.{chosen}")


def _same_sums_every_time() -> None:
    """Ask a GPU for the same order of additions in each run, where it has one: the same seed gives the same run."""
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(True, warn_only=True)
