"""What exercises in the page are made from is pinned, checked, and missed without harm."""

from __future__ import annotations

import base64
import json
import re
import sys

import pytest
from conftest import ROOT
from course_site import in_page

sys.path.insert(0, str(ROOT / "book"))
from in_page import fetch as fetching

FOLDER = ROOT / "book" / "in_page"
SCRIPTS = [*(ROOT / "book" / "assets" / "in_page").glob("*.js"), FOLDER / "editor.js"]
PINNED = json.loads((FOLDER / "python.json").read_text(encoding="utf-8"))
MOST = 500_000  # bytes of the editor


def test_every_package_is_pinned_with_its_hash_and_no_server_is_named():
    wanted = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))["dependencies"]
    locked = json.loads((FOLDER / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    for name, version in wanted.items():
        assert locked[f"node_modules/{name}"]["version"] == version
    for name, package in locked.items():
        if name:
            assert package["integrity"].startswith("sha512-"), name
            assert "resolved" not in package, name


def test_the_public_copy_has_the_version_of_the_package():
    version = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))["dependencies"]["pyodide"]
    assert f"/v{version}/" in PINNED["public_copy"]


def test_numpy_is_the_file_that_pyodide_lists():
    numpy = PINNED["lock"]["packages"]["numpy"]
    integrity = PINNED["files"][numpy["file_name"]]["integrity"]
    assert base64.b64decode(integrity.removeprefix("sha256-")).hex() == numpy["sha256"]


def test_what_cannot_be_had_is_told_in_a_line_each(tmp_path, monkeypatch):
    monkeypatch.setenv("npm_config_offline", "true")
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    lines = list(fetching.fetch(tmp_path / "in_page"))
    assert [line.split(" (")[0] for line in lines] == [fetching.EDITOR, fetching.PYTHON, fetching.NUMPY]
    assert not any("\n" in line for line in lines)
    assert not list((tmp_path / "in_page").glob("site/*"))


def test_a_file_that_is_not_the_pinned_one_is_refused(tmp_path):
    (tmp_path / "pyodide.mjs").write_text("export const loadPyodide = () => {};")
    with pytest.raises(fetching.NotHad, match=r"pyodide\.mjs is not the file that is pinned"):
        fetching._copy(tmp_path / "pyodide.mjs", tmp_path / "site", PINNED)
    assert not (tmp_path / "site").exists()


def test_the_site_says_which_files_it_has(tmp_path):
    (tmp_path / "pyodide").mkdir()
    (tmp_path / "pyodide" / "pyodide.mjs").touch()
    told = in_page.python_here(tmp_path, b"program")
    assert {name for name, file in told["files"].items() if file["here"]} == {"pyodide.mjs"}
    assert told["program"] != in_page.python_here(tmp_path, b"another")["program"]


def test_every_sentence_of_the_scripts_is_in_the_table_and_none_besides():
    table = in_page.words()
    text = "\n".join(script.read_text(encoding="utf-8") for script in SCRIPTS)
    used = set(re.findall(r"\bdata\.words\.(\w+)", text)) | {key for key in table if f'"{key}"' in text}
    assert used == set(table)
    for key in re.findall(r'\bsay\("(\w+)"', text):
        assert key in table


def test_blanks_of_sentences_are_filled_by_name():
    for key, sentence in in_page.words().items():
        assert set(re.findall(r"\{(\w*)\}", sentence)) <= {"name", "file", "done", "all", "command", "megabytes", "right", "total"}, key  # fmt: skip


def test_the_editor_is_light(html):
    editor = html / "_static" / "in_page" / "editor.js"
    assert editor.stat().st_size < MOST


def test_the_site_holds_what_the_worker_asks_for(html):
    site = html / "_static" / "in_page"
    told = json.loads((site / "python.json").read_text(encoding="utf-8"))
    for name, file in told["files"].items():
        assert (site / "pyodide" / name).is_file() == file["here"]
        if file["here"]:
            assert fetching._described(site / "pyodide" / name) == PINNED["files"][name]
    assert (site / told["program"].split("?")[0]).is_file()
    for page in html.glob("exercises/*/*.html"):
        if 'id="in-page-data"' in page.read_text(encoding="utf-8"):
            assert (page.parent / "hints.json").read_bytes() == (
                ROOT / "exercises" / page.parent.name / "hints.json"
            ).read_bytes()
