"""What a teacher collected, sorted by student: out of a folder, a zip, or a download of Moodle or Canvas.

Plain folders are `<student>/<chapter>/<notebook>.ipynb`, or `<chapter>/<student>/<notebook>.ipynb`; how downloads
name their files is in `downloads`. Each of them may come packed, or inside another folder.
"""

from __future__ import annotations

import contextlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder.archives import File, LeftOut, Listing, Parts, is_zip, list_files, show
from autograder.downloads import read_name
from autograder.errors import UsageError
from autograder.limits import LIMITS
from autograder.notebooks import Unreadable
from autograder.plaintext import listed
from autograder.recognise import Recogniser, bare_name, is_notebook
from autograder.run_files import run_file_name
from autograder.times import STAMP_BYTES, TIMESTAMP_FILE, Stamp
from autograder.words import say


@dataclass(frozen=True)
class HandedFile:
    """A file of one student."""

    file: File
    name: str  # as the student named it
    chapter: str = ""  # the folder's that it lies in, else the one that it was recognised as; "" for neither
    in_chapter_folder: bool = False
    download: Parts | None = None  # the Moodle or Canvas download that it came in
    upload: int = 0  # a later one has a larger number

    def read(self) -> bytes:
        """Its bytes; of one that is larger than a notebook may be, enough to see that it is."""
        return self.file.read(LIMITS.notebook_bytes + 1)


@dataclass(frozen=True)
class Handed:
    """All that one student handed in."""

    student: str
    keys: tuple[str, ...] = ()  # what a roster may know the student by, the surest first
    files: tuple[HandedFile, ...] = ()
    flags: tuple[str, ...] = ()  # what a teacher should look at, one sentence each
    run_files: tuple[HandedFile, ...] = ()  # of trained models, see `run_files`
    left_out: tuple[tuple[str, LeftOut], ...] = ()  # (chapter, what); "" where it lies in no chapter's folder
    stamps: tuple[tuple[str, File], ...] = ()  # (chapter, timestamp.txt); none of a learner's own zip or download

    def stamp(self, chapter: str) -> Stamp:
        """What a chapter's submission itself tells of its time."""
        text = None
        for name, file in self.stamps:
            if name == chapter:
                with contextlib.suppress(Unreadable, OSError):
                    text = file.read(STAMP_BYTES).decode(errors="replace")
        times = [file.file.modified for file in self.files if file.chapter == chapter]
        return Stamp(text, max(times, default=None))


@dataclass(frozen=True)
class Collected:
    """All that a teacher collected."""

    students: Mapping[str, Handed]
    notices: tuple[str, ...] = ()  # about files that are nobody's, one sentence each

    def stamp(self, student: str, chapter: str) -> Stamp:
        """What a submission itself tells of its time; nothing where there is none."""
        handed = self.students.get(student)
        return handed.stamp(chapter) if handed else Stamp()

    def chapters(self) -> set[str]:
        """The chapters that were handed in.

        A download of Moodle or Canvas is one assignment's: of what lies in no chapter's folder there, it is
        the chapter that most of its students handed in.
        """
        found = {f.chapter for f in self._files() if f.chapter and (f.in_chapter_folder or f.download is None)}
        found |= {file.chapter for handed in self.students.values() for file in handed.run_files if file.chapter}
        votes: dict[Parts, Counter[str]] = defaultdict(Counter)
        for handed in self.students.values():
            loose = {(f.download, f.chapter) for f in handed.files if f.download is not None and f.chapter}
            for download, chapter in loose:
                votes[download][chapter] += 1
        return found | {max(sorted(counts), key=counts.__getitem__) for counts in votes.values()}

    def _files(self) -> list[HandedFile]:
        return [file for handed in self.students.values() for file in handed.files]


@dataclass
class _Owned:
    """A student's things while they are being sorted."""

    keys: tuple[str, ...]
    files: list[HandedFile] = field(default_factory=list)
    bytes: int = 0  # of these files
    run_files: list[HandedFile] = field(default_factory=list)
    left_out: list[tuple[str, LeftOut]] = field(default_factory=list)
    stamps: list[tuple[str, File]] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Owner:
    """Whose a path is, by its names alone."""

    student: str
    keys: tuple[str, ...]
    start: int  # where in the path the student's own part begins
    name: str  # the file's, as the student named it
    download: Parts | None = None
    upload: int = 0


