"""Each page of the book holds what it says: its claims on other seeds, its shape comments on this one."""

from __future__ import annotations

import subprocess
import sys

import pytest
from conftest import ROOT
from pages import run, shape_claims

PAGES = sorted((ROOT / "book").glob("*.ipynb"))

RUN = """
import sys
sys.path[:0] = [{tests!r}, "."]
from pathlib import Path
from pages import run
page = run(Path({page!r}), {seed})
print(page.checked)
print("\\n".join(page.wrong))
"""


def run_page(page, seed):
    """Run in a process of its own, in the book's folder, as the build does; how many shapes were checked, and the wrong ones."""
    code = RUN.format(tests=str(ROOT / "tests"), page=page.name, seed=seed)
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT / "book", capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stderr[-3000:]
    lines = done.stdout.splitlines()
    marker = max(i for i, line in enumerate(lines) if line.isdecimal())
    return int(lines[marker]), [line for line in lines[marker + 1 :] if line]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_claims_of_a_page_hold_on_another_seed_and_its_shape_comments_are_true(page):
    checked, wrong = run_page(page, 1)
    assert wrong == []
    assert checked >= 5


def test_a_wrong_shape_comment_is_found(tmp_path):
    import json

    cells = [
        "import numpy as np\nX = np.ones((3, 4))  # (T, D)\nY = X.T  # (T, D)\nZ = X  # (3, 5)\nv = X[0]  # (T, D)",
        "def f(x):\n    y = x[None]  # (N, T, D)\n    return y.sum(0)  # (D, T)\nf(X)\nf(X.T)",
    ]
    notebook = {"cells": [{"cell_type": "code", "id": f"c{i}", "source": s} for i, s in enumerate(cells)]}
    (tmp_path / "page.ipynb").write_text(json.dumps(notebook))
    page = run(tmp_path / "page.ipynb")
    assert [line.split(": ")[1].split(" #")[0] for line in page.wrong] == ["Y", "Z", "v", "returns", "returns"]


def test_a_comment_on_the_last_line_of_a_long_statement_is_about_the_whole():
    claims = shape_claims("x = f(\n    1,\n)  # (N, 1, H)\ny = 2  # not a shape\n")
    assert claims[1].entries == ("N", "1", "H")
    assert len(claims) == 1
