"""Which of a student's files is which notebook of an assignment: renamed, copied, handed in again, misplaced."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from autograder.archives import LeftOut, is_zip
from autograder.collected import Handed, HandedFile
from autograder.course import Assignment
from autograder.notebooks import Unreadable, parse_cells
from autograder.plaintext import listed
from autograder.recognise import Place, Recogniser, bare_name, is_notebook
from autograder.statuses import MISSING, UNGRADED, UNREADABLE, Status
from autograder.words import say

SAME_TIME = 2.0  # seconds: what a zip's clock can tell apart, and in which a student's folder is copied


@dataclass(frozen=True)
class Found:
    """One notebook of one submission: its content, or why there is none."""

    notebook: str
    content: bytes | None = None
    status: Status = MISSING  # of a notebook without content
    message: str = ""  # "" where there is no more to say than that it did not come
    repairs: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


def find_notebooks(
    handed: Handed, assignment: Assignment, graded: Collection[str], recogniser: Recogniser
) -> list[Found]:
    """Each notebook of the assignment in what a student handed in. `graded`: the chapters of this run."""
    return list(_Search(handed, assignment, graded, recogniser).all())


class _Search:
    """The search in one student's files for one assignment."""

    def __init__(self, handed: Handed, assignment: Assignment, graded: Collection[str], recogniser: Recogniser) -> None:
        self._assignment = assignment
        self._recogniser = recogniser
        self._places: dict[HandedFile, Place | None] = {}  # of files that were looked into
        self._own = {bare_name(notebook.name) for notebook in assignment.notebooks}
        files = [file for file in handed.files if file.chapter == assignment.name]
        self._named = [file for file in files if bare_name(file.name) in self._own]
        self._others = [file for file in files if bare_name(file.name) not in self._own]
        # What came in the same download, for another chapter than the one that everybody handed in there.
        self._misplaced = [
            file
            for file in handed.files
            if file.download is not None and not file.in_chapter_folder and file.chapter and file.chapter not in graded
        ]
        self._left_out = [what for chapter, what in handed.left_out if chapter in ("", assignment.name)]

    def all(self) -> Iterator[Found]:
        for notebook in self._assignment.notebooks:
            place = Place(self._assignment.name, notebook.name)
            named = [file for file in self._named if bare_name(file.name) == bare_name(notebook.name)]
            candidates = named or self._nameless(place)
            yield self._read(place, candidates) if candidates else self._absent(place)

    def _nameless(self, place: Place) -> list[HandedFile]:
        """The files that hold the notebook under a name that says nothing: by their cells, or as the only one there."""
        places = [self._place(file) for file in self._others]
        if place in places:
            return [file for file, its in zip(self._others, places, strict=True) if its == place]
        alone = len(self._assignment.notebooks) == len(self._others) == 1
        return self._others if alone and places == [None] else []

    def _place(self, file: HandedFile) -> Place | None:
        if file not in self._places:
            self._places[file] = self._recogniser.by_content(_content(file)) or self._recogniser.by_name(file.name)
        return self._places[file]

    def _absent(self, place: Place) -> Found:
        """No file for it, but perhaps one of another chapter in its place, or one that was left out."""
        left_out = [what for what in self._left_out if self._may_hold(what, place.notebook)]
        message, flags = next((what.sentence for what in left_out), ""), []
        for file in [*self._others, *self._misplaced]:
            its = self._place(file)
            if its and its.chapter != place.chapter:
                flags.append(say("finding.elsewhere", came=file.file.path, place=its, chapter=place.chapter))
                message = say("finding.missing", notebook=place.notebook, came=file.name, place=its)
        closed = next((what.sentence for what in left_out if what.ours), "")
        return Found(place.notebook, None, UNGRADED if closed else MISSING, closed or message, flags=tuple(flags))

    def _may_hold(self, what: LeftOut, notebook: str) -> bool:
        """Whether what was left out may be the notebook, or a folder or zip with the notebook in it."""
        if is_notebook(what.name):
            return bare_name(what.name) not in self._own - {bare_name(notebook)}
        return what.ours or is_zip(what.name) or not PurePath(what.name).suffix

    def _read(self, place: Place, candidates: Sequence[HandedFile]) -> Found:
        """The latest of several files that holds the notebook; where none does, what is wrong with the latest."""
        fault = None
        left = list(candidates)
        while left:
            file = _latest(left, f"{place.notebook}.ipynb")
            left.remove(file)
            found = self._read_one(place, file)
            if found.content is not None and _is_readable(found.content):
                return self._among(place, file, found, candidates)
            if found.status is UNGRADED:  # it may be the one that counts: no older one in its place
                return found
            fault = fault or found
        assert fault is not None  # there is at least one candidate
        return fault

    def _read_one(self, place: Place, file: HandedFile) -> Found:
        try:
            content = file.read()
        except Unreadable as error:
            return Found(place.notebook, None, UNREADABLE, str(error))
        except OSError as error:  # no fault of the learner's
            message = say("finding.no_access", came=file.file.path, reason=error.strerror or error)
            return Found(place.notebook, None, UNGRADED, message)
        its = self._recogniser.by_content(content)
        if its and its != place:
            message = say("finding.missing", notebook=place.notebook, came=file.name, place=its)
            flag = say("finding.elsewhere", came=file.file.path, place=its, chapter=place.chapter)
            return Found(place.notebook, message=message, flags=(flag,))
        expected = f"{place.notebook}.ipynb"
        if file.in_chapter_folder or file.download is not None:
            repairs = (say("intake.renamed", came=file.name, expected=expected),) if file.name != expected else ()
        else:
            repairs = (say("intake.renamed", came="/".join(file.file.parts[1:]), expected=place),)
        return Found(place.notebook, content, repairs=repairs)

    def _among(self, place: Place, file: HandedFile, found: Found, candidates: Sequence[HandedFile]) -> Found:
        """Say that there were others: earlier attempts, or copies that differ."""
        others = [other for other in candidates if other is not file]
        earlier = [other for other in others if other.upload < file.upload]
        if earlier:
            repair = say("finding.attempts", count=len(earlier) + 1, notebook=place.notebook, came=file.file.name)
            return Found(place.notebook, found.content, repairs=(*found.repairs, repair), flags=found.flags)
        code = _code(found.content or b"")
        differing = [other for other in others if _code(_content(other)) != code]
        if not differing:
            return found
        taken = _below(file)
        flag = say("finding.copies", notebook=place.notebook, taken=taken, others=listed([*map(_below, differing)]))
        repair = say("finding.taken", taken=taken)  # the learner does not see flags
        return Found(place.notebook, found.content, repairs=(*found.repairs, repair), flags=(*found.flags, flag))


def _latest(files: Sequence[HandedFile], exact: str) -> HandedFile:
    """The last upload; else the newest file; of those of one time, the one with the exact name, then the last by name."""
    upload = max(file.upload for file in files)
    files = [file for file in files if file.upload == upload]
    newest = max(file.file.modified for file in files)
    files = [file for file in files if newest - file.file.modified <= SAME_TIME]
    return max(files, key=lambda file: (file.name == exact, _natural(file.file.path)))


def _natural(text: str) -> list[tuple[int, str]]:
    """A key that sorts "attempt 10" behind "attempt 9"."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", text)]


def _below(file: HandedFile) -> str:
    """The end of a file's path, enough to find it in the student's folder."""
    return "/".join(file.file.parts[-2:])


def _is_readable(content: bytes) -> bool:
    try:
        parse_cells(content)
    except Unreadable:
        return False
    return True


def _content(file: HandedFile) -> bytes:
    try:
        return file.read()
    except (Unreadable, OSError):
        return b""


def _code(content: bytes) -> object:
    """What two copies are compared by: their code, whatever it printed when it ran."""
    try:
        return [cell.source for cell in parse_cells(content) if cell.kind == "code"]
    except Unreadable:
        return content
