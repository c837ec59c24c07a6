"""The wrong answers people really give, beside each chapter's source: how they are written and read.

`misconceptions.py` in a chapter's folder decorates whole answers with `wrong` or `right`, and gives
the `probe`s on which they tell themselves apart. `load` reads that file; `fingerprints` runs it.
"""

from __future__ import annotations

import ast
import textwrap
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from autograder.course import SourceNotebook
from autograder.errors import UsageError
from autograder.fingerprints import Fingerprints, Mistake, observe_all, outline, shown
from autograder.notebooks import Unreadable, read_cells
from autograder.observations import Observation
from autograder.probes import Probe
from autograder.words import say

MISCONCEPTIONS_FILE = "misconceptions.py"

_MANY = 24  # calls of an answer with draws of its own: two agree by chance, and a release must not hang on it

Answer = TypeVar("Answer", bound=Callable[..., Any])


@dataclass(frozen=True)
class Variant:
    """One whole answer to one exercise, wrong or right."""

    id: str  # its name in misconceptions.py
    exercise: str
    source: str  # under the exercise's name, as it would stand in the answer cell
    sentences: tuple[str, ...] = ()  # for the learner; empty for a right one
    is_right: bool = False
    line: int = 0  # of misconceptions.py


@dataclass(frozen=True)
class Misconceptions:
    """What one chapter's misconceptions.py holds."""

    path: Path
    variants: tuple[Variant, ...] = ()
    probes: dict[str, tuple[Probe, ...]] = field(default_factory=dict)  # by exercise

    def wrong(self, exercise: str = "") -> tuple[Variant, ...]:
        """The wrong answers, of one exercise or of all."""
        return tuple(v for v in self.variants if not v.is_right and exercise in ("", v.exercise))

    def right(self, exercise: str = "") -> tuple[Variant, ...]:
        """The right answers of other styles, of one exercise or of all."""
        return tuple(v for v in self.variants if v.is_right and exercise in ("", v.exercise))


@dataclass
class _Collected:
    """What the decorators of one file said while it ran."""

    variants: dict[str, tuple[str, tuple[str, ...], bool]] = field(default_factory=dict)
    probes: dict[str, list[Probe]] = field(default_factory=dict)


_collecting: ContextVar[_Collected | None] = ContextVar("collecting", default=None)


def wrong(exercise: str, *sentences: str) -> Callable[[Answer], Answer]:
    """Mark a whole wrong answer; the sentences say to the learner what went wrong, ever more explicitly."""
    return _mark(exercise, sentences, is_right=False)


def right(exercise: str) -> Callable[[Answer], Answer]:
    """Mark a whole right answer of another style than the reference."""
    return _mark(exercise, (), is_right=True)


def _mark(exercise: str, sentences: tuple[str, ...], *, is_right: bool) -> Callable[[Answer], Answer]:
    def mark(answer: Answer) -> Answer:
        collected = _collecting.get()
        if collected is not None:
            collected.variants[answer.__name__] = (exercise, sentences, is_right)
        return answer

    return mark


def probe(
    exercise: str,
    *args: Any,
    naming: tuple[Any, ...] = (),
    most: Mapping[str, int] | None = None,
    needed: tuple[str, ...] = (),
    **kwargs: Any,
) -> None:
    """One call of `exercise` on which answers are compared.

    `naming`: what the message of the raised error must name, e.g. `naming=(0,)` for a length of 0.
    `most` and `needed`: what the call may spend, e.g. `most={"largest": 4096}` and `needed=("linear",)`; for
    modules among the arguments also the rows that go through a parameter (see `effort`).
    A PyTorch module is probed by one `ModuleProbe` as the only argument. Raises TypeError for an
    argument that cannot be written as data.
    """
    collected = _collecting.get()
    if collected is not None:
        collected.probes.setdefault(exercise, []).append(Probe.of(args, kwargs, naming, most, needed))


def load(folder: Path) -> Misconceptions:
    """The misconceptions of the chapter in `folder`; none where the file is missing. Raises UsageError."""
    path = folder / MISCONCEPTIONS_FILE
    if not path.is_file():
        return Misconceptions(path)
    text = path.read_text(encoding="utf-8")
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise UsageError(say("variants.syntax", path=path, line=error.lineno, reason=error.msg)) from None
    collected = _run(text, path)
    known = _exercises(folder)
    for exercise in [*collected.probes, *(exercise for exercise, _, _ in collected.variants.values())]:
        if exercise not in known:
            raise UsageError(say("variants.exercise", path=path, exercise=exercise, known=", ".join(known)))
    variants = tuple(
        _variant(node, text, path, *collected.variants[node.name])
        for node in _definitions(tree, path)
        if node.name in collected.variants
    )
    return Misconceptions(path, variants, {name: tuple(probes) for name, probes in collected.probes.items()})


def _run(text: str, path: Path) -> _Collected:
    collected = _Collected()
    token = _collecting.set(collected)
    try:
        exec(compile(text, str(path), "exec"), {"__name__": "misconceptions", "__file__": str(path)})
    except Exception as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        line = lines[-1] if lines else 0
        raise UsageError(
            say("variants.raised", path=path, line=line, error=type(error).__name__, reason=error)
        ) from None
    finally:
        _collecting.reset(token)
    return collected


def _exercises(folder: Path) -> list[str]:
    try:
        return [cell.grade_id for path in sorted(folder.glob("*.ipynb")) for cell in read_cells(path) if cell.is_answer]
    except Unreadable as error:
        raise UsageError(f"{folder}: {error}") from None


_Definition = ast.FunctionDef | ast.ClassDef


