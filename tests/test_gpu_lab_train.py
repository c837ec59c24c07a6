"""The training program: the same settings give the same run, also after a kill; what goes wrong is one sentence."""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
import time
from itertools import pairwise

import pytest
import torch
from conftest import ROOT
from gpu_lab import checkpoints, runs
from gpu_lab.accuracy import accuracy_by_digits, answers
from gpu_lab.data import KOREAN, PADDING, batch, korean, pairs, questions
from gpu_lab.device import choose
from gpu_lab.faults import explained
from gpu_lab.models import build
from gpu_lab.optimise import adamw, learning_rate, share_of_loss, take_step
from gpu_lab.parallel import World
from gpu_lab.settings import settings_for
from gpu_lab.train import main, train
from gpu_lab.utilisation import operations_per_token, peak_of, utilisation
from lab_notebook import learners_notebook

SMALL = {"d_embedding": 8, "d_hidden": 16}
OPTIONS = [
    "--model",
    "attention",
    "--size",
    "d_embedding=8",
    "--size",
    "d_hidden=16",
    "--steps",
    "24",
    "--save-every",
    "4",
]


def small(**changes):
    return settings_for("attention", SMALL, **({"steps": 24, "batch_size": 8, "warmup": 4} | changes))


@pytest.fixture(scope="module")
def cpu():
    return choose("cpu")


def weights(folder):
    return (folder / runs.WEIGHTS).read_bytes()


def test_the_same_settings_give_the_same_bytes_and_another_seed_gives_others(tmp_path, cpu):
    for name, seed in (("one", 0), ("two", 0), ("three", 1)):
        train(small(seed=seed, steps=6), tmp_path / name, cpu, count=0)
    assert weights(tmp_path / "one") == weights(tmp_path / "two")
    assert weights(tmp_path / "one") != weights(tmp_path / "three")


