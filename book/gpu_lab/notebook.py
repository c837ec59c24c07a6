"""The learner's own Transformer, taken out of their notebook.

Cells that belong to the exercises (nbgrader has marked them) are run, their tests left out. Of any other cell only
imports, functions and classes are taken: a cell that trains, draws or tries something is not started again here.
"""

from __future__ import annotations

import ast
import json
import linecache
import sys
import types
from collections.abc import Iterator
from pathlib import Path

from torch import nn

from gpu_lab.words import LabError

CLASS = "Seq2SeqTransformer"
_DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)


def transformer_of(path: Path) -> type[nn.Module]:
    """The class `Seq2SeqTransformer` that the notebook defines. Raises LabError with what is wrong."""
    module = types.ModuleType("learners_notebook")
    sys.modules[module.__name__] = module  # where torch.compile and dataclasses look a class's module up
    first_error: tuple[str, Exception] | None = None
    for cell, code in _cells(path):
        try:
            exec(code, module.__dict__)
        except Exception as error:  # whatever a learner's cell may raise: a later cell may not need it
            first_error = first_error or (cell, error)
    found = getattr(module, CLASS, None)
    if isinstance(found, type) and issubclass(found, nn.Module):
        return found
    if first_error is None:
        raise LabError("notebook.no_class", path=path, name=CLASS)
    cell, error = first_error
    kind = type(error).__name__
    raise LabError("notebook.no_class_because", path=path, name=CLASS, cell=cell, error=kind, message=error)


def default_notebook(start: Path) -> Path | None:
    """The solution of the course in whose folder (or below it) `start` lies; None elsewhere."""
    for folder in (start, *start.parents):
        for path in sorted((folder / "solutions" / "07_gpu_lab").glob("*.ipynb")):
            if f"class {CLASS}" in path.read_text(encoding="utf-8"):
                return path
    return None


def _cells(path: Path) -> Iterator[tuple[str, types.CodeType]]:
    """The code to run, cell by cell, with each cell's name; a cell that is no Python is left out."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except FileNotFoundError:
        raise LabError("notebook.not_found", path=path) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LabError("notebook.unreadable", path=path, reason=error) from None
    for number, cell in enumerate(cells):
        if cell.get("cell_type") != "code":
            continue
        marks = cell.get("metadata", {}).get("nbgrader")
        if marks and marks.get("grade") and not marks.get("solution"):
            continue  # a test
        source = "".join(cell.get("source", ""))
        name = str(cell.get("id", number))
        try:
            tree = ast.parse(source)
        except SyntaxError:  # a shell command, or unfinished
            continue
        if not marks:
            tree.body = [node for node in tree.body if isinstance(node, _DEFINITIONS)]
        file = f"<{path.name}, cell {name}>"
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)  # lines for tracebacks
        yield name, compile(tree, file, "exec")
