"""How often each known mistake came back: what makes the hints of `autograder check` grow.

Between two runs it is kept in the user's own folder for such things, never beside the notebook. It is a
convenience: where it cannot be read or written, hints begin anew and nothing is said.

By hand, because platformdirs would be a third thing for learners to install, for this one path.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.files import write_aside
from autograder.results import ExerciseResult
from autograder.statuses import PASSED

Times = dict[str, dict[str, int]]  # exercise → mistake → how often it was named


@dataclass
class Attempts:
    """The mistakes named so far in one notebook.

    Within one process an answer counts once, however often it is checked: a save that changed another
    answer is no new attempt at this one.
    """

    times: Times = field(default_factory=dict)
    _last: dict[str, tuple[str, str]] = field(default_factory=dict)  # exercise → the mistake and answer counted last

    def before(self, exercise: str, mistake: str, answer: str) -> int:
        """How often the mistake was named before this answer made it."""
        times = self.times.get(exercise, {}).get(mistake, 0)
        return times - 1 if times and self._last.get(exercise) == (mistake, answer) else times

    def record(self, results: Iterable[ExerciseResult]) -> None:
        """Count the mistakes of one check; an exercise that passes is forgotten."""
        for result in results:
            name, mistake = result.exercise, result.misconception
            if result.status == PASSED.name:
                self.times.pop(name, None)
                self._last.pop(name, None)
            elif mistake and self._last.get(name) != (mistake, result.answer):
                of_exercise = self.times.setdefault(name, {})
                of_exercise[mistake] = of_exercise.get(mistake, 0) + 1
                self._last[name] = (mistake, result.answer)


def read_attempts(notebook: Path) -> Attempts:
    """What earlier runs kept of `notebook`."""
    times = _read().get(str(notebook.resolve()), {})
    return Attempts({name: dict(of_exercise) for name, of_exercise in times.items()})


def keep_attempts(notebook: Path, attempts: Attempts) -> None:
    """Keep it for the next run; what belongs to notebooks that are gone is dropped."""
    kept = {path: times for path, times in _read().items() if Path(path).is_file()}
    kept[str(notebook.resolve())] = attempts.times
    with contextlib.suppress(OSError, RuntimeError):
        write_aside(_file(), json.dumps({path: times for path, times in kept.items() if times}, indent=1))


def _read() -> dict[str, Times]:
    try:
        content = json.loads(_file().read_text(encoding="utf-8"))
    except (OSError, RuntimeError, ValueError, RecursionError):
        return {}
    return content if _is_whole(content) else {}


def _is_whole(content: Any) -> bool:
    """Whether the file holds what was written: notebook → exercise → mistake → a number."""
    return _is_mapping(content) and all(
        _is_mapping(times) and all(_is_mapping(one) and all(map(_is_count, one.values())) for one in times.values())
        for times in content.values()
    )


def _is_mapping(value: Any) -> bool:
    return isinstance(value, dict)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and value > 0


def _file() -> Path:
    """Where it is kept. Raises RuntimeError for a user without a home."""
    return _state_folder() / "autograder" / "attempts.json"


def _state_folder() -> Path:
    """The platform's folder for what a program remembers; XDG_STATE_HOME goes before it everywhere."""
    named = Path(os.environ.get("XDG_STATE_HOME", ""))
    if named.is_absolute():  # the specification has a relative one ignored
        return named
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    return Path.home() / ".local" / "state"
