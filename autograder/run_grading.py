"""A trained model, graded: loaded into the course's own Transformer, asked what no training has shown, and judged.

The model lives in a process like a learner's, in the sandbox (`run_probe`); the questions are made here, from a seed
of the grader's own, and so are the right answers, which never go there.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from autograder.course import MODEL, RUN, Exercise
from autograder.limits import LIMITS
from autograder.link import Link, Stopped, connect
from autograder.results import CheckResult, ExerciseResult
from autograder.run_files import NAMES, RunFiles, run_beside
from autograder.run_metrics import contradictions, told
from autograder.sandbox import no_sandbox, start
from autograder.scoring import overall
from autograder.statuses import FAILED, PASSED, TIMEOUT, UNGRADED, Status
from autograder.words import say

BATCH = 50  # questions of one call: a second on a slow machine
CLOSE = 1e-3  # of a logit: other sizes are summed in another order, in float32


@dataclass(frozen=True)
class Gates:
    """What is asked, and how much must be right. The seed is the grader's own: no program of the course uses it."""

    seed: int = 470_117
    count: int = 200  # questions for each number of digits
    digits: tuple[int, ...] = (5, 8, 10, 12)
    # check → (digits, share). With the course's settings the worst of three seeds had 100 % at 5 digits and 99.4 % at 12,
    # of 500 questions each; from these questions one of them had 98 %. 90 % of 200 are eight standard deviations below.
    least: Mapping[str, tuple[int, float]] = field(
        default_factory=lambda: {"test_run_5_digits": (5, 0.95), "test_run_12_digits": (12, 0.90)}
    )


GATES = Gates()


@dataclass(frozen=True)
class Verdict:
    """What became of a run: what is wrong, for all checks or for one, and what there is to tell."""

    fault: str = ""
    faults: Mapping[str, str] = field(default_factory=dict)  # check → what it says
    status: Status = FAILED  # where there is a fault
    told: str = ""

    def of(self, check: str) -> str:
        """What is wrong by one check; "" where nothing is."""
        return self.fault or self.faults.get(check, "")


def score_run(student: str, assignment: str, notebook: str, exercise: Exercise, verdict: Verdict) -> ExerciseResult:
    """The result of a run, check by check."""
    checks = []
    for check in exercise.checks:
        fault = verdict.of(check.name)
        status = verdict.status if fault else PASSED
        score = 0.0 if fault else check.points
        checks.append(CheckResult(check.name, score, check.points, status.name, fault, visible_passed=not fault))
    worst = overall(checks)
    return ExerciseResult(
        student=student,
        assignment=assignment,
        notebook=notebook,
        exercise=RUN,
        score=sum(check.score for check in checks),
        max_score=exercise.max_score,
        status=worst.status,
        message=worst.message,
        printed=verdict.told,
        checks=tuple(checks),
    )


def judge(run: RunFiles, model: Sequence[str], begin: Callable[[], Link], gates: Gates = GATES) -> Verdict:
    """Look at a run. Raises nothing for what its files hold.

    `model`: the cells that define the course's own Transformer. `begin` makes a process for it, as for a learner's
    answers, with PyTorch.
    """
    if run.fault:
        return Verdict(run.fault, status=run.status)
    if not model:
        return Verdict(say("run.no_model"), status=UNGRADED)
    try:
        with contextlib.closing(begin()) as link:
            link.until = time.monotonic() + LIMITS.run_seconds
            return _Asked(link, run, model, gates).verdict()
    except Stopped as stopped:
        late = stopped.status is TIMEOUT
        message = say("run.late", seconds=f"{LIMITS.run_seconds:g}") if late else say("run.ended")
        return Verdict(message, status=stopped.status)
    except Exception as error:
        if not hasattr(error, "from_answer"):  # ours
            raise
        return Verdict(say("run.unusable", kind=type(error).__name__))


def run_fault(check: str) -> str:
    """What is wrong with the run beside the notebook that asks, by one of its checks; "" where nothing is.

    For Jupyter and for nbgrader's own autograder: it is looked at as `autograder check` does.
    """
    from autograder.released import find_model

    return judge_here(run_beside(Path.cwd()), find_model(Path.cwd())).of(check)


@lru_cache(maxsize=4)
def judge_here(run: RunFiles, model: tuple[str, ...]) -> Verdict:
    """As `judge`, on a learner's own machine; a run that is asked about again is not looked at anew."""
    return judge(run, model, partial(connect, partial(start, no_sandbox()), with_torch=True))


