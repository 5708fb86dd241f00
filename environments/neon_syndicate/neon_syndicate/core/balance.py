"""Every number of the rules, the penalties and the reward, each with a name."""

from typing import Final, NamedTuple

from .vocabulary import Lanes, Name, Resource, Tier

TURN_BUDGET: Final = 12
LANE_CAP: Final = 120
REPUTATION_TO_ALLY: Final = 35
REPUTATION_GAIN: Final = 18
REPUTATION_GAIN_WITH_LEVERAGE: Final = 36
NEGOTIATION_INFLUENCE: Final = 8
SCOUT_ENERGY: Final = 2
SCOUT_INTEL_FIRST: Final = 12
SCOUT_INTEL_AGAIN: Final = 6
DEPLOY_ENERGY: Final = 10
OPERATION_INTEL: Final = 15
OPERATION_CREDITS: Final = 10
TRADE_MAX: Final = 25
MESSAGE_MAX_CHARS: Final = 160
MESSAGE_GATE_NUMERATOR: Final = 2
MESSAGE_GATE_DENOMINATOR: Final = 3


class Price(NamedTuple):
    """What a full trade of `TRADE_MAX` units costs: `rate` units of `resource`."""

    resource: Resource
    rate: int


TRADE_PRICE: Final[dict[Resource, Price]] = {
    Resource.CREDITS: Price(Resource.ENERGY, 4),
    Resource.INTEL: Price(Resource.CREDITS, 5),
    Resource.INFLUENCE: Price(Resource.CREDITS, 6),
    Resource.ENERGY: Price(Resource.CREDITS, 4),
}


def trade_cost(resource: Resource, amount: int) -> int:
    """Units paid for `amount` (1..TRADE_MAX) units of `resource`: ceil(rate * amount / TRADE_MAX)."""
    return -(-TRADE_PRICE[resource].rate * amount // TRADE_MAX)


START_LANES: Final[dict[Tier, Lanes]] = {
    Tier.EASY: (30, 20, 20, 20),
    Tier.MEDIUM: (35, 25, 35, 30),
    Tier.HARD: (50, 30, 65, 55),
}


class Penalty(Name):
    """A kind of penalised turn; the same turn may carry several."""

    REPEAT = "repeat"
    MALFORMED = "malformed"
    INVALID_ARGUMENT = "invalid_argument"
    SILENCE = "silence"
    REDUNDANT = "redundant"
    NO_INFLUENCE = "no_influence"
    UNAFFORDABLE_TRADE = "unaffordable_trade"
    NO_ENERGY = "no_energy"
    OPERATION_BEFORE_DEPLOY = "operation_before_deploy"
    OPERATION_WITHOUT_ALLY = "operation_without_ally"
    WRONG_CODE = "wrong_code"
    INCOMPLETE_EXTRACTION = "incomplete_extraction"
    PREMATURE_EXTRACTION = "premature_extraction"
    NOOP = "noop"
    PASSIVE_WHILE_CRITICAL = "passive_while_critical"


PENALTY: Final[dict[Penalty, float]] = {
    Penalty.REPEAT: 0.08,
    Penalty.MALFORMED: 0.08,
    Penalty.INVALID_ARGUMENT: 0.08,
    Penalty.SILENCE: 0.08,
    Penalty.REDUNDANT: 0.08,
    Penalty.NO_INFLUENCE: 0.07,
    Penalty.UNAFFORDABLE_TRADE: 0.07,
    Penalty.NO_ENERGY: 0.08,
    Penalty.OPERATION_BEFORE_DEPLOY: 0.10,
    Penalty.OPERATION_WITHOUT_ALLY: 0.10,
    Penalty.WRONG_CODE: 0.05,
    Penalty.INCOMPLETE_EXTRACTION: 0.10,
    Penalty.PREMATURE_EXTRACTION: 0.10,
    Penalty.NOOP: 0.06,
    Penalty.PASSIVE_WHILE_CRITICAL: 0.04,
}

WEIGHT_ALLIANCE: Final = 0.30
WEIGHT_RESOURCES: Final = 0.25
WEIGHT_OPERATION: Final = 0.20
WEIGHT_MESSAGE: Final = 0.15
WEIGHT_EXTRACTION: Final = 0.10
HALF_CREDIT: Final = 0.5
"""Share of the operation weight paid once deployed, and of the extraction weight once the operation is done."""

WIN_BONUS: Final = 0.30
"""A win grades at least 0.95 and a failure below 0.90, so with 0.30 of penalties a win still returns more."""
