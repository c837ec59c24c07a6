"""Claims about what is said while the book is built."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "book"))
import build

LOG = """\
\x1b[01mupdating environment: \x1b[39;49;00m[config changed] 2 added, 1 changed, 0 removed
\x1b[01mreading sources... \x1b[39;49;00m[ 33%] \x1b[35mbook/03_scores\x1b[39;49;00m
book/03_scores.ipynb: Executing notebook using local CWD [mystnb]
[IPKernelApp] WARNING | Kernel is running over TCP without encryption.
book/03_scores.ipynb: Executed notebook in 2.94 seconds [mystnb]
\x1b[01mreading sources... \x1b[39;49;00m[ 67%] \x1b[35mbook/glossary\x1b[39;49;00m
\x1b[01mreading sources... \x1b[39;49;00m[100%] \x1b[35mbook/index\x1b[39;49;00m
\x1b[01mlooking for now-outdated files... \x1b[39;49;00mnone found
\x1b[01mpreparing documents... \x1b[39;49;00mdone
\x1b[01mwriting output... \x1b[39;49;00m[ 33%] \x1b[32mbook/03_scores\x1b[39;49;00m
"""
SAID = ["page 1 of 3: book/03_scores, run in 2.9 s", "page 2 of 3: book/glossary", "page 3 of 3: book/index"]


@pytest.fixture
def built(tmp_path, monkeypatch, capsys):
    """Build with a Sphinx that writes LOG and ends with `status`; the exit status, and what was said."""

    def run(status: int, verbose: bool = False) -> tuple[int, str]:
        (tmp_path / "log").write_text(LOG, encoding="utf-8")
        python = tmp_path / "python"
        python.write_text(f'#!/bin/sh\ncat "{tmp_path}/log"\nexit {status}\n', encoding="utf-8")
        python.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(python))
        return build.build(tmp_path, verbose), capsys.readouterr().out

    return run


def test_a_build_says_a_line_for_each_page_and_what_to_open(built):
    status, said = built(0)
    assert status == 0
    assert said.splitlines()[:-1] == [*SAID, "writing all pages"]
    assert said.splitlines()[-1].endswith("_build/html/index.html")


def test_a_build_that_fails_shows_its_whole_log_without_colours_and_keeps_its_status(built):
    status, said = built(3)
    assert status == 3
    assert said.splitlines()[:3] == SAID
    assert "WARNING | Kernel" in said
    assert "\x1b" not in said


def test_a_verbose_build_shows_its_log_once(built):
    _, said = built(3, verbose=True)
    assert said.count("Executing notebook") == 1
    assert "page 1 of" not in said
