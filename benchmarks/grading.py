"""How fast a class is graded: ours against stock nbgrader, in one run on one machine.

    python benchmarks/grading.py                       200 submissions of chapter 2, both graders
    python benchmarks/grading.py --chapter 06_multi_head
    python benchmarks/grading.py --grow 500 1000 2000  ours alone, classes of these sizes

Prints Markdown, ready for benchmarks/README.md. The class is made up (`autograder sample`) and holds
readable notebooks alone, right and wrong, with what people's editors leave in them. Both must give the
same score to every answer, or the run ends with what differs; left out are notebooks that lost
nbgrader's metadata on their way, to which nbgrader gives nothing whatever they hold. Nothing is written
outside a temporary folder.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import importlib.metadata
import itertools
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from autograder import link, submission
from autograder.collected import collect
from autograder.course import Course
from autograder.examiner import Examination
from autograder.hints import read_table
from autograder.notebooks import Unreadable, read_cells
from autograder.recognise import Recogniser
from autograder.sample import make_sample
from autograder.sandbox import find_sandbox
from autograder.warm import WarmServers

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONUTF8": "1"}
ENVIRONMENT["PATH"] = f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}"


def main() -> None:
    options = arguments()
    course = Course(ROOT)
    with tempfile.TemporaryDirectory(prefix="grading-") as folder:
        if options.grow:
            grow(course, Path(folder), options.chapter, options.grow)
        else:
            compare(course, Path(folder), options)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chapter", default="02_weighted_sums", help="which chapter (default: %(default)s)")
    parser.add_argument("--students", type=int, default=200, help="size of the class (default: %(default)s)")
    parser.add_argument(
        "--alone", type=int, default=20, help="how many to give nbgrader one command each (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--grow", type=int, nargs="+", metavar="N", help="grade classes of these sizes, ours alone")
    return parser.parse_args()


# ---- the class


def make_class(course: Course, folder: Path, chapter: str, students: int, seed: int) -> Path:
    """`students` people with readable notebooks."""
    made = folder / "made"
    make_sample(course, made, 2 * students, seed, [chapter])
    submitted = folder / "submitted"
    submitted.mkdir()
    names = [notebook.name for notebook in course.assignment(chapter).notebooks]
    readable = (s for s in sorted(made.iterdir()) if all(is_readable(s / chapter / f"{name}.ipynb") for name in names))
    for student in itertools.islice(readable, students):
        student.rename(submitted / student.name)
    return submitted


def is_readable(path: Path) -> bool:
    try:
        return path.is_file() and bool(read_cells(path))
    except Unreadable:
        return False


# ---- the two graders


def grade_with_ours(submitted: Path, out: Path, chapter: str) -> tuple[float, int]:
    """Seconds for everything, from the command to the report, and the memory of the largest worker in bytes."""
    command = [sys.executable, "-m", "autograder", "--course", str(ROOT), "grade", str(submitted)]
    command += ["--assignment", chapter, "--out", str(out)]
    began = time.monotonic()
    running = subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with watched_memory(running.pid) as largest:
        if running.wait() != 0:
            raise SystemExit(f"{' '.join(command)} ended with {running.returncode}")
    return time.monotonic() - began, largest()


@contextmanager
def watched_memory(pid: int) -> Iterator[Callable[[], int]]:
    """The most memory, in bytes, that one child of `pid` held at any time with all that it started itself.

    Shared pages count in part (the kernel's proportional set size).
    """
    seen = [0]
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(0.5):
            seen.append(max((sum(map(memory, family(child))) for child in children(pid)), default=0))

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    yield lambda: max(seen)
    ended.set()
    thread.join()


def children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def family(pid: int) -> list[int]:
    return [pid, *(member for child in children(pid) for member in family(child))]


def memory(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:")), 0)


def prepare_nbgrader(submitted: Path, folder: Path, chapter: str, students: list[str]) -> Path:
    """A course folder of nbgrader's with the chapter generated and these students' work handed in."""
    home = folder / f"nbgrader-{len(students)}"
    home.mkdir()
    shutil.copy(ROOT / "nbgrader_config.py", home)
    shutil.copytree(ROOT / "solutions" / chapter, home / "solutions" / chapter)
    for student in students:
        shutil.copytree(submitted / student / chapter, home / "submitted" / student / chapter)
    nbgrader(home, "generate_assignment", chapter)
    return home


def nbgrader(home: Path, *arguments: str) -> float:
    """Seconds that one command took."""
    environment = ENVIRONMENT | {"PYTHONPATH": str(ROOT), "JUPYTER_CONFIG_DIR": str(home / "config")}
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments], cwd=home, env=environment, capture_output=True, text=True
    )
    if done.returncode != 0:
        print(f"<!-- nbgrader {' '.join(arguments)} ended with {done.returncode}: {done.stderr[-500:]} -->")
    return time.monotonic() - began


def our_scores(out: Path) -> dict[tuple[str, str], float]:
    with (out / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        return {(row["student"], row["exercise"]): float(row["score"]) for row in csv.DictReader(file)}


def nbgraders_scores(home: Path, course: Course, chapter: str) -> dict[tuple[str, str], float]:
    from nbgrader.api import Gradebook

    exercise_of = {check.name: e.name for e in course.assignment(chapter).exercises for check in e.checks}
    scores: dict[tuple[str, str], float] = defaultdict(float)
    with Gradebook(f"sqlite:///{home / 'gradebook.db'}") as gradebook:
        for graded in gradebook.assignment_submissions(chapter):
            for notebook in graded.notebooks:
                for grade in notebook.grades:
                    scores[graded.student.id, exercise_of[grade.name]] += grade.auto_score or 0.0
    return dict(scores)


# ---- the comparison


def compare(course: Course, folder: Path, options: argparse.Namespace) -> None:
    submitted = make_class(course, folder, options.chapter, options.students, options.seed)
    students = sorted(path.name for path in submitted.iterdir())
    print(f"## {options.chapter}, {len(students)} submissions\n\n{machine()}\n", flush=True)
    seconds, largest = zip(
        *(grade_with_ours(submitted, folder / f"ours{run}", options.chapter) for run in range(3)), strict=True
    )
    ours = statistics.median(seconds)
    home = prepare_nbgrader(submitted, folder, options.chapter, students)
    whole = nbgrader(home, "autograde", options.chapter)
    few = students[: options.alone]
    alone_home = prepare_nbgrader(submitted, folder, options.chapter, few)
    alone = sum(nbgrader(alone_home, "autograde", options.chapter, "--student", student) for student in few)
    rates = {
        "nbgrader, a command for each submission": len(few) / alone,
        "nbgrader, one command for the class": len(students) / whole,
        "ours, with gradebook, feedback pages and report": len(students) / ours,
    }
    print("| | submissions/s | ours is faster by |\n|---|---|---|")
    for name, rate in rates.items():
        print(f"| {name} | {rate:.2f} | {len(students) / ours / rate:.0f} × |")
    print(f"\nOurs: {ours:.1f} s for the class (median of {', '.join(f'{s:.1f}' for s in seconds)}).")
    print(f"One worker with its warm servers: {max(largest) >> 20} MB at most.\n")
    whole_ones = {student for student in students if keeps_metadata(course, submitted / student, options.chapter)}
    agree(our_scores(folder / "ours0"), nbgraders_scores(home, course, options.chapter), whole_ones)
    print_stages(course, submitted, options.chapter, students[:50])


def keeps_metadata(course: Course, folder: Path, chapter: str) -> bool:
    """Whether a student's notebooks still say to nbgrader which cells are which."""
    return all(
        {cell.grade_id for cell in notebook.cells if cell.grade_id}
        <= {cell.grade_id for cell in read_cells(folder / chapter / f"{notebook.name}.ipynb")}
        for notebook in course.assignment(chapter).notebooks
    )


def agree(ours: dict[tuple[str, str], float], theirs: dict[tuple[str, str], float], students: set[str]) -> None:
    """Both gave the same scores to these students, or the benchmark ends here."""
    compared = [key for key in ours if key[0] in students]
    differing = sorted(key for key in compared if ours[key] != theirs.get(key))
    for key in differing[:20]:
        print(f"- {key[0]}, {key[1]}: ours {ours[key]:g}, nbgrader's {theirs.get(key, float('nan')):g}")
    if differing:
        raise SystemExit(f"{len(differing)} of {len(compared)} scores differ: see above")
    lost = len({student for student, _ in ours} - students)
    print(f"Both gave the same score to all {len(compared)} answers of {len(students)} students.", end=" ")
    print(f"{lost} more had lost nbgrader's metadata (ours finds the answers all the same).\n", flush=True)


def machine() -> str:
    model = next(
        (line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line),
        platform.processor(),
    )
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("nbgrader", "numpy", "torch"))
    cores = len(os.sched_getaffinity(0))
    return f"{datetime.date.today()}; {cores} cores, {model}; Python {platform.python_version()}, {versions}."


