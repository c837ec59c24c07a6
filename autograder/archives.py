"""The files of a folder or a zip, and of the zips inside: listed safely, read one by one, nothing unpacked.

A zip that a learner packed is hostile until shown otherwise: what has an absolute name or `..` in it,
is a link, or is locked by a password is refused with a sentence, and the rest goes on. Sizes are not
believed: never more of a file is read than the reader asks for.
"""

from __future__ import annotations

import calendar
import errno
import lzma
import os
import re
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import BinaryIO, TypeGuard

from autograder.limits import LIMITS
from autograder.listed_files import ListedFile
from autograder.notebooks import Unreadable
from autograder.open_zips import OpenZips
from autograder.plaintext import one_line
from autograder.recognise import is_notebook
from autograder.words import say

Parts = tuple[str, ...]  # a path below what the teacher named

DEEPEST_ZIP = 4  # a zip in a zip in a zip: more is a trap
DEEPEST_FOLDER = 50
COST_OF_A_ZIP = 1000  # opening one takes as long as looking at so many entries
LONGEST_NAME = 255  # characters: no file system takes more
# What operating systems, file managers and Jupyter leave behind.
_LITTER = re.compile(r"__MACOSX|\..*|Thumbs\.db|desktop\.ini", re.I)
# Those that hold notebooks nobody handed in; any other name with a dot in front may be a student's.
_COPIES = re.compile(r"__MACOSX|\._.*|\.ipynb_checkpoints|\.Trash.*", re.I)
_ABSOLUTE = re.compile(r"/|[A-Za-z]:/")
# zipfile reads a name without a mark of its encoding as cp437. There, B0 to C8 draw boxes, which nobody's
# name does; in cp949 (Windows in Korea) they begin nearly every syllable.
_KOREAN = re.compile(rb"[\xb0-\xc8][\xa1-\xfe]")
# All that zipfile raises for a file that is broken, or made to be.
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
    *(OSError, EOFError, RuntimeError, ValueError, OverflowError, LookupError),
)


@dataclass(frozen=True)
class File:
    """A file that was handed in, wherever it lies."""

    parts: Parts
    modified: float  # seconds since 1970
    size: int  # bytes; in a zip what it says, and no more than that is read of it
    open: Callable[[], BinaryIO] = field(compare=False)

    @property
    def name(self) -> str:
        return self.parts[-1]

    @property
    def path(self) -> str:
        """How messages name it."""
        return show(self.parts)

    def read(self, limit: int) -> bytes:
        """At most `limit` bytes. Raises Unreadable for a part of a zip that is damaged, OSError for a file."""
        try:
            with self.open() as file:
                return file.read(limit)
        except Unreadable:
            raise
        except _BROKEN as error:
            if _is_refusal(error):
                raise
            raise Unreadable(say("archive.damaged", path=self.path)) from None


@dataclass(frozen=True)
class LeftOut:
    """A file, folder or zip that was not looked into, and why."""

    parts: Parts
    sentence: str
    ours: bool = False  # this machine would not read it: no fault of the learner's

    @property
    def name(self) -> str:
        return self.parts[-1]


@dataclass
class Listing:
    """What lies in a folder or a zip."""

    files: list[File] = field(default_factory=list)
    folders: list[Parts] = field(default_factory=list)  # also the empty ones; a zip is one too
    left_out: list[LeftOut] = field(default_factory=list)
    hidden: set[Parts] = field(default_factory=set)  # names with a dot in front, and with what may be notebooks below

    def refuse(self, parts: Parts, key: str, **values: object) -> None:
        self.left_out.append(LeftOut(parts, say(key, path=show(parts), **values)))

    def give_up(self, parts: Parts, error: OSError) -> None:
        """This machine would not read what lies there."""
        sentence = say("archive.closed", path=show(parts), reason=error.strerror or error)
        ours = error.errno != errno.ENAMETOOLONG  # a learner can put folders into folders until no path is long enough
        self.left_out.append(LeftOut(parts, sentence, ours))


