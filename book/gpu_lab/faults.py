"""What PyTorch raises when a machine is too small or lacks a compiler, as one sentence for the learner."""

from __future__ import annotations

from gpu_lab.words import say

# How PyTorch says it: OutOfMemoryError on a GPU, a plain RuntimeError on a CPU.
_NO_MEMORY = ("out of memory", "can't allocate memory", "not enough memory")
_COMPILER = ("torch._dynamo", "torch._inductor")


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory ran out."""
    return isinstance(error, MemoryError) or any(words in str(error).lower() for words in _NO_MEMORY)


def explained(error: Exception, batch_size: int, processes: int = 1) -> str | None:
    """A sentence that says what to change; None for an error of which we know nothing."""
    if is_out_of_memory(error):
        smaller = max(batch_size // 2 // processes * processes, processes)
        return say("train.memory", batch=batch_size, smaller=smaller)
    if type(error).__module__.startswith(_COMPILER):
        return say("train.compiler", reason=str(error).strip().splitlines()[0])
    return None
