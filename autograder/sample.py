"""A class of made-up submissions: right and wrong, tidy and not, as a real class hands them in.

Made from the released exercises, the reference answers and `misconceptions.py`. The same number of
students and the same seed give the same files. What each student answered is returned, so that a test
can ask the grader for it.
"""

from __future__ import annotations

import ast
import json
import random
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autograder import habits
from autograder.course import RELEASE_FOLDER, Assignment, Course, Exercise
from autograder.errors import UsageError
from autograder.misconceptions import Misconceptions, load
from autograder.release import make
from autograder.words import say

RIGHT, WRONG, UNANSWERED, ERROR, MISSING, UNREADABLE = "right", "wrong", "unanswered", "error", "missing", "unreadable"

_MISSING, _UNREADABLE = 0.05, 0.03  # shares of the files: not handed in, or the upload broke off
_STUDENT = re.compile(r"s\d+-[a-z]+-[a-z]+")  # the only folders that a sample may replace
# Given and family names that are common, each pair picked by chance: nobody in particular.
_GIVEN = (
    *("minji", "seojun", "haeun", "jiho", "yuna", "doyun", "sora", "hyunwoo", "nari", "taeyang"),
    *("anna", "ben", "clara", "daniel", "emma", "felix", "grace", "henry", "ivy", "lena"),
)
_FAMILY = (
    *("kim", "lee", "park", "choi", "jung", "kang", "cho", "yoon", "lim", "shin"),
    *("baker", "carter", "ellis", "foster", "green", "hughes", "morgan", "parker", "reed", "turner"),
)


@dataclass(frozen=True)
class SampleAnswer:
    """What one student did with one exercise, and so what a grader should find."""

    student: str
    assignment: str
    notebook: str
    exercise: str
    kind: str  # right, wrong, unanswered, error, missing or unreadable
    variant: str = ""  # the id in misconceptions.py; "" for the reference and for what is no variant
    held_back_by: tuple[str, ...] = ()  # exercises that it calls, through others too, and that are not right


@dataclass(frozen=True)
class _Chapter:
    """What a chapter's submissions are made of."""

    assignment: Assignment
    misconceptions: Misconceptions
    released: dict[str, dict[str, Any]]  # notebook name → released notebook


def make_sample(
    course: Course, folder: Path, students: int, seed: int, chapters: Sequence[str] | None = None
) -> list[SampleAnswer]:
    """Write `<student>/<chapter>/<notebook>.ipynb` for a class into `folder`; what each student did.

    A sample that is there already is replaced. Raises UsageError for a folder that holds anything
    else, and for fewer than one student.
    """
    if students < 1:
        raise UsageError(say("sample.students", students=students))
    _empty(folder)
    material = [_material(course, chapter) for chapter in chapters or course.chapters]
    answers = []
    for number in range(1, students + 1):
        # A student's work hangs on the seed and the number alone, whatever the size of the class.
        student = _name(random.Random(f"{seed}-{number}-name"), number, students)
        (folder / student).mkdir(parents=True)
        for chapter in material:
            chance = random.Random(f"{seed}-{number}-{chapter.assignment.name}")
            answers += _hand_in(folder / student, student, chapter, chance)
    return answers


def answered(released: dict[str, Any], answers: dict[str, str]) -> bytes:
    """The released notebook with `answers` (source by exercise) in its answer cells, as a file's bytes.

    Raises KeyError for an exercise that the notebook does not have.
    """
    notebook = json.loads(json.dumps(released))
    cells = {cell["metadata"].get("nbgrader", {}).get("grade_id"): cell for cell in notebook["cells"]}
    for exercise, source in answers.items():
        cells[exercise]["source"] = source.splitlines(keepends=True)
    return file_bytes(notebook)


def file_bytes(notebook: dict[str, Any]) -> bytes:
    """A notebook as Jupyter writes it."""
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()


def _empty(folder: Path) -> None:
    if not folder.exists():
        return
    if not folder.is_dir() or any(not _STUDENT.fullmatch(path.name) for path in folder.iterdir()):
        raise UsageError(say("sample.not_empty", folder=folder))
    for path in folder.iterdir():
        shutil.rmtree(path)