def list_files(path: Path) -> Listing:
    """All files below a folder, or in a zip, in the order of their names. Raises OSError, and Unreadable for no zip."""
    listing, opened = Listing(), OpenZips()
    if path.is_dir():
        _list_folder(path, (), listing, opened)
    else:
        try:
            _list_zip(_Zips(ListedFile.at(path.resolve()), opened, of_a_class=True), (), (), listing)
        except _BROKEN as error:
            if _is_refusal(error):
                raise
            raise Unreadable(say("archive.no_zip", path=path)) from None
    listing.files.sort(key=lambda file: file.parts)
    implied = {
        file.parts[:end] for file in listing.files for end in range(1, len(file.parts))
    }  # a zip need not name them
    listing.folders = sorted(implied.union(listing.folders))
    return listing


def show(parts: Parts) -> str:
    """A path as messages name it."""
    return one_line("/".join(parts))


def is_zip(name: str) -> bool:
    return name.lower().endswith(".zip")


def _is_refusal(error: Exception) -> TypeGuard[OSError]:
    """Whether the machine would not read, and the file may be whole. (A broken zip leads to places before its start.)"""
    return isinstance(error, OSError) and error.errno not in (None, errno.EINVAL)


def _list_folder(folder: Path, parts: Parts, listing: Listing, opened: OpenZips) -> None:
    if len(parts) > DEEPEST_FOLDER:
        listing.refuse(parts, "archive.deep")
        return
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        if not parts:  # what the teacher named, and no single student's
            raise
        listing.give_up(parts, error)
        return
    for entry in entries:
        below = (*parts, unicodedata.normalize("NFC", entry.name))
        if _LITTER.fullmatch(entry.name):
            if not _COPIES.fullmatch(entry.name) and _holds_notebooks(entry):
                listing.hidden.add(below)
            continue
        try:
            _list_entry(entry, below, listing, opened)
        except OSError as error:
            listing.give_up(below, error)


def _list_entry(entry: os.DirEntry[str], parts: Parts, listing: Listing, opened: OpenZips) -> None:
    # The teacher may link whole folders of students; what lies deeper came from a learner, and a
    # link of theirs could lead to the solutions, or to somebody else's work.
    if entry.is_symlink() and (len(parts) > 1 or not entry.is_dir()):
        listing.refuse(parts, "archive.link")
    elif entry.is_dir():
        listing.folders.append(parts)
        _list_folder(Path(entry), parts, listing, opened)
    elif not entry.is_file():  # a pipe would be waited for
        listing.refuse(parts, "archive.no_file")
    elif is_zip(entry.name):
        _list_inner_zip(_Zips(ListedFile.at(Path(entry)), opened), (), parts, listing)
    else:
        file = ListedFile.at(Path(entry))
        listing.files.append(File(parts, file.modified, file.size, file.open))


def _holds_notebooks(hidden: os.DirEntry[str], deepest: int = 2) -> bool:
    """Whether `<notebook>` or `<chapter>/<notebook>` may lie there, where that can be read."""
    if not hidden.is_dir(follow_symlinks=False):
        return _may_hold_notebooks(hidden.name)
    try:
        with os.scandir(hidden) as entries:
            return deepest > 0 and any(_holds_notebooks(entry, deepest - 1) for entry in entries)
    except OSError:
        return False


def _may_hold_notebooks(name: str) -> bool:
    return is_notebook(name) or is_zip(name)


class _Zips:
    """A zip and the zips inside it."""

    def __init__(self, file: ListedFile, opened: OpenZips, *, of_a_class: bool = False) -> None:
        self._file = file
        self._opened = opened
        self._of_a_class = of_a_class
        self._spent: Counter[tuple[int, ...]] = Counter()

    def may_list(self, numbers: tuple[int, ...], entries: int) -> bool:
        """Whether so many more entries of the zip `numbers` may be looked at.

        One learner has so many in all, zips inside zips included; in the zip of a class each inner one has.
        """
        budget = numbers[:1] if self._of_a_class else ()
        self._spent[budget] += entries
        return self._spent[budget] <= LIMITS.zip_entries

    def entries(self, numbers: tuple[int, ...]) -> list[zipfile.ZipInfo]:
        return self._opened.get(self._file, numbers).infolist()

    def open(self, numbers: tuple[int, ...]) -> BinaryIO:
        return self._opened.entry(self._file, numbers)


