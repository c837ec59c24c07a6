"""The lab's measurements: ways to compute attention agree, a cache changes no token, rows say what was measured."""

from __future__ import annotations

import json
import math
import subprocess

import pytest
import torch
from gpu_lab import measure
from gpu_lab.attention import ATTENTIONS, KERNELS, naive
from gpu_lab.curves import growth_exponent, measure_attention
from gpu_lab.ladder import CPU_RUNGS, RUNGS, measure_generation, measure_training
from gpu_lab.language_model import Cache, LanguageModel, Shape, parameters_of
from gpu_lab.measure import exponents, jobs, line, row_in_own_process, row_of
from gpu_lab.timing import RETURN_MEMORY, milliseconds, peak_mib

CPU = torch.device("cpu")
TINY = Shape(n_layers=3, n_heads=2, d_model=12, length=20, vocabulary=17)
TEXT = torch.randint(17, (2, 20), generator=torch.Generator().manual_seed(1))  # (N, T)
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")


def drawn(device="cpu", n=7, d=5, dtype=torch.float64):
    generator = torch.Generator().manual_seed(0)
    return [
        torch.randn(2, 3, n, d, generator=generator, dtype=torch.float64).to(device, dtype).requires_grad_()
        for _ in range(3)
    ]


def values_and_gradients(attention, tensors):
    out = attention(*tensors)
    return [out, *torch.autograd.grad(out.square().sum(), tensors)]


def test_naive_attention_is_a_loop_over_queries():
    q, k, v = drawn()
    out = naive(q, k, v)
    for t in range(7):
        a = (q[:, :, t, None] @ k[:, :, : t + 1].transpose(-1, -2) / math.sqrt(5)).softmax(dim=-1)  # (N, h, 1, t + 1)
        assert torch.allclose(out[:, :, t], (a @ v[:, :, : t + 1])[:, :, 0])


def test_fused_attention_gives_the_values_and_gradients_of_naive():
    tensors = drawn()
    for ours, theirs in zip(*(values_and_gradients(ATTENTIONS[k], tensors) for k in ("fused", "naive")), strict=True):
        assert torch.allclose(ours, theirs)


@needs_gpu
@pytest.mark.parametrize("kind", ["compiled", "fused", "flex", *KERNELS])
def test_every_kind_agrees_with_naive_on_a_gpu(kind):
    tensors = drawn("cuda", n=256, d=64, dtype=torch.bfloat16)
    for ours, theirs in zip(*(values_and_gradients(ATTENTIONS[k], tensors) for k in (kind, "naive")), strict=True):
        distance = (ours - theirs).float().norm() / theirs.float().norm()
        assert distance < 0.02  # bf16 keeps 8 bits: each number is right to 0.4 %


def test_a_language_model_sees_no_future():
    torch.manual_seed(0)
    model = LanguageModel(TINY)
    other = TEXT.clone()
    other[:, 9:] = (other[:, 9:] + 1) % 17
    assert torch.equal(model(other)[:, :9], model(TEXT)[:, :9])
    assert not torch.allclose(model(other)[:, 9:], model(TEXT)[:, 9:])
    assert model.loss(TEXT).item() == pytest.approx(math.log(17), rel=0.1)


def test_a_model_has_the_parameters_that_the_formula_counts():
    model = LanguageModel(TINY)
    counted = sum(parameter.numel() for parameter in model.parameters()) - model.positions.weight.numel()
    assert parameters_of(TINY) == counted
    assert 123e6 < parameters_of(Shape()) < 125e6


def test_a_cache_changes_no_token_and_each_token_goes_through_the_layers_once():
    torch.manual_seed(0)
    model = LanguageModel(TINY)
    seen = []
    model.blocks[0].register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0].shape[1]))
    written = model.generate(TEXT[:, :5], 15)  # a prompt of several tokens: its own mask must not be forgotten
    assert seen == [5, *[1] * 14]
    assert torch.equal(written, model.generate(TEXT[:, :5], 15, cached=False))


