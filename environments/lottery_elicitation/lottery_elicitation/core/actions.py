"""From a reply's text to a proposal, or to the reason why it is none. No text raises, no move is made up."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from .._envkit.reply import Fault, Reply, last_json_object, reply_text
from .lotteries import Pair, Reading, read_lottery, read_number
from .ranges import OUTCOME_BOUNDS, Range

ACTION_KEYS = ("lottery_a", "lottery_b", "theta_estimate", "terminate_early")


class Estimate(NamedTuple):
    """A guess of the hidden parameters, as the agent gave it (not clipped)."""

    gamma: float
    loss_aversion: float

    def to_json(self) -> dict[str, float]:
        return {"gamma": self.gamma, "lambda": self.loss_aversion}


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A turn that parses: a pair of lotteries, an estimate, or both. `step` decides whether it ends the episode."""

    pair: Pair | None = None
    estimate: Estimate | None = None
    terminate_early: bool = False
    is_renormalised: bool = False
    """The probabilities of a lottery drifted from 1 by at most 0.02 and were scaled."""

    def to_json(self) -> dict[str, object]:
        """The action as the agent would write it."""
        written: dict[str, object] = {}
        if self.pair is not None:
            written |= {"lottery_a": self.pair.a.to_json(), "lottery_b": self.pair.b.to_json()}
        if self.estimate is not None:
            written["theta_estimate"] = self.estimate.to_json()
        return written | {"terminate_early": self.terminate_early}


class Malformed(NamedTuple):
    """A turn that does not parse: it is spent, and the reason is told to the agent."""

    reason: str


Action = Proposal | Malformed


def parse_action(reply: Reply, outcome_bounds: Range = OUTCOME_BOUNDS) -> Action:
    """The action in a reply (text or chat messages): the last JSON object with an action key, other keys ignored."""
    found = last_json_object(reply_text(reply), having=ACTION_KEYS)
    return Malformed(found.reason) if isinstance(found, Fault) else read_action(found, outcome_bounds)


def read_action(fields: Mapping[str, object], outcome_bounds: Range = OUTCOME_BOUNDS) -> Action:
    """The action in a parsed JSON object."""
    terminate_early = fields.get("terminate_early", False)
    if not isinstance(terminate_early, bool):
        return Malformed("terminate_early must be true or false")
    estimate = _read_estimate(fields["theta_estimate"]) if "theta_estimate" in fields else None
    if isinstance(estimate, str):
        return Malformed(estimate)
    given = [name for name in ("lottery_a", "lottery_b") if name in fields]
    if len(given) == 1:
        missing = "lottery_b" if given == ["lottery_a"] else "lottery_a"
        return Malformed(f"{missing} is missing; propose both lotteries")
    if not given and estimate is None and not terminate_early:
        return Malformed("lottery_a and lottery_b are missing; propose both, or stop with a theta_estimate")
    readings = [read_lottery(fields[name], name, outcome_bounds) for name in given]
    faults = [reading for reading in readings if isinstance(reading, str)]
    if faults:
        return Malformed(faults[0])
    read = [reading for reading in readings if isinstance(reading, Reading)]
    return Proposal(
        pair=Pair(*(reading.lottery for reading in read)) if read else None,
        estimate=estimate,
        terminate_early=terminate_early,
        is_renormalised=any(reading.is_renormalised for reading in read),
    )


def _read_estimate(value: object) -> Estimate | str:
    if not isinstance(value, Mapping):
        return 'theta_estimate must be an object {"gamma": ..., "lambda": ...}'
    numbers: list[float] = []
    for key in ("gamma", "lambda"):
        if key not in value:
            return f"theta_estimate has no {key!r}"
        number = read_number(value[key], f"theta_estimate.{key}")
        if isinstance(number, str):
            return number
        numbers.append(number)
    return Estimate(*numbers)
