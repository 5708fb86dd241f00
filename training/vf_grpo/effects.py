"""The three published effects of assay-add3digit's signals, and what our runs show of each.

Published figures: Llama-3.2-1B-Instruct, 3 seeds, 200 steps, group size 8, 128 completions a step, learning rate 1e-5.
Ours come from another model and another number of steps, so only the effect is compared, never the number.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Literal, NamedTuple

from pydantic import JsonValue

Signal = Literal["binary", "format", "tiebreak"]
SIGNALS: tuple[Signal, ...] = ("binary", "format", "tiebreak")
LENGTH = "metric/num_tokens"
"""Whitespace-separated tokens of a reply, the unit of the tie-break."""


class Curves(NamedTuple):
    """One run: its steps' metrics, and the held-out evaluations before and after."""

    steps: Sequence[Mapping[str, JsonValue]]
    before: Mapping[str, JsonValue]
    after: Mapping[str, JsonValue]


class Finding(NamedTuple):
    """One claim about one signal: what was published, what we measured, and whether the claim holds here."""

    signal: Signal
    claim: str
    published: str
    ours: str
    holds: bool


def findings(runs: Mapping[Signal, Curves]) -> list[Finding]:
    """Every claim that `runs` can speak to, in the order of SIGNALS."""
    found = []
    if "binary" in runs:
        found.append(_binary(runs["binary"]))
    if "format" in runs:
        found += _format(runs["format"])
    if "tiebreak" in runs and "binary" in runs:
        found += _tiebreak(runs["tiebreak"], runs["binary"])
    return found


def _binary(run: Curves) -> Finding:
    start, end = _value(run.before, "true_mean"), _value(run.after, "true_mean")
    holds = end - start >= 0.35 and end > 0.80
    claim = "the true reward rises by 0.35 or more, above 0.80"
    return Finding("binary", claim, "0.433 -> 0.923 ± 0.018", f"{start:.3f} -> {end:.3f}", holds)


def _format(run: Curves) -> list[Finding]:
    proxy = _value(run.after, "proxy_mean")
    start, end = _value(run.before, "true_mean"), _value(run.after, "true_mean")
    gaps = [_value(row, "gap") for row in run.steps]
    before = _value(run.before, "gap")
    opened = next((step for step, gap in enumerate(gaps) if gap > 0), None)
    return [
        Finding("format", "the signal saturates: 0.95 or more", "0.993 ± 0.002", f"{proxy:.3f}", proxy >= 0.95),
        Finding(
            "format",
            "the true reward stays within 0.15 of its start",
            "0.474 ± 0.010 (start 0.433)",
            f"{end:.3f} (start {start:.3f})",
            abs(end - start) <= 0.15,
        ),
        Finding(
            "format",
            "the gap starts negative and opens within ten steps",
            "starts at -0.328, opens within about 10 steps, ends at 0.519 ± 0.011",
            f"starts at {before:.3f}, opens at step {opened}, ends at {_value(run.after, 'gap'):.3f}",
            before < 0 and opened is not None and opened <= 10,
        ),
    ]


def _tiebreak(run: Curves, binary: Curves) -> list[Finding]:
    dead, dead_binary = (fmean(_value(row, "dead_group_fraction") for row in r.steps) for r in (run, binary))
    short, long = _value(run.before, LENGTH), _value(run.after, LENGTH)
    gain, gain_binary = (_value(r.after, "true_mean") - _value(r.before, "true_mean") for r in (run, binary))
    return [
        Finding(
            "tiebreak",
            "dead groups: less than a quarter of binary's",
            "0.472 (binary) against 0.009",
            f"{dead_binary:.3f} (binary) against {dead:.3f}",
            dead < dead_binary / 4,
        ),
        Finding(
            "tiebreak",
            "replies grow by half or more",
            "nearly doubled",
            f"{short:.1f} -> {long:.1f} words (x {long / short:.2f})",
            long >= 1.5 * short,
        ),
        Finding(
            "tiebreak",
            "the true gain is clearly below binary's (by 0.10 or more)",
            "+0.149 against +0.352",
            f"{gain:+.3f} against {gain_binary:+.3f}",
            gain_binary - gain >= 0.10,
        ),
    ]


def _value(row: Mapping[str, JsonValue], name: str) -> float:
    value = row.get(name)
    if not isinstance(value, int | float):
        raise ValueError(
            f"the run recorded no {name!r}: got {value!r}; it must be trained with the demo's configuration"
        )
    return float(value)
