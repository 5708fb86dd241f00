"""The rules: one function per verb, from the world and an action to the next world and the penalties earned.

A refused action leaves the world as it is. The step rules that hold for every verb (repeats, passivity under a
critical threat) are the simulator's.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from . import balance
from .actions import (
    Action,
    DeployAsset,
    NegotiatePact,
    Noop,
    RunOperation,
    ScoutSector,
    SecureExtraction,
    TradeResources,
)
from .balance import LANE_CAP, Penalty
from .clues import confirm_sector, reveal
from .codewords import canonical, message_score, passes_gate
from .mission import Mission
from .state import Extraction, World
from .vocabulary import HOME, LANE, SEAT, THREATS, Lanes, Resource, Threat, lane_tuple


class Verdict(NamedTuple):
    """What an action does: the next world, the penalties, and whether the rules refused it."""

    world: World
    penalties: tuple[Penalty, ...] = ()
    is_refused: bool = False


def scout_sector(mission: Mission, world: World, action: ScoutSector) -> Verdict:
    """Energy for intel; the first visit opens the sector's packet and gives leverage on the faction at home there."""
    if held(world, Resource.ENERGY) < balance.SCOUT_ENERGY:
        return _refuse(world, Penalty.NO_ENERGY)
    is_first = action.sector not in world.scouted
    intel = balance.SCOUT_INTEL_FIRST if is_first else balance.SCOUT_INTEL_AGAIN
    lanes = _exchange(world.lanes, Resource.ENERGY, balance.SCOUT_ENERGY, Resource.INTEL, intel)
    if not is_first:
        return Verdict(world._replace(lanes=lanes))
    is_target = action.sector == mission.sector
    return Verdict(
        world._replace(
            lanes=lanes,
            scouted=(*world.scouted, action.sector),
            known=reveal(world.known, mission, action.sector),
            threat=_shift(world.threat, -1) if is_target else world.threat,
        )
    )


def negotiate_pact(mission: Mission, world: World, action: NegotiatePact) -> Verdict:
    """Influence for reputation, twice as much with leverage. An existing ally is not charged."""
    seat = SEAT[action.faction]
    if world.reputation[seat] >= balance.REPUTATION_TO_ALLY:
        return _refuse(world, Penalty.REDUNDANT)
    if held(world, Resource.INFLUENCE) < balance.NEGOTIATION_INFLUENCE:
        return _refuse(world, Penalty.NO_INFLUENCE)
    has_leverage = HOME[action.faction] in world.scouted
    reputation = list(world.reputation)
    reputation[seat] += balance.REPUTATION_GAIN_WITH_LEVERAGE if has_leverage else balance.REPUTATION_GAIN
    return Verdict(
        world._replace(
            lanes=_gain(world.lanes, Resource.INFLUENCE, -balance.NEGOTIATION_INFLUENCE),
            reputation=lane_tuple(reputation),
        )
    )


def trade_resources(mission: Mission, world: World, action: TradeResources) -> Verdict:
    """Units of one lane for fewer units of another."""
    if not 1 <= action.amount <= balance.TRADE_MAX:
        return _refuse(world, Penalty.INVALID_ARGUMENT)
    paid = balance.TRADE_PRICE[action.resource].resource
    cost = balance.trade_cost(action.resource, action.amount)
    if held(world, paid) < cost:
        return _refuse(world, Penalty.UNAFFORDABLE_TRADE)
    return Verdict(world._replace(lanes=_exchange(world.lanes, paid, cost, action.resource, action.amount)))


def deploy_asset(mission: Mission, world: World, action: DeployAsset) -> Verdict:
    """Energy to stand in a sector; deploying again moves there."""
    if action.sector == world.deployed:
        return _refuse(world, Penalty.REDUNDANT)
    if held(world, Resource.ENERGY) < balance.DEPLOY_ENERGY:
        return _refuse(world, Penalty.NO_ENERGY)
    return Verdict(
        world._replace(lanes=_gain(world.lanes, Resource.ENERGY, -balance.DEPLOY_ENERGY), deployed=action.sector)
    )


