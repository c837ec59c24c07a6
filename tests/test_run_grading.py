"""A trained model is judged by what it does: what is forged, broken or trained the wrong way is a sentence, and never a crash."""

from __future__ import annotations

import json
import os
import struct
from functools import partial

import pytest
import torch
from conftest import ROOT
from gpu_lab.data import ENGLISH, KOREAN, batch
from safetensors.torch import save

from autograder.course import Course, model_cells
from autograder.limits import LIMITS
from autograder.link import Stopped, connect
from autograder.run_files import CONFIG, METRICS, WEIGHTS, RunFiles, run_beside
from autograder.run_grading import Gates, judge, score_run
from autograder.run_metrics import contradictions, told
from autograder.statuses import DIED, MEMORY, TIMEOUT

ASSIGNMENT = Course(ROOT).assignment("07_gpu_lab")
MODEL = model_cells(ASSIGNMENT.notebooks)
(EXERCISE,) = (notebook.run for notebook in ASSIGNMENT.notebooks if notebook.run)
SIZES = {"d_model": 8, "n_heads": 2, "d_ff": 6, "n_layers": 1}
# An untrained model passes these gates: what else is wrong with it shows.
OPEN = Gates(count=6, digits=(5, 12), least={"test_run_5_digits": (5, 0.0), "test_run_12_digits": (12, 0.0)})
LINES = [{"model": "transformer", "device": "cpu", "precision": "fp32"}]
LINES += [
    {"step": 20, "seconds": 2.0, "tokens_per_second": 9000.0},
    {"step": 40, "seconds": 4.0, "tokens_per_second": 9100.0},
]


def classes():
    """The course's own Transformer, in this process."""
    namespace: dict = {"__name__": "model"}
    for source in MODEL:
        exec(source, namespace)
    return namespace


def new_model(**sizes):
    torch.manual_seed(0)
    return classes()["Seq2SeqTransformer"](len(ENGLISH), len(KOREAN), **(SIZES | sizes))


def state_of(model):
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def files(state=None, config=None, lines=LINES, weights=None):
    """A run's files; by default a small model's that has learned nothing."""
    content = save(state_of(new_model()) if state is None else state) if weights is None else weights
    config = {"model": "transformer", "sizes": SIZES} if config is None else config
    text = "".join(json.dumps(line) + "\n" for line in lines)
    return RunFiles(((WEIGHTS, content), (CONFIG, json.dumps(config).encode()), (METRICS, text.encode())))


@pytest.fixture(scope="module")
def judged(warm):
    warm.prepare(with_torch=True)
    return lambda run, gates=OPEN: judge(run, MODEL, partial(connect, warm.start, with_torch=True), gates)


def all_faults(verdict):
    return " ".join([verdict.fault, *verdict.faults.values()]).strip()


def test_the_model_that_grades_is_the_reference():
    reference = next(e.reference for e in ASSIGNMENT.exercises if e.name == "Seq2SeqTransformer")
    given = "\n".join(MODEL)
    for line in reference.splitlines():
        assert line in given


def test_a_run_through_open_gates_is_whole_and_says_what_it_can(judged):
    verdict = judged(files())
    assert all_faults(verdict) == ""
    assert "of 6 for each number of digits: 5 digits 0%, 12 digits 0%" in verdict.told
    assert "9,100 tokens per second on cpu" in verdict.told


def test_an_untrained_model_misses_both_gates_and_keeps_the_point_for_its_files(judged):
    gates = Gates(count=6, digits=(5, 12))
    result = score_run("kim", "07_gpu_lab", "gpu_lab", EXERCISE, judged(files(), gates))
    scores = {check.check: (check.score, check.status) for check in result.checks}
    assert scores == {
        "test_run": (1.0, "passed"),
        "test_run_5_digits": (0.0, "failed"),
        "test_run_12_digits": (0.0, "failed"),
    }
    assert result.message == "At 5 digits 0% of the answers are right, and 95% are asked for."


def header(entries, data=b""):
    text = json.dumps(entries).encode()
    return struct.pack("<Q", len(text)) + text + data


def changed(**tensors):
    return state_of(new_model()) | {name.replace("__", "."): tensor for name, tensor in tensors.items()}


