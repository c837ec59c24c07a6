"""What decides the result of a run: the same settings give the same weights."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpu_lab.models import SIZES

STEPS = {"fixed": 1200, "attention": 1200, "transformer": 800}  # about as many seconds for each on one CPU core


@dataclass(frozen=True)
class Settings:
    """A model, its sizes, and how it is trained. Where, and by how many processes, is no part of it."""

    model: str
    steps: int
    sizes: dict[str, int | float] = field(default_factory=dict)
    seed: int = 0
    batch_size: int = 64
    learning_rate: float = 3e-3  # the largest of the schedule
    warmup: int = 50  # steps from 0 up to it
    weight_decay: float = 0.01
    clip: float = 1.0  # the largest norm of the gradient


def settings_for(model: str, sizes: dict[str, int | float] | None = None, **changes: int | float | None) -> Settings:
    """The course's settings for a model, with some of them changed; a change of None is none."""
    changes = {"steps": STEPS[model]} | {name: value for name, value in changes.items() if value is not None}
    return Settings(model=model, sizes=SIZES[model] | (sizes or {}), **changes)
