"""Files that are whole or not there: written aside, then swapped in."""

from __future__ import annotations

import os
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
