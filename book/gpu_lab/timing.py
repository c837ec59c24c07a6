"""How long something takes and how much memory it needs at most, on a GPU or a CPU.

A GPU works on its own: a call returns before it is done. Time is therefore taken by events that the GPU itself records,
and the clock is read when it has come to them. On a CPU it is the processor time of this process, which computes on one
thread: what other programs do does not count. The first calls load, compile and choose kernels: they are not counted
either. The median is told.
"""

from __future__ import annotations

import ctypes
import gc
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

# For the environment of a process that measures memory on a CPU: glibc then returns each tensor as soon as it is freed.
# Not for one that measures time, which that costs.
RETURN_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(64 * 1024)}

_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def milliseconds(call: Callable[[], object], device: torch.device, warmup: int, repeats: int) -> float:
    """The median time of a call."""
    for _ in range(warmup):
        call()
    return statistics.median(_times(call, device, repeats))


def _times(call: Callable[[], object], device: torch.device, repeats: int) -> list[float]:
    if device.type != "cuda":
        times = []
        for _ in range(repeats):
            began = time.process_time()
            call()
            times.append(1000 * (time.process_time() - began))
        return times
    begins, ends = ([torch.cuda.Event(enable_timing=True) for _ in range(repeats)] for _ in range(2))
    torch.cuda.synchronize()
    for begin, end in zip(begins, ends, strict=True):
        begin.record()
        call()
        end.record()
    torch.cuda.synchronize()
    return [begin.elapsed_time(end) for begin, end in zip(begins, ends, strict=True)]


def peak_mib(call: Callable[[], object], device: torch.device) -> float:
    """How much more memory than before one call needs at its worst moment.

    On a CPU it is the growth of the whole process. The call should have been made once before: what is loaded or
    compiled the first time is not its own.
    """
    if device.type == "cuda":
        torch.cuda.synchronize()
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        call()
        torch.cuda.synchronize()
        return (torch.cuda.max_memory_allocated() - before) / 2**20
    _give_back()
    before = _memory("VmRSS")
    _forget_the_peak()
    call()
    return max(_memory("VmHWM") - before, 0.0)


def _give_back() -> None:
    """Return to the system what the C library keeps of freed memory: used again, it would hide growth."""
    gc.collect()
    if sys.platform == "linux" and hasattr(library := ctypes.CDLL(None), "malloc_trim"):
        library.malloc_trim(0)


def _forget_the_peak() -> None:
    """Linux keeps the largest size that a process has had, and begins anew when told so; elsewhere the old peak stays."""
    if _RESET.exists():
        _RESET.write_text("5")


def _memory(which: str) -> float:
    """The process's size now (VmRSS) or at its largest (VmHWM), in MiB; the largest alone where there is no /proc."""
    if not _STATUS.exists():
        unit = 1 if sys.platform == "darwin" else 1024  # bytes on macOS, KiB elsewhere
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20
    fields = dict(line.split(":", 1) for line in _STATUS.read_text().splitlines())
    return int(fields[which].split()[0]) / 1024