class _Asked:
    """One run that is loaded in a process of its own."""

    def __init__(self, link: Link, run: RunFiles, model: Sequence[str], gates: Gates) -> None:
        self._link, self._gates = link, gates
        self._files = dict(run.files)
        for source in (*model, f"from autograder.run_probe import RunProbe\nrun = RunProbe({MODEL})"):
            self._run_own(source)
        self._run_own("load, answers, logits, tokens_with = run.load, run.answers, run.logits, run.tokens_with")

    def verdict(self) -> Verdict:
        from gpu_lab.data import ENGLISH, KOREAN

        loaded = self._ask("load", *map(_bytes, (self._files[name] for name in NAMES)), len(ENGLISH), len(KOREAN))
        fault = str(loaded.get("fault", ""))[: LIMITS.message_chars]
        if fault:
            return Verdict(fault)
        if seen := self._sees():
            return Verdict(seen)
        shares = {digits: self._share(digits) for digits in self._gates.digits}
        faults = {}
        for check, (digits, least) in self._gates.least.items():
            if shares[digits] < least:
                faults[check] = say("run.below", digits=digits, share=f"{shares[digits]:.0%}", least=f"{least:.0%}")
        if faults and (likely := self._likely()):
            faults = {check: f"{fault} {likely}" for check, fault in faults.items()}
        lines, parameters = loaded["lines"], loaded["parameters"]
        if contradicting := contradictions(lines, parameters, shares):
            faults["test_run"] = " ".join(contradicting)
        told_shares = ", ".join(
            say("run.share", digits=digits, share=f"{share:.0%}") for digits, share in shares.items()
        )
        sentences = [say("run.told", count=self._gates.count, shares=told_shares), *told(lines, parameters)]
        return Verdict(faults=faults, told="\n".join(sentences))

    def _share(self, digits: int) -> float:
        """The share of right answers at some number of digits: all characters right, and the end."""
        from gpu_lab.data import BOS, EOS, KOREAN, LONGEST_TARGET, korean, pairs, questions

        asked = questions(digits, self._gates.count, self._gates.seed)
        right = 0
        for first in range(0, len(asked), BATCH):
            numbers = asked[first : first + BATCH]
            said = self._ask("answers", pairs(numbers).source, BOS, EOS, LONGEST_TARGET)
            right += sum(row == KOREAN.encode(korean(number)) for row, number in zip(said, numbers, strict=True))
        return right / len(asked)

    def _sees(self) -> str:
        """What the model must not see, and does: later tokens, or padding. Found by changing them."""
        import torch
        from gpu_lab.data import PADDING, pairs, questions

        given = pairs([*questions(12, 4, self._gates.seed), *questions(5, 4, self._gates.seed)])
        before = self._ask("logits", given.source, given.target_in)
        half = given.target_in.shape[1] // 2
        later = given.target_in.clone()
        later[:, half:] = later[:, half:].roll(1, dims=1)
        if not torch.allclose(self._ask("logits", given.source, later)[:, :half], before[:, :half], atol=CLOSE):
            return say("run.sees_future")
        longer = torch.nn.functional.pad(given.source, (0, 5), value=PADDING)
        if not torch.allclose(self._ask("logits", longer, given.target_in), before, atol=CLOSE):
            return say("run.sees_padding")
        return ""

    def _likely(self) -> str:
        """Why a model has learned so little: whether its weights fit one of the two usual mistakes."""
        from gpu_lab.data import pairs, questions

        given = pairs([*questions(12, BATCH // 2, self._gates.seed), *questions(5, BATCH // 2, self._gates.seed)])
        real = given.target != 0
        blind = (
            (self._ask("logits", given.source, given.target_in).argmax(-1) == given.target)[real].float().mean().item()
        )
        for seen in ("future", "padding"):
            tokens = self._ask("tokens_with", seen, given.source, given.target_in)
            seeing = (tokens == given.target)[real].float().mean().item()
            if seeing > 0.9 and seeing > blind + 0.05:
                return say(f"run.like_{seen}", seeing=f"{seeing:.0%}", blind=f"{blind:.0%}")
        return ""

    def _ask(self, name: str, *args: Any) -> Any:
        return self._link.call(name, args, {})

    def _run_own(self, source: str) -> None:
        """Run a cell of ours there. Raises RuntimeError where it fails, which is no fault of the run's."""
        trouble = self._link.run(source, say("run.model"))
        if trouble:
            raise RuntimeError(f"{trouble.name}: {trouble.message}")


def _bytes(content: bytes) -> Any:
    import numpy as np

    return np.frombuffer(content, np.uint8)