def run_operation(mission: Mission, world: World, action: RunOperation) -> Verdict:
    """Succeeds once and for all with the revealed code in the target sector. Every failed try reads the same."""
    if world.is_operation_done:
        return _refuse(world, Penalty.REDUNDANT)
    if world.deployed is None:
        return _refuse(world, Penalty.OPERATION_BEFORE_DEPLOY)
    if not world.allies:
        return _refuse(world, Penalty.OPERATION_WITHOUT_ALLY)
    is_right = world.known.code is not None and canonical(action.operation_code) == canonical(world.known.code)
    if not is_right or world.deployed != mission.sector:
        return Verdict(world._replace(threat=_shift(world.threat, 1)), (Penalty.WRONG_CODE,), is_refused=True)
    lanes = _gain(world.lanes, Resource.INTEL, balance.OPERATION_INTEL)
    return Verdict(
        world._replace(
            lanes=_gain(lanes, Resource.CREDITS, balance.OPERATION_CREDITS),
            threat=_shift(world.threat, -1),
            known=confirm_sector(world.known, mission),
            is_operation_done=True,
        )
    )


def secure_extraction(mission: Mission, world: World, action: SecureExtraction) -> Verdict:
    """Ends the episode once the operation is done; before that it is refused, so giving up early pays nothing."""
    if len(action.message) > balance.MESSAGE_MAX_CHARS:
        return _refuse(world, Penalty.INCOMPLETE_EXTRACTION)
    if not world.is_operation_done:
        return _refuse(world, Penalty.PREMATURE_EXTRACTION)
    is_target = action.sector == mission.sector
    score = message_score(action.message, mission.keywords, world.known.keywords) if is_target else 0.0
    is_success = (
        is_target
        and passes_gate(score, len(mission.keywords))
        and all(has >= need for has, need in zip(world.lanes, mission.need, strict=True))
        and all(world.reputation[SEAT[ally]] >= balance.REPUTATION_TO_ALLY for ally in mission.allies)
    )
    return Verdict(world._replace(extraction=Extraction(score, is_success)))


def noop(mission: Mission, world: World, action: Noop) -> Verdict:
    """Waiting lets the threat grow."""
    return Verdict(world._replace(threat=_shift(world.threat, 1)), (Penalty.NOOP,))


RULES: Final[dict[type[Action], Callable[[Mission, World, Any], Verdict]]] = {
    ScoutSector: scout_sector,
    NegotiatePact: negotiate_pact,
    TradeResources: trade_resources,
    DeployAsset: deploy_asset,
    RunOperation: run_operation,
    SecureExtraction: secure_extraction,
    Noop: noop,
}
"""The rule of each action type."""

PASSIVE: Final = (Noop, TradeResources)
"""Action types penalised while the threat is critical."""


def held(world: World, resource: Resource) -> int:
    """Units of one lane."""
    return world.lanes[LANE[resource]]


def _gain(lanes: Lanes, resource: Resource, amount: int) -> Lanes:
    """The lanes with `amount` added to one; a gain stops at the cap."""
    changed, lane = list(lanes), LANE[resource]
    changed[lane] = min(LANE_CAP, changed[lane] + amount)
    return lane_tuple(changed)


def _exchange(lanes: Lanes, paid: Resource, cost: int, gained: Resource, amount: int) -> Lanes:
    """The lanes with `cost` taken from one and `amount` added to another."""
    changed, lane = list(lanes), LANE[gained]
    changed[LANE[paid]] -= cost
    changed[lane] = min(LANE_CAP, changed[lane] + amount)
    return lane_tuple(changed)


def _shift(threat: Threat, steps: int) -> Threat:
    return THREATS[min(len(THREATS) - 1, max(0, threat + steps))]


def _refuse(world: World, penalty: Penalty) -> Verdict:
    return Verdict(world, (penalty,), is_refused=True)
