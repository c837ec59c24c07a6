"""How long `autograder check --watch` takes from a save to its verdict, for each notebook of exercises.

    python benchmarks/watching.py [--saves N]

Prints Markdown, ready for benchmarks/README.md. Each notebook is the released one with all answers right, saved
again and again; counted from the moment it is looked at until the verdict is written, with the learner's process
that waits ready. Nothing is written outside a temporary folder.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from autograder.course import RELEASE_FOLDER, Course, SourceNotebook
from autograder.notebooks import load_notebook
from autograder.sample import answered
from autograder.watch import Ready, Watched

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--saves", type=int, default=9, help="of each notebook; the median counts (default: 9)")
    saves = parser.parse_args().saves
    os.environ["OMP_NUM_THREADS"] = "1"  # for the learner's processes
    course = Course(ROOT)
    print("| notebook | exercises right | ms from save to verdict | least | most |\n|---|---|---|---|---|")
    for chapter in course.chapters:
        for notebook in course.assignment(chapter).notebooks:
            right, taken = watched(chapter, notebook, saves)
            figures = " | ".join(f"{1000 * value:.0f}" for value in (statistics.median(taken), min(taken), max(taken)))
            print(f"| {notebook.name} | {right} of {len(notebook.exercises)} | {figures} |", flush=True)


def watched(chapter: str, notebook: SourceNotebook, saves: int) -> tuple[int, list[float]]:
    """How many exercises are right at last, and the seconds of each save but the first, which starts Python."""
    answers = {exercise.name: exercise.reference for exercise in notebook.exercises}
    taken = []
    with tempfile.TemporaryDirectory(prefix="watching-") as folder, Ready() as ready:
        released = shutil.copytree(ROOT / RELEASE_FOLDER / chapter, Path(folder, chapter)) / f"{notebook.name}.ipynb"
        content = answered(load_notebook(released.read_bytes()), answers)
        alone = Path(folder, "alone", released.name)  # the chapter's other notebooks would be counted too
        alone.parent.mkdir()
        shutil.copy(released.with_name("hints.json"), alone.parent)
        watching = Watched(alone, ROOT, ready, lambda text: None)
        for number in range(saves + 1):
            alone.write_bytes(content)
            os.utime(alone, ns=(number, number))
            began = time.perf_counter()
            watching.look(began)
            taken.append(time.perf_counter() - began)
            assert watching.checked is not None
            time.sleep(5 if watching.checked.with_torch else 1)  # while a learner thinks, the next process starts
        return watching.checked.right, taken[1:]


if __name__ == "__main__":
    main()