def _material(course: Course, name: str) -> _Chapter:
    assignment = course.assignment(name)
    folder = course.root / RELEASE_FOLDER / name
    files = [f"{notebook.name}.ipynb" for notebook in assignment.notebooks]
    if all((folder / file).is_file() for file in files):
        contents = {file: (folder / file).read_bytes() for file in files}
    else:
        contents = {file: content for file, content in make(assignment).items() if file in files}
    released = {file.removesuffix(".ipynb"): json.loads(content) for file, content in contents.items()}
    return _Chapter(assignment, load(assignment.folder), released)


def _name(chance: random.Random, number: int, students: int) -> str:
    width = max(2, len(str(students)))
    return f"s{number:0{width}}-{chance.choice(_GIVEN)}-{chance.choice(_FAMILY)}"


def _hand_in(folder: Path, student: str, chapter: _Chapter, chance: random.Random) -> list[SampleAnswer]:
    """One student's work on one chapter, written down."""
    ability = chance.betavariate(6, 1.6)  # most get most of it right
    done = []
    for notebook in chapter.assignment.notebooks:
        fate = chance.random()  # of the file as a whole
        answers, sources = [], {}
        for exercise in notebook.exercises:
            kind, variant, source = _answer(exercise, chapter.misconceptions, ability, chance)
            if fate < _MISSING + _UNREADABLE:
                kind, variant = MISSING if fate < _MISSING else UNREADABLE, ""
            sources[exercise.name] = source
            answers.append(SampleAnswer(student, chapter.assignment.name, notebook.name, exercise.name, kind, variant))
        done += _held_back(answers, sources)
        if fate < _MISSING:
            continue
        file = json.loads(answered(chapter.released[notebook.name], sources))
        wrong = {answer.exercise: answer.kind for answer in answers if answer.kind != RIGHT}
        name = habits.work_in(file, wrong, chance, notebook.name)
        content = file_bytes(file)
        path = folder / chapter.assignment.name / name
        path.parent.mkdir(parents=True, exist_ok=True)
        broke_off = fate < _MISSING + _UNREADABLE
        path.write_bytes(content[: len(content) // 2] if broke_off else content)
    return done


def _held_back(answers: list[SampleAnswer], sources: dict[str, str]) -> list[SampleAnswer]:
    """The answers, each with the exercises that keep it from passing though it may be right itself."""
    wrong = {answer.exercise for answer in answers if answer.kind != RIGHT}
    calls = {name: _names(source) & set(sources) - {name} for name, source in sources.items()}
    held = []
    for answer in answers:
        reached: set[str] = set()
        ahead = set(calls[answer.exercise])
        while ahead:
            reached |= ahead
            ahead = set().union(*(calls[name] for name in ahead)) - reached
        held.append(replace(answer, held_back_by=tuple(sorted(reached & wrong - {answer.exercise}))))
    return held


def _names(source: str) -> set[str]:
    try:
        return {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
    except SyntaxError:
        return set()


def _answer(
    exercise: Exercise, misconceptions: Misconceptions, ability: float, chance: random.Random
) -> tuple[str, str, str]:
    """(kind, variant, source) of one student's answer to one exercise."""
    if chance.random() < ability:
        right = misconceptions.right(exercise.name)
        pick = chance.randrange(len(right) + 2)  # the reference's own way is the most common
        return (RIGHT, right[pick].id, right[pick].source) if pick < len(right) else (RIGHT, "", exercise.reference)
    wrong = misconceptions.wrong(exercise.name)
    fate = chance.random()
    if wrong and fate < 0.7:
        variant = chance.choice(wrong)
        return WRONG, variant.id, variant.source
    if fate < 0.82:
        return UNANSWERED, "", exercise.stub
    if fate < 0.91:
        return ERROR, "", habits.without_a_colon(exercise.reference)
    return ERROR, "", habits.with_a_misspelt_name(exercise.stub)