def collect(path: Path, chapters: Collection[str], recogniser: Recogniser) -> Collected:
    """Sort what lies at `path` by student. Raises UsageError where there is nothing to sort."""
    if not path.is_dir() and not path.is_file():
        raise UsageError(say("grade.no_folder", folder=path))
    try:
        listing = list_files(path)
    except OSError as error:
        raise UsageError(say("archive.unreadable", path=error.filename or path, reason=error.strerror)) from None
    except Unreadable as error:
        raise UsageError(str(error)) from None
    if not listing.files and not listing.folders and not listing.left_out:
        raise UsageError(say("grade.no_students", folder=path))
    return _Sorter(listing, path.is_file(), chapters, recogniser).sorted()


class _Sorter:
    """Sorts one listing."""

    def __init__(self, listing: Listing, packed: bool, chapters: Collection[str], recogniser: Recogniser) -> None:
        self._listing = listing
        self._packed = packed
        self._chapters = {chapter.lower(): chapter for chapter in chapters}
        self._recogniser = recogniser
        self._contents: dict[Parts, set[tuple[str, bool]]] = defaultdict(set)  # folder -> (name, is a folder)
        for folder in listing.folders:
            self._contents[folder[:-1]].add((folder[-1], True))
        for file in listing.files:
            self._contents[file.parts[:-1]].add((file.name, False))
        self._wrappers = self._find_wrappers()
        self._owned: dict[str, _Owned] = {}

    def sorted(self) -> Collected:
        """Raises UsageError where a part of the class could not be read."""
        notices, nobodys = [], []
        for folder in self._listing.folders:
            owner = self._owner((*folder, ""))
            if owner and owner.start <= len(folder):
                owned = self._of(owner)  # also who handed in nothing has a folder
                if is_notebook(folder[-1]) and owner.start < len(folder):
                    what = LeftOut(folder, say("collected.folder", path=show(folder)))
                    owned.left_out.append((self._chapter_around(folder), what))
        for file in self._listing.files:
            owner = self._owner(file.parts)
            if owner:
                self._add(owner, file)
            elif is_notebook(file.name):
                nobodys.append(file.path)
        self._flag_other_folders()
        folders = set(self._listing.folders)
        for what in self._listing.left_out:
            owner = self._owner((*what.parts, "") if what.parts in folders else what.parts)
            if owner:
                self._of(owner).flags.append(what.sentence)
                self._of(owner).left_out.append((self._chapter_around(what.parts), what))
            elif what.ours and what.parts in folders:  # of a class, or a part of one: nobody there gets a zero
                raise UsageError(what.sentence)
            else:
                notices.append(what.sentence)
        students = {
            student: Handed(
                student,
                owned.keys,
                tuple(owned.files),
                _some(owned.flags),
                tuple(owned.run_files),
                tuple(owned.left_out),
                tuple(owned.stamps),
            )
            for student, owned in sorted(self._owned.items())
        }
        for parts in sorted(self._listing.hidden):
            owner = self._owner((*parts, ""))
            if owner and owner.start == len(parts):  # it would be a student's; in a student's own work it is litter
                notices.append(say("collected.hidden", path=show(parts)))
        if nobodys:
            notices.append(say("collected.nobody", paths=listed(nobodys)))
        return Collected(students, _some(notices))

    def _flag_other_folders(self) -> None:
        """A plain student's folders that are no chapter's, and of which no notebook is known either."""
        for folder in self._listing.folders:
            owner = self._owner((*folder, ""))
            if not owner or owner.download is not None or owner.start != len(folder) - 1 or is_zip(folder[-1]):
                continue
            files = [f for f in self._owned[owner.student].files if f.file.parts[: len(folder)] == folder]
            if not any(map(self._chapter, folder)) and not any(file.chapter for file in files):
                self._of(owner).flags.append(say("collected.no_chapter", folder=folder[-1]))

    # Whose something is

    def _find_wrappers(self) -> set[Parts]:
        """The folders and zips around a whole class, which are no student's."""
        wrappers: set[Parts] = set()
        level: Parts = ()
        while len(self._contents[level]) == 1:
            ((name, _),) = self._contents[level]
            level = (*level, name)
            # Somebody packed the class as one folder; but unpacked, a folder with one thing in it may be a student.
            if not self._holds_class(level, at_least=1 if self._packed or is_zip(name) else 2):
                break
            wrappers.add(level)
        else:
            tops = [(*level, name) for name, is_folder in self._contents[level] if is_folder]
            wrappers |= {top for top in tops if self._is_download(top)}
            wrappers |= {top for top in tops if is_zip(top[-1]) and self._holds_students(top, at_least=2)}
        return wrappers

    def _holds_class(self, folder: Parts, at_least: int) -> bool:
        """Whether students lie in a folder that nothing lies beside."""
        chapters = [(*folder, name) for name in self._folders(folder) if self._chapter(name)]
        if chapters and not any(map(self._holds_notebooks, (folder, *chapters))):
            return any(len(self._folders(chapter)) > 1 for chapter in chapters)  # `<chapter>/<student>/…`
        return self._is_download(folder) or self._holds_students(folder, at_least)

    def _holds_students(self, folder: Parts, at_least: int) -> bool:
        """Whether folders lie in it that can be students', and nothing that a single student would hand in."""
        names = [folder[-1], *self._folders(folder)]
        if any(map(self._chapter, names)) or read_name(folder[-1]) or self._holds_notebooks(folder):
            return False
        return len(self._folders(folder)) >= at_least

    def _folders(self, folder: Parts) -> list[str]:
        return [name for name, is_folder in self._contents[folder] if is_folder]

    def _holds_notebooks(self, folder: Parts) -> bool:
        return any(is_notebook(name) for name, is_folder in self._contents[folder] if not is_folder)

    def _is_download(self, folder: Parts) -> bool:
        """Whether it is a download: everything in it bears a student's name, and there are several."""
        named = [read_name(name) for name, is_folder in self._contents[folder] if is_folder or is_notebook(name)]
        return all(named) and len({one.student for one in named if one}) > 1

    def _owner(self, parts: Parts) -> _Owner | None:
        """The student of a path whose last part is a file's name."""
        *folders, last = parts
        for position, part in enumerate(folders):
            # Moodle names folders and files so, Canvas files alone: a folder could be a student's own `week_3_10_work`.
            named = read_name(part)
            if named and (not named.upload or is_zip(part)):
                return _Owner(named.student, named.keys, position + 1, last, parts[:position], named.upload)
            if parts[: position + 1] not in self._wrappers and not self._chapter(part):
                student = part[:-4].strip() or part if is_zip(part) else part
                return _Owner(student, (student,), position + 1, last)
        named = read_name(last)
        if named and named.name:
            return _Owner(named.student, named.keys, len(parts), named.name, tuple(folders), named.upload)
        return None

    def _of(self, owner: _Owner) -> _Owned:
        return self._owned.setdefault(owner.student, _Owned(owner.keys))

    # What something is

    def _chapter(self, name: str) -> str:
        """The chapter that a folder's or a zip's name is; "" for none."""
        return self._chapters.get(bare_name(name[:-4] if is_zip(name) else name), "")

    def _chapter_around(self, parts: Parts) -> str:
        """The innermost chapter that one of the names is; "" for none."""
        return next(filter(None, map(self._chapter, reversed(parts))), "")

    def _add(self, owner: _Owner, file: File) -> None:
        owned = self._of(owner)
        if owner.name == TIMESTAMP_FILE and owner.download is None and not any(map(is_zip, file.parts[owner.start :])):
            owned.stamps += [(chapter, file) for part in file.parts[-2:-1] if (chapter := self._chapter(part))]
        chapter = self._chapter_around(file.parts[:-1])
        handed = HandedFile(file, owner.name, chapter, bool(chapter), owner.download, owner.upload)
        if run_file_name(owner.name) and len(owned.run_files) < LIMITS.notebooks:
            owned.run_files.append(handed)
        if not is_notebook(owner.name):
            return
        size = min(file.size, LIMITS.notebook_bytes + 1)  # so much is read of it
        if over := _over(owned, size):
            owned.flags.append(over)
            if len(owned.left_out) < LIMITS.notebooks:
                owned.left_out.append((chapter, LeftOut(file.parts, over)))
            return
        owned.bytes += size
        owned.files.append(handed if chapter else replace(handed, chapter=self._chapter_of_content(handed)))

    def _chapter_of_content(self, handed: HandedFile) -> str:
        """The chapter of a notebook that lies in no chapter's folder; "" where it is none of the course."""
        place = self._recogniser.by_name(handed.name)
        if place is None:
            with contextlib.suppress(Unreadable, OSError):
                place = self._recogniser.by_content(handed.read())
        return place.chapter if place else ""


def _over(owned: _Owned, size: int) -> str:
    """Which limit a further notebook of a student would pass; "" for none."""
    if len(owned.files) >= LIMITS.notebooks:
        return say("collected.many", limit=LIMITS.notebooks)
    if owned.bytes + size > LIMITS.notebooks_bytes:
        return say("collected.large", limit=LIMITS.notebooks_bytes >> 20)
    return ""


def _some(sentences: Iterable[str], shown: int = 20) -> tuple[str, ...]:
    """Each sentence once, and not a thousand of them: a zip can be full of what is refused."""
    once = list(dict.fromkeys(sentences))
    more = [say("collected.more_flags", count=len(once) - shown)] if len(once) > shown else []
    return (*once[:shown], *more)
