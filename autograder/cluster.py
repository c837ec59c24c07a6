"""Many machines: shards of a class go to the workers of a Dask cluster, and results come back as they are known.

A shard is graded on a worker as on one core of one machine (`workers.py`): the same function, plain data
in and out. What a worker that is lost had in hand, Dask gives to another. Nothing is written there.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from autograder import __version__
from autograder.errors import UsageError
from autograder.job import GradeJob
from autograder.sandbox import Sandbox, find_sandbox
from autograder.words import say
from autograder.workers import Failed, in_workers

SHARD = 50  # submissions: their time is a multiple of what a worker needs to get warm
SECONDS_TO_CONNECT = 15


def in_cluster(
    address: str, job: GradeJob, items: Iterable[Any], seconds: float, note: Callable[[str], None]
) -> Iterator[tuple[Any, Any]]:
    """As `in_workers`, on the Dask scheduler at `address` (tcp://host:port). Raises UsageError.

    `note` is told what somebody who waits should know.
    """
    from distributed import Client, as_completed

    try:
        client = Client(address, timeout=SECONDS_TO_CONNECT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise UsageError(say("cluster.unreachable", address=address, reason=error)) from None
    shards = _batched(items, SHARD)
    with client:
        if not client.scheduler_info()["workers"]:
            note(say("cluster.waiting", address=address))
        going = as_completed(loop=client.loop)
        held: dict[str, tuple[Any, ...]] = {}

        def send() -> None:
            """Keep every worker busy, and one shard waiting for each; workers may join at any time."""
            while len(held) < 2 * max(1, sum(client.nthreads().values())):
                shard = next(shards, None)
                if shard is None:
                    return
                # The job goes along each time: data that was sent ahead would be lost with the worker that has it.
                future = client.submit(grade_shard, job, shard, seconds, __version__, pure=False)
                held[future.key] = shard
                going.add(future)

        send()
        for future in going:
            shard = held.pop(future.key)
            send()
            yield from zip(shard, _results(future, shard), strict=True)


def grade_shard(job: GradeJob, shard: tuple[Any, ...], seconds: float, version: str) -> list[Any]:
    """On a worker: the results of a shard, in its order. Raises UsageError where the worker is not like the rest."""
    if version != __version__:
        raise UsageError(say("cluster.version", here=version, there=__version__))
    sandbox = _sandbox_here()
    if job.sandbox.isolated:
        if sandbox is None or sandbox.description != job.sandbox.description:
            there = sandbox.description if sandbox else find_sandbox()[1]
            raise UsageError(say("cluster.sandbox", here=job.sandbox.description, there=there))
        job = replace(job, sandbox=sandbox)
    places = {id(item): place for place, item in enumerate(shard)}
    results: list[Any] = [None] * len(shard)
    for item, result in in_workers(job, shard, 1, seconds):
        results[places[id(item)]] = result
    return results


def _results(future: Any, shard: tuple[Any, ...]) -> list[Any]:
    """What a shard gave; where it took several workers down with it, a `Failed` for each of its pieces."""
    if future.status == "finished":
        return future.result()
    reason = future.status if future.cancelled() else future.exception()
    if isinstance(reason, UsageError):
        raise reason
    return [Failed(say("cluster.lost", reason=reason))] * len(shard)


@cache
def _sandbox_here() -> Sandbox | None:
    return find_sandbox()[0]


def _batched(items: Iterable[Any], size: int) -> Iterator[tuple[Any, ...]]:
    """`itertools.batched`, which Python 3.11 does not have."""
    iterator = iter(items)
    while batch := tuple(itertools.islice(iterator, size)):
        yield batch
