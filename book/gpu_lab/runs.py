"""A run's folder: model.safetensors, config.json and metrics.jsonl.

safetensors holds names, shapes and numbers; unlike a pickle it cannot hold anything that runs when it is loaded.
"""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from gpu_lab.device import Device
from gpu_lab.models import VOCABULARIES, build
from gpu_lab.settings import Settings
from gpu_lab.words import LabError, say

WEIGHTS, CONFIG, METRICS = "model.safetensors", "config.json", "metrics.jsonl"


def begin(out: Path, settings: Settings, device: Device) -> None:
    """Make the folder and write config.json: the settings, and what the run is made with."""
    out.mkdir(parents=True, exist_ok=True)
    made_with = {"torch": torch.__version__, "device": device.name, "precision": device.precision}
    config = {"format": 1, **asdict(settings), "vocabularies": VOCABULARIES, "made_with": made_with}
    aside = (out / CONFIG).with_suffix(".part")
    aside.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    aside.replace(out / CONFIG)


def settings_of(out: Path) -> Settings:
    """The settings in a run's config.json."""
    config = json.loads((out / CONFIG).read_text(encoding="utf-8"))
    return Settings(**{each.name: config[each.name] for each in fields(Settings)})


def check(out: Path, settings: Settings) -> None:
    """Raise LabError when the run there has other settings: what would go on would be neither run."""
    there, here = asdict(settings_of(out)), asdict(settings)
    differences = [
        say("out.difference", name=name, there=there[name], here=here[name])
        for name in here
        if there[name] != here[name]
    ]
    if differences:
        raise LabError("out.other", folder=out, differences="; ".join(differences))


def save_weights(out: Path, weights: dict[str, Tensor]) -> None:
    """Write model.safetensors, whole or not at all."""
    aside = (out / WEIGHTS).with_suffix(".part")
    save_file({name: tensor.contiguous() for name, tensor in weights.items()}, aside)
    aside.replace(out / WEIGHTS)


def trained_model(out: Path, notebook: Path | None = None) -> nn.Module:
    """The model of a finished run, on the CPU."""
    settings = settings_of(out)
    model = build(settings.model, settings.sizes, notebook)
    model.load_state_dict(load_file(out / WEIGHTS))
    return model


def read_metrics(path: Path) -> list[dict]:
    """The lines of a metrics.jsonl; a last one that a kill cut off is left out."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]
