"""Files that are whole or not there, written aside and then swapped in; and copies of what stood there before."""

from __future__ import annotations

import itertools
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path


def write_aside(path: Path, content: str | bytes) -> None:
    """Put `content` at `path` in one step: a reader sees the old file or the new one, never half of one.

    Text is written as UTF-8. An error (a full disk, say) leaves the old file as it was. Nothing is
    forced to the disk: all that is written this way can be made again from the journal.
    """
    data = content.encode() if isinstance(content, str) else content
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.parent / f".new-{os.getpid()}"
    try:
        aside.write_bytes(data)
        aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


def copy_aside(path: Path, now: datetime) -> Path:
    """Copy a file beside itself, under the date in UTC and a name that is still free; returns the copy."""
    stem = f"{path.stem}-{now.astimezone(UTC):%Y-%m-%d-%H%M%S}Z"
    names = (stem if number == 1 else f"{stem}-{number}" for number in itertools.count(1))
    copy = next(copy for name in names if not (copy := path.with_name(f"{name}{path.suffix}")).exists())
    shutil.copy2(path, copy)
    return copy
