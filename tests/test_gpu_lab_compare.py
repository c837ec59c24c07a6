"""The comparison of the three models: one row a run, kept runs are not trained again, claims are checked."""

from __future__ import annotations

import json

import pytest
from gpu_lab import compare as comparing
from gpu_lab.compare import RESULTS, compare, main, shortfalls
from gpu_lab.data import LONGEST
from gpu_lab.models import MODELS
from gpu_lab.settings import settings_for
from lab_notebook import learners_notebook

SMALL = {"d_embedding": 8, "d_hidden": 16}


def row(model, share, seed=0):
    return {"model": model, "seed": seed, "accuracy": {LONGEST: share}}


def test_the_committed_results_carry_the_courses_claims():
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    rows = results["runs"]
    assert {(row["model"], row["seed"]) for row in rows} == {(model, seed) for model in MODELS for seed in range(3)}
    for each in rows:
        each["accuracy"] = {int(digits): share for digits, share in each["accuracy"].items()}
        settings = settings_for(each["model"], seed=each["seed"])
        assert each["settings"] == json.loads(json.dumps(vars(settings))), "made with the settings of today"
    assert shortfalls(rows) == []
    assert {"date", "command", "hardware", "versions"} <= results["made"].keys()


def test_a_claim_that_does_not_hold_is_named():
    good = [row("fixed", 0.05), row("attention", 0.97), row("transformer", 0.96)]
    assert shortfalls(good) == []
    assert "attention, seed 0: 80.0% right" in shortfalls([row("fixed", 0.05), row("attention", 0.8)])[0]
    assert len(shortfalls([row("transformer", 0.5, seed=4)])) == 1
    assert "0.47 more often" in shortfalls([row("fixed", 0.5), row("attention", 0.97)])[0]


def test_each_run_is_a_row_and_a_kept_run_is_not_trained_again(tmp_path, monkeypatch):
    all_settings = [settings_for("fixed", SMALL, seed=seed, steps=2) for seed in (0, 1)]
    rows = compare(all_settings, tmp_path, 3, "cpu")
    assert [row["seed"] for row in rows] == [0, 1]
    assert all(set(row["accuracy"]) == set(range(1, 13)) and row["processor_seconds"] >= 0 for row in rows)
    monkeypatch.setattr(comparing, "train", None)
    assert compare(all_settings, tmp_path, 3, "cpu") == rows


def test_the_program_writes_what_it_was_made_with_and_fails_when_a_claim_does(tmp_path, capsys):
    notebook = learners_notebook(tmp_path)
    out = tmp_path / "accuracy.json"
    arguments = ["--models", "transformer", "--seeds", "3", "--steps", "1", "--questions", "2", "--device", "cpu"]
    files = ["--notebook", str(notebook), "--runs", str(tmp_path / "runs"), "--out", str(out)]
    assert main([*arguments, *files]) == 1
    assert "transformer, seed 3" in capsys.readouterr().out
    assert json.loads(out.read_text())["made"]["command"].startswith("python -m gpu_lab.compare --models transformer")


def test_a_transformer_without_a_notebook_is_asked_for(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["--models", "transformer", "--runs", str(tmp_path), "--device", "cpu"]) == 2
    assert "--notebook PATH" in capsys.readouterr().err


@pytest.mark.parametrize("model", MODELS)
def test_all_models_practise_on_batches_of_one_size(model):
    settings = settings_for(model)
    assert (settings.batch_size, settings.clip, settings.seed) == (64, 1.0, 0)