def test_several_tokens_behind_a_cache_are_refused():
    model, cache = LanguageModel(TINY), Cache(20)
    model(TEXT[:, :5], cache)
    with pytest.raises(ValueError, match="2 new tokens behind 5 cached ones"):
        model(TEXT[:, 5:7], cache)


def test_memory_that_grows_as_a_square_has_the_exponent_two():
    assert growth_exponent([512, 1024, 4096], [3.0, 12.0, 192.0]) == pytest.approx(2)
    assert growth_exponent([512, 1024, 4096], [3.0, 6.0, 24.0]) == pytest.approx(1)


def test_the_peak_is_what_one_call_holds_at_its_worst_moment():
    def holds_64_and_then_32_mib():
        torch.ones(64 * 2**18)  # freed at once
        torch.ones(32 * 2**18)

    holds_64_and_then_32_mib()
    assert peak_mib(holds_64_and_then_32_mib, CPU) == pytest.approx(64, abs=4)  # pages of other things come and go


def test_the_median_counts_neither_warm_up_nor_waiting(monkeypatch):
    times = iter([0.0, 0.001, 1.0, 1.003, 2.0, 2.002])  # three calls: 1, 3 and 2 ms
    monkeypatch.setattr("time.process_time", lambda: next(times))
    calls = []
    assert milliseconds(lambda: calls.append(1), CPU, warmup=4, repeats=3) == pytest.approx(2)
    assert len(calls) == 7


def test_naive_attention_needs_more_memory_in_a_process_of_its_own():
    sizes = {"what": "attention", "n": 1024, "heads": 4, "head_size": 64, "precision": "fp32", "backward": True}
    rows = {kind: measure._in_own_process({"kind": kind} | sizes, RETURN_MEMORY) for kind in ("naive", "fused")}
    assert all(row["status"] == "measured" and row["milliseconds"] > 0 for row in rows.values())
    assert rows["naive"]["peak_mib"] > 3 * rows["fused"]["peak_mib"]  # 51 and 6 MiB when this was written


def test_time_and_memory_come_from_two_processes_and_a_killed_one_had_no_memory(monkeypatch):
    def run(command, *, env, **_):
        sized = RETURN_MEMORY.items() <= env.items()
        row = {"status": "measured", "milliseconds": 99.0 if sized else 1.0, "peak_mib": 7.0 if sized else 50.0}
        return subprocess.CompletedProcess(command, status, f"a warning\n{json.dumps(row)}\n", "")

    monkeypatch.setattr(subprocess, "run", run)
    status = 0
    assert row_in_own_process({"what": "attention"}) == {"status": "measured", "milliseconds": 1.0, "peak_mib": 7.0}
    status = -9
    assert row_in_own_process({"what": "attention"}) == {"what": "attention", "status": "out of memory"}
    status = 1
    with pytest.raises(RuntimeError):
        row_in_own_process({"what": "attention"})


def test_operations_are_those_of_a_causal_table(monkeypatch):
    monkeypatch.setattr("gpu_lab.curves.milliseconds", lambda *_, **__: 1000.0)
    forward, both = (measure_attention("fused", 64, 2, 8, "fp32", backward, CPU, 1) for backward in (False, True))
    assert forward["teraflops"] == pytest.approx(4 * 2 * 64**2 * 8 / 2 / 1e12)
    assert both["teraflops"] == pytest.approx(3.5 * forward["teraflops"])


def test_a_rung_trains_and_says_how_well_the_device_is_used():
    found = measure_training(CPU_RUNGS[1], TINY, 2, CPU, "cpu", warmup=1, repeats=2)
    assert found["tokens_per_second"] == pytest.approx(2 * 20 / found["milliseconds"] * 1000)
    used = found["operations_per_token"] * found["tokens_per_second"] / found["peak_operations_per_second"]
    assert found["utilisation"] == pytest.approx(used)
    assert 0 < used < 1
    assert torch.get_float32_matmul_precision() == "highest"


def test_writing_is_measured_with_and_without_a_cache():
    found = measure_generation(TINY, 4, "fp32", CPU, repeats=1)
    assert found["same_tokens"] is True
    assert found["with_cache"] > 0 < found["without_cache"]


