"""The files of a trained model that come beside a notebook: which they are, and no more of them than their limits.

A run is one folder with these three files, wherever it lies in what a learner handed in.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from autograder.limits import LIMITS
from autograder.notebooks import Unreadable
from autograder.plaintext import listed, one_line
from autograder.recognise import bare_name
from autograder.statuses import FAILED, MISSING, UNGRADED, Status
from autograder.words import say

if TYPE_CHECKING:
    from autograder.collected import Handed, HandedFile

WEIGHTS, CONFIG, METRICS = "model.safetensors", "config.json", "metrics.jsonl"
NAMES = (WEIGHTS, CONFIG, METRICS)
FOLDER = "run"  # beside the notebook, where the course's own program writes them


@dataclass(frozen=True)
class RunFiles:
    """A run's files, or why it cannot be looked at."""

    files: tuple[tuple[str, bytes], ...] = ()  # (name, content); all three, or none
    fault: str = ""
    status: Status = MISSING  # of a run with a fault
    repairs: tuple[str, ...] = ()


def run_file_name(name: str) -> str:
    """Which of a run's files one is by its name, also where it is a copy (`model (1).safetensors`); "" for none."""
    path = PurePath(name)
    found = f"{bare_name(path.stem)}{path.suffix.lower()}"
    return found if found in NAMES else ""


def run_of(handed: Handed, chapter: str) -> RunFiles:
    """The run that a student handed in for a chapter: of several the most complete, then the newest."""
    folders: dict[tuple[str, ...], dict[str, HandedFile]] = defaultdict(dict)
    for file in sorted(handed.run_files, key=lambda file: (file.upload, file.file.modified)):
        if file.chapter in ("", chapter):
            folders[file.file.parts[:-1]][run_file_name(file.name)] = file
    closed = [what.sentence for its, what in handed.left_out if what.ours and its in ("", chapter)]
    if closed and all(len(found) < len(NAMES) for found in folders.values()):
        return RunFiles(fault=closed[0], status=UNGRADED)
    refused = [what.sentence for _, what in handed.left_out if run_file_name(what.name)]
    if not folders:
        return RunFiles(fault=refused[0], status=FAILED) if refused else RunFiles(fault=say("run.none"))
    newest = {folder: max(file.file.modified for file in found.values()) for folder, found in folders.items()}
    taken = max(folders, key=lambda folder: (len(folders[folder]), newest[folder], folder))
    found = folders[taken]
    where = one_line("/".join(taken[1:])) or one_line("/".join(taken))
    repairs = (say("run.taken", count=len(folders), taken=where),) if len(folders) > 1 else ()
    contents = {}
    for name, file in found.items():
        try:
            contents[name] = file.file.read(LIMITS.run_bytes[name] + 1)
        except Unreadable as error:
            return RunFiles(fault=str(error), status=FAILED)
        except OSError as error:  # no fault of the learner's
            reason = say("finding.no_access", came=file.file.path, reason=error.strerror or error)
            return RunFiles(fault=reason, status=UNGRADED)
    return _whole(contents, refused, repairs)


def run_beside(folder: Path) -> RunFiles:
    """A learner's own run: in `run/` beside the notebook that lies in `folder`, or in `folder` itself."""
    places = [place for place in (folder / FOLDER, folder) if any((place / name).is_file() for name in NAMES)]
    if not places:
        return RunFiles(fault=say("run.none_here", folder=folder / FOLDER))
    contents = {}
    for name in NAMES:
        path = places[0] / name
        if path.is_file():
            with path.open("rb") as file:
                contents[name] = file.read(LIMITS.run_bytes[name] + 1)
    return _whole(contents, [], ())


def _whole(contents: dict[str, bytes], refused: Iterable[str], repairs: tuple[str, ...]) -> RunFiles:
    for name, content in contents.items():
        if len(content) > LIMITS.run_bytes[name]:
            return RunFiles(
                fault=say("run.large", name=name, limit=f"{LIMITS.run_bytes[name] / 2**20:g}"), status=FAILED
            )
    missing = [name for name in NAMES if name not in contents]
    if missing:
        return RunFiles(fault=" ".join([say("run.incomplete", names=listed(missing)), *refused]), status=FAILED)
    return RunFiles(tuple((name, contents[name]) for name in NAMES), repairs=repairs)
