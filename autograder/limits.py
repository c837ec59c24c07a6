"""Every limit in one place; `check` and `grade` share them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

MEBI = 1 << 20


@dataclass(frozen=True)
class Limits:
    """What one submission may use. Sizes in bytes, times in seconds."""

    cell_seconds: float = 10.0  # one cell of the learner's, or one call of an answer
    submission_seconds: float = 120.0  # all cells and calls of one notebook together
    start_seconds: float = 60.0  # starting Python and importing NumPy (and PyTorch) on a busy machine
    cpu_seconds: int = 120  # processor time of the whole process, a backstop behind cell_seconds
    memory_bytes: int = 2048 * MEBI  # address space
    torch_memory_bytes: int = 8192 * MEBI  # PyTorch's libraries alone map more than 2 GiB
    file_bytes: int = 16 * MEBI  # one file written
    tmp_bytes: int = 64 * MEBI  # the private /tmp
    processes: int = 64  # processes and threads
    printed_chars: int = 10_000  # what an answer may print before it is cut
    message_chars: int = 600  # an exception's message
    frame_bytes: int = 64 * MEBI  # the arrays of one message between the two processes
    tree_bytes: int = 8 * MEBI  # its JSON: a few bytes of text can become a hundred in memory
    integer_bits: int = 1000  # of one whole number: further ones fit no float, and cannot be compared with one
    dict_items: int = 10_000  # of one dict: keys can be made to collide, and then the time grows with the square
    notebook_bytes: int = 32 * MEBI  # a notebook that is handed in
    notebooks_bytes: int = 256 * MEBI  # all notebooks of one student: further ones are not looked at
    cells: int = 10_000  # of it: millions of empty ones fit into its bytes
    code_chars: int = 512 << 10  # of its code cells together: reading a mebibyte of code takes half a gibibyte
    notebooks: int = 50  # of one student, copies and attempts included: further ones are not looked at
    run_seconds: float = 120.0  # to load a trained model and to ask it, all together
    run_bytes: Mapping[str, int] = field(  # of its files, each
        default_factory=lambda: {"model.safetensors": 16 * MEBI, "config.json": MEBI >> 2, "metrics.jsonl": 4 * MEBI}
    )
    zip_entries: int = 100_000  # files in a zip, and in the zips inside it
    inner_zip_bytes: int = 64 * MEBI  # a zip inside a zip


LIMITS = Limits()