def test_out_of_memory_and_what_a_kernel_cannot_do_are_rows_and_a_fault_of_ours_is_none(monkeypatch):
    job = {"what": "product", "precision": "fp32"}

    def raising(error):
        def fail(*_):
            raise error

        monkeypatch.setattr(measure, "product_speed", fail)
        return row_of(job, CPU, "cpu")

    assert raising(torch.OutOfMemoryError("CUDA out of memory."))["status"] == "out of memory"
    row = raising(RuntimeError("No available kernel.\nAborting execution."))
    assert (row["status"], row["reason"]) == ("not possible", "No available kernel.")
    with pytest.raises(KeyError):
        raising(KeyError("precision"))


def test_the_programme_of_a_gpu_has_every_kind_length_and_rung():
    full = list(jobs(on_gpu=True, small=False, batch=16))
    attention = [job for job in full if job["what"] == "attention"]
    assert {job["kind"] for job in attention} == set(ATTENTIONS)
    assert max(job["n"] for job in attention) == 16_384
    assert all(job["backward"] and job["heads"] * job["head_size"] == 1024 for job in attention)
    assert [job["rung"]["name"] for job in full if job["what"] == "training"] == [rung.name for rung in RUNGS]
    assert all(job["shape"]["d_model"] >= 768 for job in full if job["what"] == "training")

    small = list(jobs(on_gpu=False, small=True, batch=16))
    assert {job["kind"] for job in small if job["what"] == "attention"} == {"naive", "compiled", "fused", "flex"}
    assert not any(job["backward"] for job in small if job.get("kind") == "flex")
    assert json.loads(json.dumps(full)) == full, "plain data, for another process"


def test_a_results_file_says_what_it_was_made_with(tmp_path, monkeypatch, capsys):
    def measured(job):
        numbers = {"milliseconds": 1.0, "teraflops": 0.1, "peak_mib": (job["n"] / 512) ** 2} if "n" in job else {}
        return job | {"status": "measured" if numbers else "out of memory"} | numbers

    monkeypatch.setattr(measure, "row_in_own_process", measured)
    out = tmp_path / "speed.json"
    arguments = ["--small", "--device", "cpu", "--parts", "attention", "training", "--out", str(out)]
    assert measure.main(arguments) == 0
    results = json.loads(out.read_text())
    assert results["made"]["command"] == f"python -m gpu_lab.measure {' '.join(arguments)}"
    assert {"date", "hardware", "versions"} <= results["made"].keys()
    assert results["memory_exponents"]["naive"] == pytest.approx(2)
    said = capsys.readouterr().out
    assert "naive, n = 1,024: 1.00 ms, 4 MiB at most" in said
    assert "flex, n = 512, forward only" in said
    assert "compiled: out of memory" in said


def test_a_row_of_each_part_has_a_line():
    rows = [
        {"what": "product", "teraflops": 1.0},
        {"what": "generation", "without_cache": 99.0, "with_cache": 674.0, "same_tokens": True},
        {"what": "training", "rung": {"name": "bf16"}, "tokens_per_second": 5000.0, "milliseconds": 3.0}
        | {"peak_mib": 7.0, "utilisation": 0.45},
    ]
    assert "45.0% used" in [line(row | {"status": "measured"}) for row in rows][2]
    assert line(rows[2] | {"status": "not possible", "reason": "no kernel"}) == "bf16: not possible no kernel"


def test_no_exponent_comes_from_one_length():
    row = {"what": "attention", "kind": "naive", "n": 2048, "status": "measured", "peak_mib": 200.0}
    assert exponents([row, row | {"n": 4096, "status": "out of memory"}]) == {}


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_without_a_gpu_the_small_programme_is_asked_for(capsys):
    assert measure.main([]) == 2
    assert "--small" in capsys.readouterr().err


@needs_gpu
def test_fused_attention_on_a_gpu_beats_naive_by_far():
    device = torch.device("cuda")
    times = {kind: measure_attention(kind, 8192, 16, 64, "bf16", True, device, 10) for kind in ("naive", "fused")}
    assert times["naive"]["milliseconds"] > 5 * times["fused"]["milliseconds"]
