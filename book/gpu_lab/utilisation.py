"""How well a device is used: the operations that the model needs, over what the device could have done in that time.

    utilisation = (6 N + 12 · layers · heads · head size · T) · tokens/s ÷ peak

6 N: each weight takes part in two operations (a product and a sum) forward and in four backward, for each token. The
second term is attention's: two products with T keys, forward and backward; a causal mask would halve it, and is by
convention not counted. Operations that are computed again to save memory are not counted either. (Chowdhery et al.
2022, PaLM, appendix B.)
"""

from __future__ import annotations

# The most operations per second of a dense matrix product, from the makers' data sheets. Part of a GPU's name →
# by precision. Where a card is not here, utilisation is not computed.
PEAKS: dict[str, dict[str, float]] = {
    "A100": {"bf16": 312e12, "fp16": 312e12},
    "H100": {"bf16": 989e12, "fp16": 989e12},
    "H200": {"bf16": 989e12, "fp16": 989e12},
    "T4": {"fp16": 65e12},
}


def peak_of(device_name: str, precision: str) -> float | None:
    """The peak of a card that is called `device_name`, in operations per second; None where we know of none."""
    for name, peaks in PEAKS.items():
        if name in device_name.replace("-", " ").split():
            return peaks.get(precision)
    return None


def operations_per_token(parameters: int, layers: int = 0, width: int = 0, length: int = 0) -> float:
    """What training needs for one token; width is heads · head size, length is T."""
    return 6 * parameters + 12 * layers * width * length


def utilisation(operations: float, tokens_per_second: float, peak: float | None) -> float | None:
    """A share of the peak; None where no peak is known. Above 1 something was measured wrongly."""
    return None if peak is None else operations * tokens_per_second / peak
