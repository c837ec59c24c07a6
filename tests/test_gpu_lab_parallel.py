"""Several processes give what one gives: two of them, on a CPU, with gloo."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from conftest import ROOT
from gpu_lab import checkpoints, runs
from gpu_lab.device import choose
from gpu_lab.parallel import World, world_from_environment
from gpu_lab.settings import settings_for
from gpu_lab.train import train
from gpu_lab.words import LabError
from lab_notebook import learners_notebook

STEPS = 8
SIZES = {"d_model": 16, "n_layers": 3}  # layers that FSDP spreads one by one
CPU = choose("cpu")


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    return learners_notebook(tmp_path_factory.mktemp("learner"))


@pytest.fixture(scope="module")
def settings():
    return settings_for("transformer", SIZES, steps=STEPS, batch_size=6, warmup=2)


@pytest.fixture(scope="module")
def alone(tmp_path_factory, settings, notebook):
    """The losses of one process with the whole batch, step by step."""
    out = tmp_path_factory.mktemp("alone") / "run"
    train(settings, out, CPU, notebook=notebook, count=0, log_every=1)
    return losses_of(out)


def losses_of(out):
    return [line["loss"] for line in runs.read_metrics(out / runs.METRICS)[1:]]


def two_processes(out, notebook, *options):
    """The program as a learner starts it on two GPUs, here on a CPU."""
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2"]
    program = ["-m", "gpu_lab.train", "--model", "transformer", "--notebook", str(notebook), "--out", str(out)]
    sizes = [
        "--size",
        "d_model=16",
        "--size",
        "n_layers=3",
        "--steps",
        str(STEPS),
        "--batch-size",
        "6",
        "--warmup",
        "2",
    ]
    said = ["--device", "cpu", "--log-every", "1", "--questions", "0"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    command = [*torchrun, *program, *sizes, *said, *options]
    done = subprocess.run(command, cwd=ROOT.parent, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_ddp_gives_the_losses_of_one_process_and_goes_on_with_what_one_saved(tmp_path, settings, notebook, alone):
    out = tmp_path / "run"
    train(settings, out, CPU, notebook=notebook, stop_after=2, count=0, log_every=1)
    said = two_processes(out, notebook, "--parallel", "ddp", "--resume")
    assert losses_of(out) == pytest.approx(alone, rel=1e-5)  # float32, sums in another order
    assert said.count("parameters") == 1, "one process speaks"


def test_fsdp_gives_them_too_and_what_two_processes_saved_goes_on_in_one(tmp_path, settings, notebook, alone):
    out = tmp_path / "run"
    two_processes(out, notebook, "--parallel", "fsdp", "--stop-after", "5")
    shares = [path for path in checkpoints.newest(out).iterdir() if path.suffix == ".distcp"]
    assert len(shares) == 2, "each process wrote its own share"
    train(settings, out, CPU, notebook=notebook, resume=True, count=0, log_every=1)
    assert losses_of(out) == pytest.approx(alone, rel=1e-5)


def test_the_environment_says_how_many_there_are(monkeypatch):
    assert world_from_environment(None, 64) == World()
    for name, value in {"WORLD_SIZE": "4", "RANK": "3", "LOCAL_RANK": "1"}.items():
        monkeypatch.setenv(name, value)
    assert world_from_environment(None, 64) == World(3, 4, 1, "ddp")
    with pytest.raises(LabError, match="cannot be shared by 4 processes: try --batch-size 68"):
        world_from_environment("fsdp", 66)
    with pytest.raises(LabError, match="leave --parallel out"):
        world_from_environment("none", 64)