def _list_inner_zip(zips: _Zips, numbers: tuple[int, ...], parts: Parts, listing: Listing) -> None:
    """As `_list_zip`, for one that a learner packed: where it is broken, that is said, and the rest goes on."""
    listing.folders.append(parts)
    if len(numbers) >= DEEPEST_ZIP:
        listing.refuse(parts, "archive.deep")
        return
    if not zips.may_list(numbers, COST_OF_A_ZIP):
        listing.refuse(parts, "archive.entries", limit=LIMITS.zip_entries)
        return
    try:
        _list_zip(zips, numbers, parts, listing)
    except _BROKEN as error:
        if _is_refusal(error):
            listing.give_up(parts, error)
        else:
            listing.refuse(parts, "archive.broken", limit=LIMITS.inner_zip_bytes >> 20)


def _list_zip(zips: _Zips, numbers: tuple[int, ...], parts: Parts, listing: Listing) -> None:
    entries = zips.entries(numbers)
    if not zips.may_list(numbers, len(entries)):
        listing.refuse(parts, "archive.entries", limit=LIMITS.zip_entries)
        return
    for number, (entry, name) in enumerate(zip(entries, _names(entries), strict=True)):
        names = tuple(unicodedata.normalize("NFC", part) for part in name.split("/") if part not in ("", "."))
        below = (*parts, *names)
        litter = [place for place, part in enumerate(names) if part != ".." and _LITTER.fullmatch(part)]
        if litter and not any(map(_COPIES.fullmatch, names)) and _may_hold_notebooks(names[-1]):
            listing.hidden.add((*parts, *names[: litter[0] + 1]))
        if litter or not names:
            continue
        if _ABSOLUTE.match(name) or ".." in names:
            listing.refuse(below, "archive.unsafe")
        elif len(max(names, key=len)) > LONGEST_NAME:
            listing.refuse((*parts, names[-1][:40] + "…"), "archive.long")
        elif stat.S_ISLNK(entry.external_attr >> 16):
            listing.refuse(below, "archive.link")
        elif name.endswith("/"):
            listing.folders.append(below)
        elif entry.flag_bits & 1:
            listing.refuse(below, "archive.locked")
        elif is_zip(name):
            _list_inner_zip(zips, (*numbers, number), below, listing)
        else:
            opened = partial(zips.open, (*numbers, number))
            listing.files.append(File(below, _seconds(entry), entry.file_size, opened))


def _names(entries: list[zipfile.ZipInfo]) -> Iterator[str]:
    """The entries' names as they were meant; one program packed them all, in one encoding."""
    unmarked = [entry.orig_filename for entry in entries if not entry.flag_bits & 0x800]
    encoding = _encoding([name.encode("cp437") for name in unmarked])
    for entry in entries:
        name = entry.orig_filename.split("\0")[0]
        if not entry.flag_bits & 0x800 and encoding != "cp437":
            name = name.encode("cp437").decode(encoding)
        yield name.replace("\\", "/")  # some programs on Windows write it so


def _encoding(names: list[bytes]) -> str:
    for encoding in ("utf-8", "cp949"):  # macOS writes UTF-8 and does not say so
        if encoding == "cp949" and not any(map(_KOREAN.search, names)):
            continue
        try:
            for name in names:
                name.decode(encoding)
        except UnicodeDecodeError:
            continue
        return encoding
    return "cp437"


def _seconds(entry: zipfile.ZipInfo) -> float:
    """A zip keeps the clock of whoever packed it, without a zone: good for telling older from newer in one zip."""
    try:
        return float(calendar.timegm((*entry.date_time, 0, 0, 0)))
    except (ValueError, OverflowError):  # a month 0, as broken programs write it
        return 0.0