# ---- where our time goes


def print_stages(course: Course, submitted: Path, chapter: str, students: list[str]) -> None:
    """The stages of one worker, in milliseconds a submission, measured in this process."""
    assignment = course.assignment(chapter)
    sandbox, reason = find_sandbox()
    if sandbox is None:
        raise SystemExit(reason)
    known = read_table(submission.hint_table(assignment) or {"exercises": {}})
    servers = WarmServers(sandbox)
    for with_torch in (False, True):
        servers.prepare(with_torch)
    clock = Stages()
    with (
        clock.measure(submission, "parse_cells", "read the notebook"),
        clock.measure(submission, "make_plan", "match answers, plan"),
        clock.measure(submission, "connect", "fork the learner's process"),
        clock.measure(link.Link, "run", "run the learner's cells"),
        clock.measure(link.Link, "ask", "call answers and their modules"),
        clock.measure(link.Link, "close", "end the learner's process"),
        clock.measure(Examination, "_mistake", "name mistakes (with their calls)"),
        clock.measure(submission, "grade_submission", "all"),
    ):
        recogniser = Recogniser([assignment])
        collected = collect(submitted, [chapter], recogniser)
        for student in students:
            handed_in = submission.read_submission(collected.students[student], assignment, [chapter], recogniser)
            submission.grade_submission(handed_in, assignment, servers.start, "", known)
    servers.close()
    print("| stage, one worker | ms a submission |\n|---|---|")
    for name, seconds in sorted(clock.seconds.items(), key=lambda item: -item[1]):
        print(f"| {name} | {1000 * seconds / len(students):.1f} |")


class Stages:
    """Adds up the seconds spent in some functions; a function within another counts in both."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)

    @contextmanager
    def measure(self, owner: object, function: str, name: str) -> Iterator[None]:
        original = getattr(owner, function)

        def measured(*args: object, **kwargs: object) -> object:
            began = time.perf_counter()
            try:
                return original(*args, **kwargs)
            finally:
                self.seconds[name] += time.perf_counter() - began

        setattr(owner, function, measured)
        yield
        setattr(owner, function, original)


# ---- growth


def grow(course: Course, folder: Path, chapter: str, sizes: list[int]) -> None:
    print(
        f"## {chapter}, growing classes\n\n{machine()}\n\n| submissions | seconds | ms each |\n|---|---|---|",
        flush=True,
    )
    for size in sizes:
        here = folder / str(size)
        submitted = make_class(course, here, chapter, size, seed=size)
        seconds, _ = grade_with_ours(submitted, here / "graded", chapter)
        print(f"| {size} | {seconds:.1f} | {1000 * seconds / size:.1f} |", flush=True)
        shutil.rmtree(here)


if __name__ == "__main__":
    main()
