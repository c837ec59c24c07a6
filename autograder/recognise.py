"""Which notebook of the course a file is: by its name, else by the cells in it."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from autograder.course import Assignment
from autograder.notebooks import Unreadable, parse_cells

# What browsers and editors put behind the name that they were asked for.
_NOTEBOOK = re.compile(r"\.ipynb(?:\.txt|\.json)?$", re.I)
# `scores (1)`, `scores-Copy1`, `scores - Copy`, and as Windows and macOS say it in Korean.
_COPY = re.compile(r"(?:\s*\(\d+\)|[-_ ]+(?:copy|복사본)\s*\d*)+$")


@dataclass(frozen=True, order=True)
class Place:
    """A notebook of the course."""

    chapter: str
    notebook: str

    def __str__(self) -> str:
        return f"{self.chapter}/{self.notebook}.ipynb"


def is_notebook(name: str) -> bool:
    """Whether a file's name says that it is a notebook."""
    return _NOTEBOOK.search(name) is not None


def bare_name(name: str) -> str:
    """`Scores (1).IPYNB` and `scores-Copy1.ipynb` are copies of `scores`."""
    stem = _NOTEBOOK.sub("", unicodedata.normalize("NFC", name).strip()).strip().lower()
    return _COPY.sub("", stem).strip()


class Recogniser:
    """Knows the names and the cells of all notebooks of some assignments."""

    def __init__(self, assignments: Iterable[Assignment]) -> None:
        self._by_name: dict[str, list[Place]] = defaultdict(list)
        self._by_cell: dict[str, set[Place]] = defaultdict(set)
        for assignment in assignments:
            for notebook in assignment.notebooks:
                place = Place(assignment.name, notebook.name)
                self._by_name[bare_name(notebook.name)].append(place)
                for cell in notebook.cells:
                    if cell.grade_id:
                        self._by_cell[cell.grade_id].add(place)

    def by_name(self, name: str) -> Place | None:
        """The notebook that a file's name says; None where none does, or more than one."""
        places = self._by_name.get(bare_name(name), [])
        return places[0] if len(places) == 1 else None

    def by_content(self, content: bytes) -> Place | None:
        """The notebook that most of a file's cells belong to; None where none does, or more than one."""
        try:
            cells = parse_cells(content)
        except Unreadable:
            return None
        votes: Counter[Place] = Counter()
        for name in {name for cell in cells for name in (cell.grade_id, cell.id) if name}:
            votes.update(self._by_cell.get(name, ()))
        ranked = votes.most_common(2)
        if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
            return None
        return ranked[0][0]
