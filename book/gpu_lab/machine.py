"""What a measurement was made on and with, so that its numbers can be read by others."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import torch


def made(module: str, arguments: Sequence[str] | None = None) -> dict[str, object]:
    """Date, command, hardware and versions, for the head of a results file."""
    given = sys.argv[1:] if arguments is None else arguments
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "command": " ".join(["python -m", module, *given]),
        "hardware": hardware(),
        "versions": versions(),
    }


def hardware() -> dict[str, object]:
    """The processor, and the GPU where there is one."""
    found: dict[str, object] = {"processor": _processor(), "cores": os.cpu_count(), "memory_gib": _memory_gib()}
    if torch.cuda.is_available():
        card = torch.cuda.get_device_properties(0)
        found |= {
            "gpu": card.name,
            "gpus": torch.cuda.device_count(),
            "gpu_memory_gib": round(card.total_memory / 2**30),
        }
    return found


def versions() -> dict[str, str]:
    """Of Python, PyTorch, and what lies under it."""
    found = {"python": platform.python_version(), "torch": torch.__version__, "system": platform.system()}
    if torch.cuda.is_available():
        found |= {"cuda": str(torch.version.cuda), "cudnn": str(torch.backends.cudnn.version())}
    return found


def _processor() -> str:
    """Its name: Linux keeps it in a file, elsewhere Python asks."""
    listed = Path("/proc/cpuinfo")
    lines = listed.read_text(encoding="utf-8").splitlines() if listed.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _memory_gib() -> int:
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)
