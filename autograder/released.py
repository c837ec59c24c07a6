"""Where a learner's notebook comes from: its cells and known mistakes as released, in a hints.json file.

It lies beside the notebook; for one that was moved or downloaded alone, the course's own will do.
"""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder.course import RELEASE_FOLDER, SourceNotebook, model_cells
from autograder.errors import UsageError
from autograder.fingerprints import Fingerprints
from autograder.hints import HINTS_FILE, read_table
from autograder.notebooks import Cell
from autograder.words import say


@dataclass(frozen=True)
class Released:
    """A notebook as it was released, and what its hints.json says beside."""

    notebook: SourceNotebook
    chapter: str
    has_hints: bool = False  # whether there is a hints.json; without it the copy was taken as it stands
    known: dict[str, Fingerprints] = field(default_factory=dict)  # the known mistakes, by exercise
    others: tuple[str, ...] = ()  # the chapter's other notebooks, by name
    model: tuple[str, ...] = ()  # the cells that define the model of a run, see `course.model_cells`


def find_released(path: Path, cells: Sequence[Cell], course: Path) -> Released:
    """What the notebook at `path` was when it was released. Raises UsageError for a hints.json that is broken.

    `course`: a folder of the course, or one below it. Without any hints.json the copy's own check cells
    are taken as they stand.
    """
    own = {name for cell in cells for name in (cell.grade_id, cell.id) if name}
    for file in _files(path.resolve(), course.resolve()):
        try:
            chapter, known, notebooks = _read(file)
        except UsageError:
            if file.parent == path.resolve().parent:
                raise
            continue  # it may be another chapter's
        # Given cells look alike in many chapters; an exercise and its checks belong to one.
        shared = {
            name: sum(cell.grade_id in own for cell in kept if cell.is_answer or cell.is_check)
            for name, kept in notebooks.items()
        }
        name = max(shared, key=lambda name: shared[name], default="")
        if name and shared[name]:
            others = tuple(other for other in notebooks if other != name)
            model = model_cells(itertools.starmap(SourceNotebook, notebooks.items()))
            return Released(SourceNotebook(name, notebooks[name]), chapter, True, known, others, model)
    unknown = (replace(cell, source="") if _is_answered(cell) else cell for cell in cells if cell.grade_id)
    return Released(SourceNotebook(path.stem, tuple(unknown)), path.resolve().parent.name)


def find_model(folder: Path) -> tuple[str, ...]:
    """The cells that define a run's model, for a notebook that lies in `folder`; none where no release has any."""
    for file in _files(folder.resolve() / HINTS_FILE, Path(__file__).resolve().parent):
        with contextlib.suppress(UsageError):
            _, _, notebooks = _read(file)
            if model := model_cells(itertools.starmap(SourceNotebook, notebooks.items())):
                return model
    return ()


def _files(path: Path, course: Path) -> Iterator[Path]:
    """The hints.json files that may be the notebook's, the likeliest first."""
    found = [path.parent / HINTS_FILE]
    for folder in (course, *course.parents, *path.parents):
        chapters = folder / RELEASE_FOLDER
        found += [chapters / path.parent.name / HINTS_FILE, *sorted(chapters.glob(f"*/{HINTS_FILE}"))]
    yield from (file for file in dict.fromkeys(found) if file.is_file())


def _read(file: Path) -> tuple[str, dict[str, Fingerprints], dict[str, tuple[Cell, ...]]]:
    """The file's chapter, known mistakes by exercise, and cells by notebook. Raises UsageError."""
    try:
        table = json.loads(file.read_text(encoding="utf-8"))
        notebooks = {name: tuple(Cell(**cell) for cell in cells) for name, cells in table["notebooks"].items()}
        return str(table["assignment"]), read_table(table), notebooks
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):  # damaged in whatever way
        raise UsageError(say("check.bad_hints", path=file)) from None


def _is_answered(cell: Cell) -> bool:
    """Where nothing says what the stub was, an answer cell without the stub's error is answered."""
    return cell.is_answer and "raise NotImplementedError()" not in cell.source
