"""A wrapper that checks a proposed action against the observation and plays a fallback where it would be penalised.

Something the user asks for: it never plays for a policy in training or in its evaluation.
"""

from dataclasses import dataclass
from random import Random

from . import balance
from .actions import (
    Action,
    DeployAsset,
    Malformed,
    NegotiatePact,
    Noop,
    RunOperation,
    ScoutSector,
    SecureExtraction,
    TradeResources,
)
from .codewords import canonical, message_score
from .observation import Observation
from .strategies import Strategy, can_afford, held, heuristic, is_repeat
from .vocabulary import Resource, Threat


@dataclass(frozen=True, slots=True)
class Decision:
    """What the wrapper plays; `objection` says why the proposal was overridden, or is None."""

    played: Action
    proposed: Action | Malformed
    objection: str | None


def decide(seen: Observation, proposed: Action | Malformed, rng: Random, fallback: Strategy = heuristic) -> Decision:
    """Play the proposal if nothing visible speaks against it, else the fallback."""
    reason = objection(seen, proposed)
    if isinstance(proposed, Malformed) or reason is not None:
        return Decision(fallback(seen, rng), proposed, reason or "malformed")
    return Decision(proposed, proposed, None)


def objection(seen: Observation, action: Action | Malformed) -> str | None:
    """Why an action would be penalised or would give the mission away, by the observation alone; None if fine."""
    if isinstance(action, Malformed):
        return "malformed"
    if is_repeat(seen, action):
        return "repeat"
    if seen.world.threat is Threat.CRITICAL and isinstance(action, TradeResources):
        return "passive while critical"
    match action:
        case Noop():
            return "waiting"
        case ScoutSector() if held(seen, Resource.ENERGY) < balance.SCOUT_ENERGY:
            return "not enough energy"
        case NegotiatePact(faction):
            return _pact_objection(seen, faction in seen.world.allies)
        case TradeResources(resource, amount):
            return _trade_objection(seen, resource, amount)
        case DeployAsset():
            return _deploy_objection(seen, action)
        case RunOperation(code):
            return _operation_objection(seen, code)
        case SecureExtraction():
            return _extraction_objection(seen, action)
    return None


def _pact_objection(seen: Observation, is_ally: bool) -> str | None:
    if is_ally:
        return "already an ally"
    return "not enough influence" if held(seen, Resource.INFLUENCE) < balance.NEGOTIATION_INFLUENCE else None


def _trade_objection(seen: Observation, resource: Resource, amount: int) -> str | None:
    if not 1 <= amount <= balance.TRADE_MAX:
        return "amount out of range"
    return None if can_afford(seen, resource, amount) else "cannot pay the trade"


def _deploy_objection(seen: Observation, action: DeployAsset) -> str | None:
    if action.sector == seen.world.deployed:
        return "already there"
    if held(seen, Resource.ENERGY) < balance.DEPLOY_ENERGY:
        return "not enough energy"
    return None if action.sector == seen.world.known.sector else "not known as the target sector"


def _operation_objection(seen: Observation, code: str) -> str | None:
    if seen.world.is_operation_done:
        return "operation already done"
    if seen.world.deployed is None or seen.world.deployed != seen.world.known.sector:
        return "not deployed in the target sector"
    if not seen.world.allies:
        return "no ally"
    if seen.world.known.code is None or canonical(code) != canonical(seen.world.known.code):
        return "not the revealed code"
    return None


def _extraction_objection(seen: Observation, action: SecureExtraction) -> str | None:
    known = seen.world.known
    if not seen.world.is_operation_done:
        return "operation not done"
    if action.sector != known.sector:
        return "not the target sector"
    if any(has < need for has, need in zip(seen.world.lanes, seen.briefing.need, strict=True)):
        return "a resource is short"
    if len(set(known.allies) & set(seen.world.allies)) < seen.briefing.num_allies_needed:
        return "an ally is missing"
    is_short = len(action.message) <= balance.MESSAGE_MAX_CHARS
    is_full = is_short and known.keywords and message_score(action.message, known.keywords, known.keywords) == 1.0
    return None if is_full else "not exactly the code words found"
