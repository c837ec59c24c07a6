"""Notebooks as they are kept: no outputs, stable ids, no editor's traces; exercises as released."""

from __future__ import annotations

import json
import re

import pytest
from conftest import ROOT

NOTEBOOKS = sorted(path for folder in ("book", "solutions", "exercises") for path in (ROOT / folder).rglob("*.ipynb"))
KERNEL = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: str(path.relative_to(ROOT)))
def notebook(request):
    return json.loads(request.param.read_text(encoding="utf-8"))


def test_there_are_notebooks():
    assert len(NOTEBOOKS) > 3


def test_a_notebook_has_no_outputs(notebook):
    for cell in notebook["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


def test_cell_ids_are_readable_and_unique(notebook):
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(ids) == len(set(ids))
    for name in ids:
        assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{1,63}", name)
        assert not re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f-]+)?", name), "an id that an editor made up"


def test_metadata_is_the_courses_own(notebook):
    metadata = {key: value for key, value in notebook["metadata"].items() if key != "mystnb"}
    assert metadata == KERNEL
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    locks = {"deletable", "editable"} if "mystnb" in notebook["metadata"] else set()  # nbgrader's, in a release
    for cell in notebook["cells"]:
        assert set(cell["metadata"]) <= {"tags", "nbgrader", "mystnb"} | locks


def test_text_names_no_machine_and_no_outside_picture(notebook):
    text = "\n".join("".join(cell["source"]) for cell in notebook["cells"])
    assert not re.search(r"/(home|root|tmp|work)/\w", text)
    assert not re.search(r"!\[[^\]]*\]\(https?:", text)