def test_a_run_that_is_killed_goes_on_to_the_same_bytes(tmp_path, cpu):
    """With dropout, so that the random numbers of the second half matter too; killed at no moment of its choosing."""
    sizes, notebook = {"d_model": 16, "dropout": 0.3}, learners_notebook(tmp_path)
    settings = settings_for("transformer", sizes, steps=120, batch_size=8)
    train(settings, tmp_path / "whole", cpu, notebook=notebook, count=0)

    options = [
        "--size",
        "d_model=16",
        "--size",
        "dropout=0.3",
        "--steps",
        "120",
        "--batch-size",
        "8",
        "--save-every",
        "5",
    ]
    command = [sys.executable, "-m", "gpu_lab.train", "--model", "transformer", "--notebook", str(notebook)]
    killed = tmp_path / "killed"
    process = subprocess.Popen([*command, *options, "--out", str(killed), "--device", "cpu"], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while checkpoints.newest(killed) is None:
        assert process.poll() is None, "it ended before its first checkpoint"
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    at = int(checkpoints.newest(killed).name.split("-")[1])
    assert 0 < at < 120
    assert not (killed / runs.WEIGHTS).exists()

    train(settings, killed, cpu, notebook=notebook, resume=True, count=0)
    assert weights(killed) == weights(tmp_path / "whole")
    steps = [line["step"] for line in runs.read_metrics(killed / runs.METRICS)[1:]]
    assert steps == list(range(20, 121, 20)), "each step stands there once"
    assert not list(killed.glob("checkpoint-*"))


def test_a_half_written_checkpoint_is_not_taken(tmp_path, cpu):
    train(small(), tmp_path, cpu, stop_after=3, count=0)
    (tmp_path / "checkpoint-9.part").mkdir()
    assert checkpoints.newest(tmp_path).name == "checkpoint-3"
    train(small(), tmp_path, cpu, resume=True, count=0)
    assert not list(tmp_path.glob("checkpoint-*"))


def test_bits_of_precision_and_the_scale_of_fp16_survive_a_stop(tmp_path):
    for precision in ("bf16", "fp16"):
        device = choose("cpu", precision)
        train(small(steps=6), tmp_path / f"{precision} whole", device, count=0)
        train(small(steps=6), tmp_path / precision, device, stop_after=3, count=0)
        train(small(steps=6), tmp_path / precision, device, resume=True, count=0)
        assert weights(tmp_path / precision) == weights(tmp_path / f"{precision} whole")
    assert weights(tmp_path / "bf16") != weights(tmp_path / "fp16")


def test_a_checkpoint_holds_the_optimisers_memory_and_the_scale_of_fp16(tmp_path):
    def parts(scale):
        model = build("fixed", SMALL)
        return model, adamw(model, small()), torch.amp.GradScaler("cpu", init_scale=scale)

    model, optimiser, scaler = parts(8.0)
    scaler.scale(torch.ones(()))  # it makes its number when it is first used
    sum(weight.sum() for weight in model.parameters()).backward()
    optimiser.step()
    checkpoints.save(tmp_path, 5, model, optimiser, scaler, World())

    other, fresh, unscaled = parts(64.0)
    assert checkpoints.load(checkpoints.newest(tmp_path), other, fresh, unscaled, World()) == 5
    assert unscaled.get_scale() == 8.0
    for ours, theirs in zip(model.parameters(), other.parameters(), strict=True):
        assert torch.equal(ours, theirs)
        assert fresh.state[theirs]["step"] == 1
        assert torch.equal(fresh.state[theirs]["exp_avg"], optimiser.state[ours]["exp_avg"])
        assert optimiser.state[ours]["exp_avg"].abs().min() > 0


def test_what_a_run_has_brought_is_not_written_over(tmp_path, cpu, capsys):
    out = ["--out", str(tmp_path), "--device", "cpu", "--questions", "0"]
    assert main([*OPTIONS, *out, "--stop-after", "2"]) == 0
    assert main([*OPTIONS, *out]) == 2
    assert "--resume" in capsys.readouterr().err
    assert main([*OPTIONS, *out, "--resume", "--seed", "5", "--clip", "2"]) == 2
    assert "seed 0, and now 5; clip 1.0, and now 2.0" in capsys.readouterr().err
    assert main([*OPTIONS, *out, "--resume"]) == 0
    assert "Going on at step 2" in capsys.readouterr().out
    assert main([*OPTIONS, *out, "--resume"]) == 2
    assert "finished" in capsys.readouterr().err


def test_a_run_holds_its_settings_its_weights_and_what_happened(tmp_path, cpu):
    settings = small(steps=20)
    model = train(settings, tmp_path, cpu, count=5, log_every=5)
    assert {path.name for path in tmp_path.iterdir()} == {runs.WEIGHTS, runs.CONFIG, runs.METRICS}
    assert runs.settings_of(tmp_path) == settings
    again = runs.trained_model(tmp_path)
    assert all(torch.equal(ours, model.state_dict()[name]) for name, ours in again.state_dict().items())

    head, *steps, last = runs.read_metrics(tmp_path / runs.METRICS)
    assert head["operations_per_token"] == 6 * head["parameters"]
    assert [line["step"] for line in steps] == [5, 10, 15, 20]
    assert all(line["tokens_per_second"] > 0 and line["utilisation"] is None for line in steps)
    assert last["accuracy"] == {str(digits): share for digits, share in accuracy_by_digits(model, 5).items()}
    assert json.loads((tmp_path / runs.CONFIG).read_text())["vocabularies"] == {"source_vocab": 35, "target_vocab": 19}


def test_practice_makes_the_loss_smaller(tmp_path, cpu):
    train(small(steps=40, learning_rate=0.03), tmp_path, cpu, count=0, log_every=1)
    losses = [line["loss"] for line in runs.read_metrics(tmp_path / runs.METRICS)[1:]]
    assert losses[0] == pytest.approx(math.log(len(KOREAN)), rel=0.1)  # nothing known: all tokens are as likely
    assert sum(losses[-5:]) / 5 < losses[0] - 0.5


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            ["--model", "attention", "--size", "d_model=8"],
            "attention has no size d_model; it has d_embedding, d_hidden.",
        ),
        (["--model", "transformer", "--notebook", "nowhere.ipynb"], "nowhere.ipynb is not there."),
        (["--model", "attention", "--parallel", "fsdp"], "torchrun --nproc_per_node=2"),
    ],
)
def test_what_cannot_work_is_said_in_one_sentence(tmp_path, capsys, options, sentence):
    assert main([*options, "--out", str(tmp_path / "run"), "--device", "cpu"]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_a_gpu_that_is_not_there_is_missed(tmp_path, capsys):
    assert main([*OPTIONS, "--out", str(tmp_path / "run"), "--device", "cuda"]) == 2
    assert "No GPU was found here" in capsys.readouterr().err


def test_running_out_of_memory_says_what_to_change(tmp_path, capsys, monkeypatch):
    def no_memory(*_):
        torch.empty(2**50)

    monkeypatch.setattr("gpu_lab.train.share_of_loss", no_memory)
    assert main([*OPTIONS, "--out", str(tmp_path / "run"), "--device", "cpu", "--batch-size", "24"]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == "Out of memory with a batch of 24. Try --batch-size 12."
    assert explained(torch.OutOfMemoryError("CUDA out of memory."), 24, 4).endswith("--batch-size 12.")
    assert explained(RuntimeError("mat1 and mat2 shapes cannot be multiplied"), 24) is None


def test_a_compiler_that_is_missing_is_said_so():
    missing = type("InvalidCxxCompiler", (RuntimeError,), {"__module__": "torch._inductor.exc"})
    said = explained(missing("No working C++ compiler found\nand more"), 24)
    assert said == "torch.compile does not work here (No working C++ compiler found): leave --compile out."


def test_ctrl_c_says_how_to_go_on(tmp_path, capsys, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    out = ["--out", str(tmp_path / "run"), "--device", "cpu"]
    assert main([*OPTIONS, *out, "--stop-after", "1"]) == 0
    monkeypatch.setattr("gpu_lab.train.share_of_loss", stop)
    assert main([*OPTIONS, *out, "--resume"]) == 130
    assert "--resume goes on" in capsys.readouterr().err
    assert main([*OPTIONS, "--out", str(tmp_path / "other"), "--device", "cpu"]) == 130
    assert "begins anew" in capsys.readouterr().err


def test_a_loss_that_is_no_number_stops_the_run_and_says_so(tmp_path, capsys):
    options = ["--out", str(tmp_path / "run"), "--device", "cpu", "--learning-rate", "1e30", "--log-every", "1"]
    assert main([*OPTIONS, *options, "--questions", "0"]) == 2
    assert "Try --learning-rate" in capsys.readouterr().err


def test_the_learning_rate_goes_up_along_a_line_and_down_along_a_cosine():
    settings = settings_for("fixed", learning_rate=2.0, warmup=4, steps=12)
    rates = [learning_rate(step, settings) for step in range(12)]
    assert rates[:4] == [0.5, 1.0, 1.5, 2.0]
    assert rates[4] == 2.0
    assert rates[8] == pytest.approx(1.0)  # half of the way down
    assert all(later < earlier for earlier, later in pairwise(rates[4:]))
    assert 0 < rates[-1] < 0.1


def test_a_step_is_no_longer_than_the_clip(cpu):
    model = build("attention", SMALL)
    before = [parameter.detach().clone() for parameter in model.parameters()]
    given = batch(0, 0, size=8)
    loss = share_of_loss(model(given.source, given.target_in), given, 1) * 1000
    descent = torch.optim.SGD(model.parameters(), lr=9.0)  # moves by the gradient itself, times the rate
    norm = take_step(model, descent, cpu.scaler(), loss, rate=2.0, clip=0.5)
    moved = torch.stack([(old - new).norm() for old, new in zip(before, model.parameters(), strict=True)]).norm()
    assert norm > 1
    assert moved.item() == pytest.approx(2.0 * 0.5, rel=1e-3)
    assert all(parameter.grad is None for parameter in model.parameters())


def test_the_loss_is_the_mean_over_real_tokens_and_shares_add_up_to_it():
    model = build("fixed", SMALL)
    whole = batch(1, 2, size=6)
    logits = model(whole.source, whole.target_in)  # (N, L, V)
    chances = logits.log_softmax(dim=-1).gather(-1, whole.target[..., None])[..., 0]  # (N, L)
    by_hand = -chances[whole.target != PADDING].mean()
    assert torch.allclose(share_of_loss(logits, whole, 1), by_hand)
    shares = [batch(1, 2, rank, 3, 6) for rank in range(3)]
    mean = sum(share_of_loss(model(each.source, each.target_in), each, 3) for each in shares) / 3
    assert torch.allclose(mean, by_hand)


class Oracle(torch.nn.Module):
    """Says what it was told to, whatever it is asked."""

    def __init__(self, numbers):
        super().__init__()
        self.said = pairs(numbers).target

    def encode(self, source):
        return source

    def decode(self, target_in, memory, source):
        place = target_in.shape[1] - 1
        return torch.nn.functional.one_hot(self.said[:, : place + 1], len(KOREAN)).float()


def test_answers_are_read_up_to_their_end():
    numbers = [7, 3_412_005]
    oracle = Oracle(numbers).train()
    assert answers(oracle, pairs(numbers).source) == [korean(number) for number in numbers]
    assert oracle.training, "the training flag is as it was"


def test_a_wrong_character_makes_an_answer_wrong():
    asked = list(questions(5, 4, 3))
    assert accuracy_by_digits(Oracle(asked), 4, 3, [5]) == {5: 1.0}
    asked[0] += 1
    assert accuracy_by_digits(Oracle(asked), 4, 3, [5]) == {5: 0.75}


def test_utilisation_is_the_formula_over_the_peak():
    # GPT-2's size on an A100 (Raschka): 142,156 tokens/s, 124.4 million parameters, 12 layers, 768 wide
    needed = operations_per_token(124_439_808, layers=12, width=768, length=1024)
    assert needed == 6 * 124_439_808 + 12 * 12 * 768 * 1024
    share = utilisation(needed, 142_156, peak_of("NVIDIA A100-SXM4-80GB", "bf16"))
    assert 0.38 < share < 0.40
    assert peak_of("NVIDIA H200", "bf16") == 989e12
    assert peak_of("Tesla T4", "fp16") == 65e12
    assert peak_of("Tesla T4", "bf16") is None
    assert utilisation(needed, 1.0, None) is None


def test_the_help_names_every_option_and_says_how_to_start():
    command = [sys.executable, "-m", "gpu_lab.train", "--help"]
    said = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT.parent).stdout
    for option in ("--notebook", "--precision", "--compile", "--parallel", "--resume", "torchrun"):
        assert option in said
