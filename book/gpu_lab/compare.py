"""Train the three models from several seeds and count what each gets right, by the number of digits.

    python -m gpu_lab.compare

writes book/gpu_lab/results/accuracy.json, which the chapter draws. Finished runs are kept in the folder of --runs and
not trained again, so that a comparison that was stopped goes on.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from gpu_lab import runs
from gpu_lab.accuracy import accuracy_by_digits
from gpu_lab.data import LONGEST
from gpu_lab.device import choose
from gpu_lab.machine import made
from gpu_lab.models import MODELS, parameters_of
from gpu_lab.notebook import default_notebook
from gpu_lab.settings import Settings, settings_for
from gpu_lab.train import train
from gpu_lab.words import LabError, say

RESULTS = Path(__file__).parent / "results" / "accuracy.json"

# What the course claims of 12 digits, with a margin below what three seeds gave.
LEAST_WITH_ATTENTION = 0.90  # for the GRU with attention and for the Transformer
LEAST_GAIN = 0.60  # of attention over the fixed vector


def compare(
    all_settings: Iterable[Settings], folder: Path, count: int, device: str = "auto", notebook: Path | None = None
) -> list[dict[str, object]]:
    """One row a run: the model, its size, what training took, and its share of right answers by number of digits."""
    rows = []
    for settings in all_settings:
        out = folder / f"{settings.model}-{settings.seed}"
        if not (out / runs.WEIGHTS).exists():
            train(settings, out, choose(device), notebook=notebook, resume=True, count=0)
        runs.check(out, settings)
        model = runs.trained_model(out, notebook)
        last = runs.read_metrics(out / runs.METRICS)[-1]
        shares = accuracy_by_digits(model, count)
        print(say("compare.row", model=settings.model, seed=settings.seed, share=shares[LONGEST]))
        row = {"model": settings.model, "seed": settings.seed, "parameters": parameters_of(model)}
        times = {name: round(last[name], 1) for name in ("seconds", "processor_seconds")}
        rows.append(row | {"settings": asdict(settings)} | times | {"accuracy": shares})
    return rows


def shortfalls(rows: Sequence[dict]) -> list[str]:
    """The claims that these results do not carry; empty when all hold, for each seed."""
    longest = {(row["model"], row["seed"]): row["accuracy"][LONGEST] for row in rows}
    found = []
    for (model, seed), share in longest.items():
        if model != "fixed" and share < LEAST_WITH_ATTENTION:
            found.append(say("compare.least", model=model, seed=seed, share=share, least=LEAST_WITH_ATTENTION))
        gain = share - longest.get(("fixed", seed), 0.0)
        if model == "attention" and gain < LEAST_GAIN:
            found.append(say("compare.gain", seed=seed, gain=gain, least=LEAST_GAIN))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit status: 0 the claims hold, 1 one does not, 2 something to mend."""
    own = argparse.ArgumentParser(
        prog="python -m gpu_lab.compare", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    own.add_argument(
        "--models", nargs="+", choices=MODELS, default=MODELS, metavar="MODEL", help="(default: all three)"
    )
    own.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2], metavar="N", help="(default: 0 1 2)")
    own.add_argument("--steps", type=int, metavar="N", help="of training (default: each model's own)")
    own.add_argument("--questions", type=int, default=500, metavar="N", help="of each length (default: 500)")
    own.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    own.add_argument(
        "--notebook", type=Path, metavar="PATH", help="the notebook with the Transformer (default: the solution)"
    )
    own.add_argument(
        "--runs", type=Path, default=Path("runs/compare"), metavar="FOLDER", help="(default: runs/compare)"
    )
    own.add_argument("--out", type=Path, default=RESULTS, metavar="FILE", help="the results (default: the chapter's)")
    asked = own.parse_args(arguments)
    all_settings = [settings_for(model, seed=seed, steps=asked.steps) for model in asked.models for seed in asked.seeds]
    notebook = asked.notebook or default_notebook(Path.cwd())
    try:
        rows = compare(all_settings, asked.runs, asked.questions, asked.device, notebook)
    except LabError as error:
        print(error, file=sys.stderr)
        return 2
    results = {"made": made("gpu_lab.compare", arguments), "questions": asked.questions, "runs": rows}
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    asked.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(say("compare.written", path=asked.out))
    missed = shortfalls(rows)
    print(*missed, sep="\n", end="\n" if missed else "")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
