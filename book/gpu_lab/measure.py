"""Measure how fast and how large attention and training are on this machine.

    python -m gpu_lab.measure                a GPU: n = 512 … 16,384, a model of 124 million parameters (minutes)
    python -m gpu_lab.measure --small        a CPU: n = 512 … 4,096, a small model; the same curves' shapes

writes results/speed-<gpu or cpu>.json beside this file, with hardware, versions, command and date. On a CPU each
measurement has processes of its own, so that its memory can be told from that of the one before.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import torch

from gpu_lab.attention import KERNELS
from gpu_lab.curves import LENGTHS, SMALL_LENGTHS, growth_exponent, measure_attention
from gpu_lab.device import choose
from gpu_lab.faults import is_out_of_memory
from gpu_lab.ladder import (
    CPU_RUNGS,
    FULL,
    RUNGS,
    SMALL,
    Rung,
    measure_generation,
    measure_training,
    product_speed,
)
from gpu_lab.language_model import Shape
from gpu_lab.machine import made
from gpu_lab.timing import RETURN_MEMORY
from gpu_lab.words import LabError, say

RESULTS = Path(__file__).parent / "results"
PARTS = ("product", "attention", "training", "generation")

Job = dict[str, object]  # what to measure, as plain data; "what" is one of PARTS


def jobs(on_gpu: bool, small: bool, batch: int) -> Iterator[Job]:
    """All measurements, in the order of the chapter."""
    precision = "bf16" if on_gpu else "fp32"
    yield {"what": "product", "precision": precision}
    for n in SMALL_LENGTHS if small else LENGTHS:
        for kind in ("naive", "compiled", "fused", "flex", *(KERNELS if on_gpu else ())):
            sizes = {"heads": 4 if small else 16, "head_size": 64}
            backward = on_gpu or kind != "flex"  # FlexAttention has no backward on a CPU
            yield {"what": "attention", "kind": kind, "n": n, "precision": precision, "backward": backward} | sizes
    shape = asdict(SMALL if small else FULL)
    for rung in RUNGS if on_gpu else CPU_RUNGS:
        yield {"what": "training", "rung": asdict(rung), "shape": shape, "batch": 2 if small else batch}
    yield {"what": "generation", "shape": shape, "count": 256 if small else 512, "precision": "fp32"}


def row_of(job: Job, device: torch.device, device_name: str) -> Job:
    """The job with its numbers, or with the reason why there are none: running out of memory is a result too."""
    try:
        found = _measured(job, device, device_name)
    except Exception as error:  # whatever a kernel or a compiler raises where it cannot serve
        if is_out_of_memory(error):
            return job | {"status": "out of memory"}
        if isinstance(error, (AttributeError, KeyError, TypeError, NameError)):
            raise  # a fault of ours
        return job | {"status": "not possible", "reason": str(error).strip().splitlines()[0][:200]}
    return job | {"status": "measured"} | found


def _measured(job: Job, device: torch.device, device_name: str) -> Job:
    repeats = 20 if device.type == "cuda" else 3
    asked = {name: value for name, value in job.items() if name != "what"}
    match job["what"]:
        case "product":
            return {"teraflops": product_speed(asked["precision"], device) / 1e12}
        case "attention":
            return measure_attention(**asked, device=device, repeats=repeats)
        case "training":
            rung, shape = Rung(**asked["rung"]), Shape(**asked["shape"])
            return measure_training(
                rung, shape, asked["batch"], device, device_name, warmup=repeats // 3, repeats=repeats
            )
        case "generation":
            shape = Shape(**asked["shape"])
            return measure_generation(shape, asked["count"], asked["precision"], device, repeats=3)
    raise LabError("measure.unknown", what=job["what"], known=", ".join(PARTS))


def row_in_own_process(job: Job) -> Job:
    """The same, on the CPU, by new processes: one for time, one for memory, which is measured at time's cost."""
    row = _in_own_process(job, {})
    if row["status"] == "measured" and "peak_mib" in row:
        row["peak_mib"] = _in_own_process(job, RETURN_MEMORY)["peak_mib"]
    return row


def _in_own_process(job: Job, environment: Mapping[str, str]) -> Job:
    command = [sys.executable, "-m", "gpu_lab.measure", "--job", json.dumps(job)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | environment)
    if done.returncode == -signal.SIGKILL:  # how Linux ends a process that takes the last memory
        return job | {"status": "out of memory"}
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def exponents(rows: Sequence[Job]) -> dict[str, float]:
    """How each kind's memory grows with n, from the lengths that were measured."""
    found = {}
    for kind in dict.fromkeys(row["kind"] for row in rows if row["what"] == "attention"):
        measured = [
            row
            for row in rows
            if row.get("kind") == kind and row["status"] == "measured" and row["n"] >= 1024 and row["peak_mib"] > 0
        ]
        if len(measured) > 1:
            found[kind] = growth_exponent([row["n"] for row in measured], [row["peak_mib"] for row in measured])
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit status: 0 measured, 2 something to mend."""
    own = argparse.ArgumentParser(
        prog="python -m gpu_lab.measure", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    own.add_argument("--small", action="store_true", help="short texts and a small model, for a CPU")
    own.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    own.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, metavar="PART", help=f"of {', '.join(PARTS)}")
    own.add_argument("--batch", type=int, default=16, metavar="N", help="texts in a training step (default: 16)")
    own.add_argument("--out", type=Path, metavar="FILE", help="where the results are written")
    own.add_argument("--job", type=json.loads, help=argparse.SUPPRESS)  # one measurement, for row_in_own_process
    asked = own.parse_args(arguments)
    if asked.job:
        print(json.dumps(row_of(asked.job, choose("cpu").torch_device, "cpu")))
        return 0
    try:
        device = choose(asked.device, "fp32")
        if not (device.is_gpu or asked.small):
            raise LabError("measure.small")
    except LabError as error:
        print(error, file=sys.stderr)
        return 2
    # Asking for the same sums in each run would forbid the fastest kernels.
    torch.use_deterministic_algorithms(False)
    rows = []
    for job in jobs(device.is_gpu, asked.small, asked.batch):
        if job["what"] not in asked.parts:
            continue
        row = row_of(job, device.torch_device, device.name) if device.is_gpu else row_in_own_process(job)
        rows.append(row)
        print(line(row), flush=True)
        _clear(device.is_gpu)
    where = asked.out or RESULTS / f"speed-{'gpu' if device.is_gpu else 'cpu'}.json"
    results = {"made": made("gpu_lab.measure", arguments), "memory_exponents": exponents(rows), "rows": rows}
    where.parent.mkdir(parents=True, exist_ok=True)
    where.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(say("compare.written", path=where))
    return 0


def line(row: Job) -> str:
    """A row for the terminal."""
    name = row["what"]
    if name == "attention":
        name = f"{row['kind']}, n = {row['n']:,}" + ("" if row["backward"] else say("measure.forward"))
    elif name == "training":
        name = row["rung"]["name"]
    if row["status"] != "measured":
        return f"{name}: {row['status']} {row.get('reason', '')}".rstrip()
    return say(f"measure.{row['what']}", name=name, **{k: v for k, v in row.items() if k != "what"})


def _clear(on_gpu: bool) -> None:
    """Give back what the last measurement held, so that the next finds the card empty."""
    torch._dynamo.reset()
    gc.collect()
    if on_gpu:
        torch.cuda.empty_cache()


if __name__ == "__main__":
    sys.exit(main())
