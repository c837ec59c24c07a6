"""Train one model on the lab's task.

    python -m gpu_lab.train --model attention --out runs/attention
    python -m gpu_lab.train --model transformer --notebook gpu_lab.ipynb --out runs/transformer
    torchrun --nproc_per_node=2 -m gpu_lab.train --model attention --parallel fsdp --out runs/two

The folder of --out gets model.safetensors (the weights), config.json (the settings) and metrics.jsonl (what happened).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from gpu_lab import checkpoints, runs
from gpu_lab.accuracy import accuracy_by_digits
from gpu_lab.data import batch
from gpu_lab.device import PRECISIONS, Device, choose
from gpu_lab.faults import explained
from gpu_lab.models import MODELS, SIZES, build, parameters_of
from gpu_lab.notebook import default_notebook
from gpu_lab.optimise import adamw, learning_rate, seed_step, share_of_loss, take_step
from gpu_lab.parallel import MODES, World, joined, spread, whole_number, whole_weights, world_from_environment
from gpu_lab.report import Report
from gpu_lab.settings import STEPS, Settings, settings_for
from gpu_lab.words import LabError, say


def train(
    settings: Settings,
    out: Path,
    device: Device,
    world: World | None = None,
    *,
    notebook: Path | None = None,
    compiled: bool = False,
    save_every: int = 200,
    log_every: int = 20,
    resume: bool = False,
    stop_after: int | None = None,
    count: int = 200,
) -> nn.Module | None:
    """Train a model, write the run into `out`, ask it `count` questions of each length.

    save_every 0: no checkpoints. stop_after: only so many steps now, with a checkpoint at the end. Returns the model;
    None when it is not finished, and in processes that do not speak. Raises LabError.
    """
    world = world or World()
    with joined(world, device):
        model, own = _model(settings, notebook, device, world, compiled)
        optimiser, scaler = adamw(model, settings), device.scaler()
        checkpoint = _opened(out, settings, device, world, resume)
        first = checkpoints.load(checkpoint, model, optimiser, scaler, world) if checkpoint else 0
        if resume and world.speaks:
            print(say("resume.step", step=first) if checkpoint else say("resume.nothing"))
        with Report(out, settings, parameters_of(own), device, world, first) as report:
            model.train()
            last = min(settings.steps, first + (stop_after or settings.steps))
            for step in range(first, last):
                done = step + 1
                seed_step(settings.seed, step, world.rank)
                rate = learning_rate(step, settings)
                pairs = batch(settings.seed, step, world.rank, world.size, settings.batch_size)
                with report.step(pairs.step_tokens):
                    pairs = pairs.to(device.torch_device)
                    with device.autocast():
                        logits = model(pairs.source, pairs.target_in)  # (N, L, target_vocab)
                    loss = share_of_loss(logits, pairs, world.size)
                    norm = take_step(model, optimiser, scaler, loss, rate, settings.clip)
                    is_told = done % log_every == 0 or done == settings.steps
                    if is_told:  # asking for a number waits for the GPU, and so belongs to the time measured
                        told = world.mean(loss), rate, whole_number(norm)
                if is_told:
                    report.line(done, *told)
                if done < settings.steps and (done == last or (save_every and done % save_every == 0)):
                    checkpoints.save(out, done, model, optimiser, scaler, world)
        if last < settings.steps:
            if world.speaks:
                print(say("train.stopped", step=last))
            return None
        weights = whole_weights(model)
    if not world.speaks:
        return None
    return _finish(settings, out, weights, report, notebook, count)


def _model(
    settings: Settings, notebook: Path | None, device: Device, world: World, compiled: bool
) -> tuple[nn.Module, nn.Module]:
    """The model as it trains, and as it is by itself."""
    torch.manual_seed(settings.seed)
    own = build(settings.model, settings.sizes, notebook).to(device.torch_device)
    if world.speaks:
        print(say("model.parameters", model=settings.model, parameters=parameters_of(own)))
    if compiled:
        own.compile()
    return spread(own, world, device), own


def _opened(out: Path, settings: Settings, device: Device, world: World, resume: bool) -> Path | None:
    """The run's folder, made if need be; returns the checkpoint to go on from. What a run has brought is kept."""
    checkpoint, is_finished = checkpoints.newest(out), (out / runs.WEIGHTS).exists()
    world.wait()  # until all have looked, before one writes
    if checkpoint or is_finished:
        if not resume:
            raise LabError("out.taken", folder=out)
        runs.check(out, settings)
        if is_finished:
            raise LabError("resume.done", folder=out)
    elif world.speaks:
        runs.begin(out, settings, device)
    return checkpoint


