"""The command line: `autograder check`, `release`, `sample`, `grade`, `export`, `doctor`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from autograder import __version__
from autograder.errors import UsageError
from autograder.words import say, say_count

DONE, NOT_RIGHT, WRONG_USAGE, OUR_FAULT = 0, 1, 2, 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code: 0 done, 1 something is not right yet, 2 wrong usage, 3 our fault."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that cannot write ✓ still gets the rest
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")  # many small products: more threads only wait for each other
    options = _parser().parse_args(arguments)
    try:
        code = options.run(options)
        sys.stdout.flush()
        return code
    except UsageError as error:
        print(say("main.error", message=error), file=sys.stderr)
        return WRONG_USAGE
    except BrokenPipeError:  # `| head` has read enough; Python would complain at its end once more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NOT_RIGHT
    except KeyboardInterrupt:
        print("\n" + say("main.interrupted" if options.run is _grade else "main.stopped"), file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="autograder", description=say("main.description"))
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    parser.add_argument("--course", type=Path, default=Path(), metavar="DIR", help=say("main.course"))
    commands = parser.add_subparsers(title=say("main.commands"), required=True, metavar="COMMAND")

    check = commands.add_parser("check", help=say("main.check"), description=say("main.check"))
    check.add_argument("notebooks", nargs="+", type=Path, metavar="NOTEBOOK", help=say("main.check_notebooks"))
    check.add_argument("--watch", action="store_true", help=say("main.watch"))
    check.set_defaults(run=_check)

    release = commands.add_parser("release", help=say("main.release"), description=say("main.release"))
    release.add_argument("chapters", nargs="*", metavar="CHAPTER", help=say("main.chapters"))
    release.add_argument("--check", action="store_true", help=say("main.release_check"))
    release.add_argument("--zip", type=Path, metavar="FILE", help=say("main.release_zip"))
    release.set_defaults(run=_release)

    sample = commands.add_parser("sample", help=say("main.sample"), description=say("main.sample"))
    sample.add_argument("folder", type=Path, metavar="DIR")
    sample.add_argument("--students", type=_count, default=24, metavar="N", help=say("main.students"))
    sample.add_argument("--seed", type=int, default=0, metavar="S", help=say("main.seed"))
    sample.set_defaults(run=_sample)

    grade = commands.add_parser(
        "grade",
        help=say("main.grade"),
        description=say("main.grade"),
        epilog=say("policy.example", chapter="03_scores"),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    grade.add_argument("submissions", type=Path, metavar="SUBMISSIONS", help=say("main.submissions"))
    grade.add_argument("--assignment", nargs="+", default=[], metavar="CHAPTER", help=say("main.assignment"))
    grade.add_argument("--out", type=Path, default=Path("graded"), metavar="DIR", help=say("main.out"))
    grade.add_argument("--jobs", type=_count, metavar="N", help=say("main.jobs"))
    grade.add_argument("--roster", type=Path, metavar="FILE", help=say("main.roster"))
    grade.add_argument("--scheduler", default="", metavar="ADDRESS", help=say("main.scheduler"))
    grade.add_argument("--unsafe", action="store_true", help=say("main.unsafe"))
    grade.add_argument("--policy", type=Path, metavar="FILE", help=say("main.policy"))
    grade.add_argument("--times", type=Path, metavar="FILE", help=say("main.times"))
    grade.add_argument("--regrade", action="store_true", help=say("main.regrade"))
    grade.add_argument("--yes", action="store_true", help=say("main.yes"))
    grade.add_argument("--formgrader", action="store_true", help=say("main.formgrader"))
    grade.set_defaults(run=_grade)

    export = commands.add_parser("export", help=say("main.export"), description=say("main.export"))
    export.add_argument("--to", required=True, choices=("canvas", "moodle", "gradescope", "csv"), help=say("main.to"))
    export.add_argument("--into", required=True, type=Path, metavar="FILE", help=say("main.into"))
    export.add_argument(
        "--from", dest="results", type=Path, default=Path("graded"), metavar="DIR", help=say("main.from")
    )
    export.add_argument("--assignment", metavar="CHAPTER", help=say("main.export_assignment"))
    export.add_argument("--column", action="append", default=[], metavar="CHAPTER=TITLE", help=say("main.column"))
    export.add_argument("--write", type=Path, metavar="FILE", help=say("main.write"))
    export.set_defaults(run=_export)

    doctor = commands.add_parser("doctor", help=say("main.doctor"), description=say("main.doctor"))
    doctor.set_defaults(run=_doctor)
    return parser


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(say("main.count", text=text))
    return int(text)


# Each command imports what it needs: `check` must not wait for nbgrader.


def _check(options: argparse.Namespace) -> int:
    from autograder.attempts import keep_attempts, read_attempts
    from autograder.check import check_notebook, report

    if options.watch:
        return _watch(options)
    right = True
    for path in options.notebooks:
        attempts = read_attempts(path)
        checked = check_notebook(path, options.course, attempts)
        keep_attempts(path, attempts)
        print(report(checked))
        right &= checked.all_right
    return DONE if right else NOT_RIGHT


def _watch(options: argparse.Namespace) -> int:
    from autograder.watch import clock, watch

    if len(options.notebooks) > 1:
        raise UsageError(say("watch.one", count=len(options.notebooks)))
    (path,) = options.notebooks
    right = watch(path, options.course, lambda text: print(text, flush=True), clock())
    return DONE if right else NOT_RIGHT


def _release(options: argparse.Namespace) -> int:
    from autograder.course import find_course
    from autograder.proof import unfair
    from autograder.release import release

    # What is committed was proven when it was released: `--check` compares, and is quick.
    made = release(
        find_course(options.course),
        options.chapters,
        check=options.check,
        zip_path=options.zip,
        prove=None if options.check else unfair,
    )
    if options.check:
        for path in made.changed:
            print(say("main.differs", path=path))
        if not made.changed:
            print(say("main.same"))
        return NOT_RIGHT if made.changed else DONE
    print(say("main.released", chapters=", ".join(made.chapters), changed=len(made.changed)))
    for path in made.kept:
        print(say("main.kept", path=path))
    if options.zip:
        print(say("main.zipped", path=options.zip))
    return DONE


def _sample(options: argparse.Namespace) -> int:
    from autograder.course import find_course
    from autograder.sample import make_sample

    records = make_sample(find_course(options.course), options.folder, options.students, options.seed)
    print(say("main.sample_done", students=options.students, folder=options.folder, answers=len(records)))
    return DONE


def _grade(options: argparse.Namespace) -> int:
    from autograder.course import find_course
    from autograder.grade import grade
    from autograder.plaintext import plain

    graded = grade(
        find_course(options.course),
        options.submissions,
        options.out,
        options.assignment,
        options.jobs,
        options.unsafe,
        roster=options.roster,
        policy=options.policy,
        times=options.times,
        regrade=(lambda changes: _confirmed(changes, options.yes)) if options.regrade else None,
        formgrader=options.formgrader,
        scheduler=options.scheduler,
    )
    if not graded.written:
        print(say("main.not_written"))
        return NOT_RIGHT
    print(say("main.graded", count=len(graded.results), reused=graded.reused))
    for name in ("report.html", "grades.csv", "gradebook.db"):
        print(f"  {graded.out / name}")
    for copy in graded.copies:
        print(say("main.copy", path=copy))
    if graded.flagged:
        print(say_count("main.flagged", graded.flagged))
    for notice in graded.notices:
        print(plain(notice))
    if graded.kept:
        print(say("main.graded_before", chapters=", ".join(graded.kept)))
    if graded.gone:
        print(say_count("main.gone", graded.gone, path=graded.out / "grades.csv"))
    if graded.ungraded:
        print(say("main.ungraded", count=graded.ungraded), file=sys.stderr)
        return OUR_FAULT
    return DONE


def _confirmed(changes: str, yes: bool) -> bool:
    """Whether a person wants the changed marks written: said before, or typed now."""
    print(changes)
    if yes or not sys.stdin.isatty():
        return yes
    try:
        return input(say("main.ask")).strip().casefold() == say("main.ask_yes")
    except EOFError:
        return False


def _export(options: argparse.Namespace) -> int:
    from autograder.export import export

    columns = dict(column.partition("=")[::2] for column in options.column)
    print(
        export(
            options.to,
            options.into,
            options.results,
            assignment=options.assignment,
            columns=columns,
            write=options.write,
        )
    )
    return DONE


def _doctor(options: argparse.Namespace) -> int:
    from autograder.doctor import examine_machine

    findings = examine_machine()
    for finding in findings:
        print(f"  {'✓' if finding.good else '✗'} {finding.text}")
    return DONE if all(finding.good for finding in findings) else NOT_RIGHT


if __name__ == "__main__":
    sys.exit(main())