BROKEN = {
    "random bytes": (files(weights=os.urandom(500)), "model.safetensors is no file of that kind"),
    "an empty file": (files(weights=b""), "model.safetensors is no file of that kind"),
    "cut off": (files(weights=save(state_of(new_model()))[:-8]), "is cut off"),
    "a header without end": (files(weights=struct.pack("<Q", 1 << 62) + b"{}"), "no file of that kind"),
    "a header that lies about sizes": (
        files(weights=header({"output.bias": {"dtype": "F32", "shape": [1 << 40], "data_offsets": [0, 4]}}, b"1234")),
        "no file of that kind",
    ),
    "a pickle": (files(weights=b"\x80\x04\x8c\x02os\x8c\x06system\x93."), "no file of that kind"),
    "another model": (
        files({"encoder.weight_ih_l0": torch.zeros(3, 3)}),
        "does not hold decoder.0.cross_attention.k_proj",
    ),
    "more than the model": (files(changed(sneaky=torch.zeros(1))), "holds sneaky"),
    "another shape": (files(changed(output__bias=torch.zeros(4))), "output.bias has the shape (4,)"),
    "NaN": (files(changed(output__bias=torch.full((len(KOREAN),), torch.nan))), "output.bias holds NaN or infinity"),
    "infinity": (files(changed(output__bias=torch.full((len(KOREAN),), torch.inf))), "output.bias holds NaN"),
    "float64": (files(changed(output__bias=torch.zeros(len(KOREAN)).double())), "output.bias are float64"),
    "no sizes": (files(config={"model": "transformer"}), "config.json names no sizes"),
    "a list for a config": (files(config=[1]), "config.json names no sizes"),
    "another kind": (files(config={"model": "fixed", "sizes": SIZES}), "the model 'fixed'"),
    "a giant": (files(config={"sizes": SIZES | {"n_layers": 10**6}}), "n_layers is 1000000, and should be"),
    "a size that is text": (files(config={"sizes": SIZES | {"d_ff": "6"}}), "d_ff is 6, and should be"),
    "too many parameters": (files(config={"sizes": {"d_model": 512, "n_layers": 8}}), "and 2000000 are the most"),
    "heads that do not fit": (files(config={"sizes": SIZES | {"n_heads": 3}}), "8 cannot be cut into 3 heads"),
    "sizes of another run": (files(config={"sizes": SIZES | {"d_model": 16}}), "by the sizes in config.json"),
    "no metrics": (files(lines=[]), "metrics.jsonl has 0 lines"),
    "metrics that are no objects": (files(lines=[1]), "metrics.jsonl, line 1: not a JSON object"),
}


@pytest.mark.parametrize(("run", "said"), BROKEN.values(), ids=BROKEN.keys())
def test_what_cannot_be_loaded_is_named_and_earns_nothing(judged, run, said):
    verdict = judged(run)
    assert said in verdict.fault
    assert verdict.status.name == "failed"
    assert score_run("kim", "07_gpu_lab", "gpu_lab", EXERCISE, verdict).score == 0


def test_json_that_is_nested_without_end_is_a_sentence(judged):
    run = dict(files().files)
    for name in (CONFIG, METRICS):
        deep = RunFiles(tuple((run | {name: b"[" * 200_000}).items()))
        assert "JSON" in judged(deep).fault


def test_half_the_bits_are_enough(judged):
    state = {name: tensor.bfloat16() for name, tensor in state_of(new_model()).items()}
    assert all_faults(judged(files(state))) == ""


FORGED = {
    "accuracy": ([*LINES, {"step": 40, "accuracy": {"5": 1.0, "12": 0.99}}], "tells of 100% right at 5 digits"),
    "parameters": ([LINES[0] | {"parameters": 5}, *LINES[1:]], "tells of 5 parameters"),
    "steps": ([LINES[0], LINES[2], LINES[1]], "do not go forward"),
    "speed": (
        [LINES[0] | {"device": "NVIDIA H200", "precision": "bf16"}, LINES[1] | {"tokens_per_second": 1e12}],
        "more than",
    ),
    "utilisation": (
        [LINES[0] | {"device": "NVIDIA H200", "precision": "bf16"}, LINES[1] | {"utilisation": 0.6}],
        "tells of a utilisation of 0.6",
    ),
    "no peak": ([LINES[0], LINES[1] | {"utilisation": 0.6}], "whose peak is not known"),
    "negative speed": ([LINES[0], LINES[1] | {"tokens_per_second": -1.0}], "which does not fit"),
}


