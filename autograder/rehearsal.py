"""What every notebook does, done before it comes: then the first call is as quick as the hundredth.

Python, IPython and PyTorch load some of what they need late, prepare some of it at its first use, and Python
makes code fast that has run a few times. For a learner's process that is a third of its time.
"""

from __future__ import annotations

import contextlib

import numpy as np

from autograder.link import Link

_OFTEN = 20
_CELLS = (
    "__import__('autograder.hints')",
    "%time None",  # loads the magic commands
    "1 +",
    """
def rehearsed(given, function, times=1):
    for _ in range(times):
        function(1.0)
    return given * 2.0
""",
)


def rehearse(link: Link) -> None:
    """Run cells, call an answer that calls back, and let both fail; no name is left behind. Raises Stopped."""
    for cell in _CELLS:
        link.run(cell, "")
    for _ in range(_OFTEN):
        link.call("rehearsed", (np.ones((2, 3)), float), {"times": 2})
    with contextlib.suppress(TypeError):
        link.call("rehearsed", (None, float), {})
    if link.with_torch:
        import torch

        for _ in range(_OFTEN):
            link.call("rehearsed", (torch.ones((2, 3), requires_grad=True), float), {}).sum().backward()
    link.run("del rehearsed", "")
    link.printed.clear()
