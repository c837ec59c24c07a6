"""Stop at any time, go on as if nothing had been: weights, the optimiser's memory, the scale of fp16, the step.

No random state and no place in the data: both are functions of (seed, step, rank). A checkpoint is written aside and
renamed when it is whole, so that a process that is killed leaves the last one as it was. The format is PyTorch's
distributed checkpoint: each process writes what it holds, and any number of processes reads it.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path

import torch
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict

from gpu_lab.parallel import World

_WHOLE = re.compile(r"checkpoint-(\d+)")


def newest(folder: Path) -> Path | None:
    """The last whole checkpoint of a run; None where there is none."""
    found = [(int(name[1]), path) for path in folder.glob("checkpoint-*") if (name := _WHOLE.fullmatch(path.name))]
    return max(found)[1] if found else None


def save(
    folder: Path,
    step: int,
    model: nn.Module,
    optimiser: torch.optim.Optimizer,
    scaler: torch.amp.GradScaler,
    world: World,
) -> None:
    """Write the state after `step` steps, and remove the checkpoint before it. All processes must ask for it."""
    aside, whole = folder / f"checkpoint-{step}.part", folder / f"checkpoint-{step}"
    if world.speaks:
        shutil.rmtree(aside, ignore_errors=True)  # of a process that was killed while it wrote
    world.wait()
    with _alone_on_purpose():
        dcp.save(_state(step, model, optimiser, scaler), checkpoint_id=aside, no_dist=world.size == 1)
    if world.speaks:
        shutil.rmtree(whole, ignore_errors=True)
        os.replace(aside, whole)
        remove(folder, all_but=whole)
    world.wait()


def load(
    path: Path,
    model: nn.Module,
    optimiser: torch.optim.Optimizer,
    scaler: torch.amp.GradScaler,
    world: World,
) -> int:
    """Put a checkpoint's state in place and return its step. All processes must ask for it."""
    state = _state(0, model, optimiser, scaler)
    with _alone_on_purpose():
        dcp.load(state, checkpoint_id=path, no_dist=world.size == 1)
    set_state_dict(model, optimiser, model_state_dict=state["model"], optim_state_dict=state["optimiser"])
    if scaler.is_enabled():
        scaler.load_state_dict(state["scaler"])
    return int(state["step"])


def remove(folder: Path, all_but: Path | None = None) -> None:
    """Remove the checkpoints of a run, half-written ones too."""
    for path in folder.glob("checkpoint-*"):
        if path != all_but:
            shutil.rmtree(path)


def _state(step: int, model: nn.Module, optimiser: torch.optim.Optimizer, scaler: torch.amp.GradScaler) -> dict:
    weights, memory = get_state_dict(model, optimiser)
    return {"step": torch.tensor(step), "model": weights, "optimiser": memory, "scaler": scaler.state_dict()}


@contextlib.contextmanager
def _alone_on_purpose() -> Iterator[None]:
    """Without the warning that one process saves alone, which it is told to."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="torch.distributed is disabled")
        yield
