"""Fingerprints: what each known mistake gives on the probes, and which mistake an answer makes.

A fingerprint is numbers, never code, and holds no value of the right answer: where a mistake gives
what the right answer gives, nothing is written, and of the right answer only kinds and shapes are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from autograder.observations import Observation, differences, observe_probe, outline
from autograder.probes import EMPTY, Probe

_BESIDE = {"changed", "warned", "effort"}  # what can be wrong where the result is right


@dataclass(frozen=True)
class Mistake:
    """One known mistake: its id, what a learner reads, and its observations on the probes that show it."""

    id: str
    sentences: tuple[str, ...]  # the first is said first, the next when the mistake comes again
    shows: dict[int, Observation]  # probe number → observation, only where it differs from the right answer's

    def accounts_for(self, failure: str) -> bool:
        """Whether a failure that was seen is of a kind that this mistake has.

        `failure`: "value" for a result that is not right, the name of the error that was raised, "" where
        nothing more is known than that a check said no.
        """
        if not failure:
            return True
        if failure == "value":
            return any("unsteady" in one or _is_about_the_result(one) for one in self.shows.values())
        return any(one.get("raised") == failure for one in self.shows.values())

    def is_seen_in(self, number: int, came: Observation) -> bool:
        """Whether what an answer gave on probe `number` is what this mistake gives there."""
        return number in self.shows and _shows(came, self.shows[number])


@dataclass(frozen=True)
class Fingerprints:
    """One exercise's probes and known mistakes."""

    probes: tuple[Probe, ...]
    right: tuple[Observation, ...]  # the right answer's outlines, probe by probe
    mistakes: tuple[Mistake, ...]

    def recognise(self, observations: list[Observation]) -> Mistake | None:
        """The mistake that explains most of `observations` (one for each probe); None where none does.

        Where a mistake shows, the answer must give what the mistake gives, and elsewhere look like the
        right one. It may break this where a second mistake of its own hides the first, if the numbers
        that are met are telling: an error's name alone could have any cause.
        """
        every = range(len(self.probes))
        looks_right = {number for number in every if self.looks_right(number, observations[number])}
        best, best_rank = None, (0, False)
        for mistake in self.mistakes:
            met = {number for number in mistake.shows if mistake.is_seen_in(number, observations[number])}
            unmet = mistake.shows.keys() - met
            if any(_contradicts(observations[n], mistake.shows[n], n in looks_right) for n in unmet):
                continue
            alone = met | looks_right == set(every)
            if not met or (not alone and not any(_is_telling(mistake.shows[number]) for number in met)):
                continue
            rank = (len(met), alone)
            if rank > best_rank:
                best, best_rank = mistake, rank
        return best

    def looks_right(self, number: int, came: Observation) -> bool:
        """Whether what came on a probe has the right answer's outline; its values are not known here."""
        return not differences(came, self.right[number]) - {"warned"}

    @cached_property
    def is_steady(self) -> bool:
        """Whether every known mistake gives the same each time."""
        return not any("unsteady" in one for mistake in self.mistakes for one in mistake.shows.values())

    def plain(self) -> dict[str, Any]:
        """As JSON data."""
        return {
            "probes": [probe.plain() for probe in self.probes],
            "right": list(self.right),
            "mistakes": [
                {
                    "id": mistake.id,
                    "sentences": list(mistake.sentences),
                    "shows": {str(number): shown for number, shown in mistake.shows.items()},
                }
                for mistake in self.mistakes
            ],
        }

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Fingerprints:
        """What `plain()` wrote."""
        return cls(
            probes=tuple(Probe.from_plain(probe) for probe in plain["probes"]),
            right=tuple(plain["right"]),
            mistakes=tuple(
                Mistake(
                    mistake["id"],
                    tuple(mistake["sentences"]),
                    {int(number): shown for number, shown in mistake["shows"].items()},
                )
                for mistake in plain["mistakes"]
            ),
        )


def observe_all(
    answer: Callable[..., Any], probes: tuple[Probe, ...], namespace: Mapping[str, Any] = EMPTY, calls: int = 2
) -> list[Observation]:
    """What `answer` gives on each probe, called `calls` times. `namespace`: see `Probe.arguments`."""
    return [observe_probe(answer, probe, namespace, calls) for probe in probes]


def shown(wrong: list[Observation], right: list[Observation]) -> dict[int, Observation]:
    """What a mistake's fingerprint holds: its observations where they differ from the right answer's.

    Of a result that is right (the mistake is a changed argument, a warning, or wasted effort) only the
    outline is kept. A warning counts where it is all that differs: not every machine gives it.
    """
    kept = {}
    for number, (came, wanted) in enumerate(zip(wrong, right, strict=True)):
        differing = differences(came, wanted)
        if not differing:
            continue
        observation = outline(came) if differing <= _BESIDE else dict(came)
        if differing != {"warned"}:
            observation.pop("warned", None)
        kept[number] = observation
    return kept


def _is_about_the_result(shown: Observation) -> bool:
    """Whether the result itself is wrong, and not only what stands beside it."""
    return "result" in shown and (_count(shown["result"]) > 0 or not shown.keys() & _BESIDE)


def _shows(came: Observation, shown: Observation) -> bool:
    ignored = set() if "warned" in shown else {"warned"}
    return not differences(came, shown) - ignored


def _contradicts(came: Observation, shown: Observation, looks_right: bool) -> bool:
    """Whether an observation that is not `shown` tells that the answer does not make the mistake.

    Draws may agree twice by chance: where a mistake is unsteady, a steady result tells nothing.
    """
    return "unsteady" not in shown and (looks_right or "unsteady" in came)


def _is_telling(shown: Observation) -> bool:
    """Whether the observation holds at least two numbers, or no steady ones: less is soon met by chance."""
    return "unsteady" in shown or _count(shown.get("result")) >= 2


def _count(part: Any) -> int:
    if isinstance(part, list):
        return sum(map(_count, part))
    if not isinstance(part, dict):
        return 0
    own = len(part.get("values", ())) + (1 if isinstance(part.get("value"), int | float) else 0)
    return own + _count(part.get("items", []))