@pytest.mark.parametrize(("lines", "said"), FORGED.values(), ids=FORGED.keys())
def test_a_forged_metrics_file_costs_its_own_point_and_gains_nothing(judged, lines, said):
    verdict = judged(files(lines=lines))
    assert said in verdict.of("test_run")
    assert verdict.of("test_run_5_digits") == verdict.of("test_run_12_digits") == ""


def test_utilisation_is_computed_here_and_shown():
    lines = [{"device": "NVIDIA H200", "precision": "bf16", "parameters": 10**8}]
    lines += [{"step": 1, "seconds": 1.0, "tokens_per_second": 8e5, "utilisation": 0.485, "peak_memory_mib": 900.0}]
    assert contradictions(lines, 10**8, {}) == []
    assert told(lines, 10**8)[1:] == ["Utilisation, computed from that: 48.5%.", "Peak memory: 900 MiB."]


def test_a_decoder_that_sees_the_future_is_recognised(judged):
    """Trained with later tokens in sight, a model learns to copy the next one; the course's own cannot see it."""
    model = new_model(d_model=32, d_ff=32)
    for layer in model.decoder:
        layer.register_forward_pre_hook(lambda layer, args: (args[0], args[1], None, args[3]))
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(120):
        pairs = batch(0, step, size=32)
        logits = model(pairs.source, pairs.target_in)
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), pairs.target.flatten(), ignore_index=0)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    run = files(state_of(model), {"sizes": SIZES | {"d_model": 32, "d_ff": 32}})
    verdict = judged(run, Gates(count=6, digits=(5, 12)))
    assert "Your weights fit a decoder that sees later tokens" in verdict.of("test_run_12_digits")


class Silent:
    """A process that ends, or says nothing, when it is asked."""

    def __init__(self, status):
        self.status = status

    def run(self, source, label):
        raise Stopped(self.status, "an answer's message")

    def close(self):
        pass


@pytest.mark.parametrize(
    ("status", "said"), [(TIMEOUT, "took longer than 120 seconds"), (DIED, "ended the process"), (MEMORY, "ended")]
)
def test_a_run_that_ends_its_process_is_a_row_in_its_own_words(status, said):
    verdict = judge(files(), MODEL, lambda: Silent(status), OPEN)
    assert (verdict.status, said in verdict.fault) == (status, True)


def test_without_the_courses_own_model_nothing_is_a_zero():
    verdict = judge(files(), (), lambda: None)
    assert verdict.status.ours


# Finding a learner's own


def test_a_run_beside_the_notebook_is_found_in_its_folder_or_loose(tmp_path):
    assert "There is no run yet" in run_beside(tmp_path).fault
    (tmp_path / CONFIG).write_text("{}")
    assert run_beside(tmp_path).fault == "The run is not whole: model.safetensors, metrics.jsonl is missing."
    folder = tmp_path / "run"
    folder.mkdir()
    for name in (WEIGHTS, CONFIG, METRICS):
        (folder / name).write_bytes(name.encode())
    assert [content.decode() for _, content in run_beside(tmp_path).files] == [WEIGHTS, CONFIG, METRICS]


def test_a_file_of_ten_gigabytes_is_not_read(tmp_path):
    for name in (WEIGHTS, CONFIG, METRICS):
        (tmp_path / name).touch()
    os.truncate(tmp_path / WEIGHTS, 10 << 30)  # sparse
    run = run_beside(tmp_path)
    assert run.fault == f"model.safetensors is larger than {LIMITS.run_bytes[WEIGHTS] >> 20} MiB, and was not read."


def test_every_check_of_the_run_has_a_gate_or_is_the_files_own():
    assert {check.name for check in EXERCISE.checks} == {"test_run", *Gates().least}