def _finish(
    settings: Settings, out: Path, weights: dict[str, Tensor], report: Report, notebook: Path | None, count: int
) -> nn.Module:
    """Write the weights, and ask the model as a grader will: from its file, on a CPU."""
    runs.save_weights(out, weights)
    model = runs.trained_model(out, notebook)
    checkpoints.remove(out)
    if count:
        shares = accuracy_by_digits(model, count)
        report.write(step=settings.steps, questions=count, accuracy=shares)
        print(say("accuracy.head", count=count))
        for digits, share in shares.items():
            print(say("accuracy.row", digits=digits, share=share))
    print(say("train.written", folder=out))
    return model


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit status: 0 trained, 2 something to mend, said in one sentence; 130 stopped by Ctrl+C."""
    asked = _parser().parse_args(arguments)
    world = World()
    try:
        world = world_from_environment(asked.parallel, asked.batch_size)
        device = choose(asked.device, asked.precision, world.local_rank)
        if world.speaks:
            print(*device.sentences, sep="\n")
        train(
            _settings(asked),
            asked.out,
            device,
            world,
            notebook=asked.notebook or default_notebook(Path.cwd()),
            compiled=asked.compile,
            save_every=asked.save_every,
            log_every=asked.log_every,
            resume=asked.resume,
            stop_after=asked.stop_after,
            count=asked.questions,
        )
    except KeyboardInterrupt:
        kept = checkpoints.newest(asked.out)
        print(say("train.interrupted") if kept else say("train.interrupted_early"), file=sys.stderr)
        return 130
    except LabError as error:
        print(error, file=sys.stderr)
        return 2
    except (MemoryError, RuntimeError) as error:
        sentence = explained(error, asked.batch_size, world.size)
        if sentence is None:
            raise
        print(sentence, file=sys.stderr)
        return 2
    return 0


def _settings(asked: argparse.Namespace) -> Settings:
    """The course's settings, and what the command line changes of them."""
    names = ("steps", "seed", "batch_size", "learning_rate", "warmup", "weight_decay", "clip")
    sizes = dict(asked.size)
    unknown = set(sizes) - set(SIZES[asked.model])
    if unknown:
        known = ", ".join(SIZES[asked.model])
        raise LabError("model.size", model=asked.model, unknown=", ".join(sorted(unknown)), known=known)
    return settings_for(asked.model, sizes, **{name: getattr(asked, name) for name in names})


def _size(text: str) -> tuple[str, int | float]:
    name, _, value = text.partition("=")
    return name, float(value) if "." in value else int(value)


def _parser() -> argparse.ArgumentParser:
    own = argparse.ArgumentParser(
        prog="python -m gpu_lab.train", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    own.add_argument(
        "--model",
        choices=MODELS,
        required=True,
        help="fixed: a GRU with one vector; attention: with attention; transformer: yours",
    )
    own.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where the run is written")
    own.add_argument("--notebook", type=Path, metavar="PATH", help="the notebook with your Seq2SeqTransformer")
    own.add_argument(
        "--size",
        type=_size,
        action="append",
        default=[],
        metavar="NAME=N",
        help="another size of the model: d_model=128",
    )

    learning = own.add_argument_group("how it learns")
    steps = ", ".join(f"{model} {number}" for model, number in STEPS.items())
    learning.add_argument("--steps", type=int, metavar="N", help=f"batches to practise on (default: {steps})")
    learning.add_argument("--seed", type=int, metavar="N", help="the same seed gives the same run (default: 0)")
    learning.add_argument(
        "--batch-size", type=int, default=64, metavar="N", help="pairs in a batch, all processes together (default: 64)"
    )
    learning.add_argument("--learning-rate", type=float, metavar="X", help="its largest value (default: 0.003)")
    learning.add_argument("--warmup", type=int, metavar="N", help="steps until it is reached (default: 50)")
    learning.add_argument("--weight-decay", type=float, metavar="X", help="(default: 0.01)")
    learning.add_argument("--clip", type=float, metavar="X", help="the largest norm of the gradient (default: 1)")

    machine = own.add_argument_group("how it is computed")
    machine.add_argument(
        "--device", choices=("auto", "cpu", "cuda"), default="auto", help="auto: a GPU where there is one"
    )
    machine.add_argument(
        "--precision",
        choices=("auto", *PRECISIONS),
        default="auto",
        help="auto: fp32 on a CPU; on a GPU bf16, or fp16 where it has no bf16",
    )
    machine.add_argument("--compile", action="store_true", help="with torch.compile: the first step takes a minute")
    machine.add_argument("--parallel", choices=MODES, help="with torchrun: ddp (the default there) or fsdp")

    going_on = own.add_argument_group("stopping, going on, telling")
    going_on.add_argument("--resume", action="store_true", help="go on at the last checkpoint of --out")
    going_on.add_argument("--stop-after", type=int, metavar="N", help="only so many steps now; --resume goes on")
    going_on.add_argument(
        "--save-every", type=int, default=200, metavar="N", help="steps between checkpoints; 0: none (default: 200)"
    )
    going_on.add_argument(
        "--log-every", type=int, default=20, metavar="N", help="steps between lines of metrics.jsonl (default: 20)"
    )
    going_on.add_argument(
        "--questions",
        type=int,
        default=200,
        metavar="N",
        help="questions for each number of digits at the end; 0: none (default: 200)",
    )
    return own


if __name__ == "__main__":
    sys.exit(main())
