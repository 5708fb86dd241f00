"""What others measured, to compare runs with where model and prompt match."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class PublishedResult(NamedTuple):
    """A figure as published: its mean, and its spread (None where none was given)."""

    mean: float
    spread: float | None = None


PROTOCOL = (
    "Llama-3.2-1B-Instruct, add-3digit, 200 GRPO steps, group size 8, batch 128, learning rate 1e-5, 3 seeds, "
    "last-integer"
)

published_results: Mapping[str, Mapping[str, PublishedResult]] = MappingProxyType(
    {
        "binary": {"true_start": PublishedResult(0.433), "true_end": PublishedResult(0.923, 0.018)},
        "format": {
            "gap_start": PublishedResult(-0.328),
            "proxy_end": PublishedResult(0.993, 0.002),
            "true_end": PublishedResult(0.474, 0.010),
            "gap_end": PublishedResult(0.519, 0.011),
            "gap_change_without_kl_leash": PublishedResult(-0.037),
        },
        "tiebreak": {
            "dead_group_fraction_binary": PublishedResult(0.472),
            "dead_group_fraction": PublishedResult(0.009),
            "true_gain_binary": PublishedResult(0.352),
            "true_gain": PublishedResult(0.149),
        },
    }
)
"""Training signal -> figure -> value, under `PROTOCOL`."""