def _definitions(tree: ast.Module, path: Path) -> list[_Definition]:
    """The decorated functions and classes at the top level. Raises UsageError where two share a name."""
    found: dict[str, _Definition] = {}
    for node in tree.body:
        if isinstance(node, _Definition) and node.decorator_list:
            if node.name in found:
                lines = f"{found[node.name].lineno}, {node.lineno}"
                raise UsageError(say("variants.twice", path=path, id=node.name, lines=lines))
            found[node.name] = node
    return list(found.values())


def _variant(
    node: _Definition, text: str, path: Path, exercise: str, sentences: tuple[str, ...], is_right: bool
) -> Variant:
    if not is_right and not any(sentence.strip() for sentence in sentences):
        raise UsageError(say("variants.no_sentence", path=path, line=node.lineno, id=node.name))
    return Variant(node.name, exercise, _renamed(node, text, exercise), sentences, is_right, node.lineno)


def _renamed(node: _Definition, text: str, name: str) -> str:
    """The definition's own lines, without decorators, under `name`; its calls of itself follow."""
    lines = [line.encode() for line in text.splitlines()]  # the tree counts columns in bytes
    old, new = node.name.encode(), name.encode()
    start = lines[node.lineno - 1].index(old, len(b"class" if isinstance(node, ast.ClassDef) else b"def"))
    places = {(node.lineno, start)}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and inner.id == node.name:
            places.add((inner.lineno, inner.col_offset))
    for line, column in sorted(places, reverse=True):
        whole = lines[line - 1]
        lines[line - 1] = whole[:column] + new + whole[column + len(old) :]
    return b"\n".join(lines[node.lineno - 1 : node.end_lineno]).decode() + "\n"


def fingerprints(notebook: SourceNotebook, misconceptions: Misconceptions) -> dict[str, Fingerprints]:
    """The fingerprints of each exercise of `notebook` that has known mistakes, from running all its variants.

    Raises UsageError, with a line for each, where a wrong answer cannot be told from the reference or
    from another wrong one, or a right one gives something else than the reference.
    """
    namespace = reference_namespace(notebook)
    found, problems = {}, []
    for exercise in notebook.exercises:
        if not misconceptions.probes.get(exercise.name) and not misconceptions.wrong(exercise.name):
            continue
        seen = _observed(exercise.name, namespace, misconceptions)
        found[exercise.name] = made = _made(exercise.name, seen, misconceptions)
        problems += _problems(exercise.name, seen, made, misconceptions)
    if problems:
        raise UsageError("\n".join(f"{misconceptions.path}: {problem}" for problem in problems))
    return found


def reference_namespace(notebook: SourceNotebook) -> dict[str, Any]:
    """What the given cells and the reference answers define."""
    references = {exercise.name: exercise.reference for exercise in notebook.exercises}
    namespace: dict[str, Any] = {"__name__": "notebook"}
    for cell in notebook.cells:
        if cell.kind != "code" or cell.is_check:
            continue
        source = references[cell.grade_id] if cell.is_answer else cell.source
        try:
            exec(compile(source, cell.grade_id or cell.id, "exec"), namespace)
        except Exception as error:
            where = f"{notebook.name}, {cell.grade_id or cell.id}"
            raise UsageError(say("variants.cell", where=where, error=type(error).__name__, reason=error)) from None
    return namespace


def _observed(exercise: str, namespace: dict[str, Any], known: Misconceptions) -> dict[str, list[Observation]]:
    """What the reference (under "") and each variant (under its id) give on the exercise's probes."""
    probes = known.probes.get(exercise, ())
    try:
        seen = {"": observe_all(namespace[exercise], probes, namespace)}
    except (LookupError, ImportError) as error:  # a probe builds a class that the notebook does not have
        raise UsageError(say("variants.probe", path=known.path, exercise=exercise, reason=error)) from None
    for variant in (*known.right(exercise), *known.wrong(exercise)):
        own = dict(namespace)  # other answers of the notebook stay the reference's
        exec(compile(variant.source, variant.id, "exec"), own)
        found = observe_all(own[exercise], probes, namespace)
        if any("unsteady" in observation for observation in found):
            found = observe_all(own[exercise], probes, namespace, _MANY)
        seen[variant.id] = found
    return seen


def _made(exercise: str, seen: dict[str, list[Observation]], known: Misconceptions) -> Fingerprints:
    right = seen[""]
    outlines = tuple({k: v for k, v in outline(one).items() if k != "warned"} for one in right)
    mistakes = (Mistake(v.id, v.sentences, shown(seen[v.id], right)) for v in known.wrong(exercise))
    return Fingerprints(known.probes.get(exercise, ()), outlines, tuple(mistakes))


def _problems(
    exercise: str, seen: dict[str, list[Observation]], made: Fingerprints, known: Misconceptions
) -> Iterator[str]:
    """What keeps the fingerprints from telling every variant, a sentence each."""
    if not made.probes:
        yield say("variants.no_probe", exercise=exercise)
        return
    for variant in known.right(exercise):
        for number, came in shown(seen[variant.id], seen[""]).items():
            came, wanted = (textwrap.shorten(str(one), 200, placeholder=" …") for one in (came, seen[""][number]))
            yield say(
                "variants.right_differs", id=variant.id, exercise=exercise, probe=number + 1, came=came, wanted=wanted
            )
    for mistake in made.mistakes:
        if not mistake.shows:
            yield say("variants.like_reference", id=mistake.id, exercise=exercise)
            continue
        recognised = made.recognise(seen[mistake.id])
        if recognised is not None and recognised.id != mistake.id:
            yield say("variants.alike", id=mistake.id, other=recognised.id, exercise=exercise)
