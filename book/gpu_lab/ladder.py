"""A ladder of training steps: the same language model, each rung computed in a better way than the one before.

And beside it, text that is written with and without a cache of keys and values.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

import torch

from gpu_lab.device import PRECISIONS
from gpu_lab.language_model import LanguageModel, Shape, parameters_of
from gpu_lab.timing import milliseconds, peak_mib
from gpu_lab.utilisation import operations_per_token, peak_of, utilisation

FULL = Shape()  # d_model 768, 124 million parameters
SMALL = Shape(n_layers=4, n_heads=4, d_model=256, length=512, vocabulary=2048)


@dataclass(frozen=True)
class Rung:
    """What one rung changes."""

    name: str
    attention: str
    precision: str
    compiled: bool = False
    tf32: bool = False  # 32-bit products on tensor cores, with 10 bits after the point
    batch_times: int = 1  # fused attention leaves room for more texts at once


RUNGS = (
    Rung("naive", "naive", "fp32"),
    Rung("tensor cores", "naive", "fp32", tf32=True),
    Rung("bf16", "naive", "bf16"),
    Rung("fused", "fused", "bf16"),
    Rung("compiled", "fused", "bf16", compiled=True),
    Rung("larger batch", "fused", "bf16", compiled=True, batch_times=4),
    Rung("flex", "flex", "bf16", compiled=True, batch_times=4),
)
# A CPU has no tensor cores, most have no 16-bit products (one that emulates them took twenty times as long), and
# FlexAttention has no backward there.
CPU_RUNGS = (
    Rung("naive", "naive", "fp32"),
    Rung("fused", "fused", "fp32"),
    Rung("compiled", "fused", "fp32", compiled=True),
)


def measure_training(
    rung: Rung, shape: Shape, batch: int, device: torch.device, device_name: str, warmup: int, repeats: int
) -> dict[str, float | None]:
    """Whole training steps on random text: tokens/s, milliseconds a step, peak memory, utilisation."""
    torch.manual_seed(0)
    torch.set_float32_matmul_precision("high" if rung.tf32 else "highest")
    model = LanguageModel(shape, rung.attention).to(device)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    loss = torch.compile(model.loss) if rung.compiled else model.loss
    batch *= rung.batch_times
    text = torch.randint(shape.vocabulary, (batch, shape.length + 1), device=device)  # (N, T + 1)
    dtype = PRECISIONS[rung.precision]

    def step() -> None:
        with torch.autocast(device.type, dtype) if dtype else contextlib.nullcontext():
            value = loss(text)
        value.backward()
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)

    median = milliseconds(step, device, warmup, repeats)
    # Weights and the two numbers that the optimiser keeps of each are there all the time: 12 bytes a parameter.
    lasting = 12 * sum(parameter.numel() for parameter in model.parameters()) / 2**20
    peak_memory = lasting + peak_mib(step, device)
    speed = batch * shape.length / median * 1000
    operations = operations_per_token(parameters_of(shape), shape.n_layers, shape.d_model, shape.length)
    peak = peak_of(device_name, "bf16" if rung.tf32 else rung.precision) or product_speed(rung.precision, device)
    return {
        "tokens_per_second": speed,
        "milliseconds": median,
        "peak_mib": peak_memory,
        "parameters": parameters_of(shape),
        "batch": batch,
        "operations_per_token": operations,
        "peak_operations_per_second": peak,
        "utilisation": utilisation(operations, speed, peak),
    }


def measure_generation(
    shape: Shape, count: int, precision: str, device: torch.device, repeats: int
) -> dict[str, float | bool]:
    """Tokens/s of writing one text of `count` tokens without and with a cache, and whether both wrote the same."""
    torch.manual_seed(0)
    dtype = PRECISIONS[precision] or torch.float32
    model = LanguageModel(shape).to(device, dtype).eval()
    prompt = torch.randint(shape.vocabulary, (1, 16), device=device)  # (N, T)

    def speed(cached: bool) -> float:
        return count / milliseconds(lambda: model.generate(prompt, count, cached), device, 1, repeats) * 1000

    same = torch.equal(model.generate(prompt, count, cached=True), model.generate(prompt, count, cached=False))
    return {"without_cache": speed(False), "with_cache": speed(True), "same_tokens": same}


def product_speed(precision: str, device: torch.device) -> float:
    """Operations per second of a square matrix product: what the device really reaches, where no data sheet is known."""
    n = 8192 if device.type == "cuda" else 1024
    a, b = (torch.randn(n, n, device=device).to(PRECISIONS[precision] or torch.float32) for _ in range(2))
    return 2 * n**3 / milliseconds(lambda: a @ b, device, warmup=3, repeats=10) * 1000
