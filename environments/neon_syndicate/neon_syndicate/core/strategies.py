"""Ways to play that look at the observation alone, from the worst to a careful one, and what is legal at all."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Final

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
from .balance import REPUTATION_TO_ALLY, TRADE_MAX
from .observation import Observation
from .vocabulary import FACTIONS, HOME, LANE, RESOURCES, SEAT, SECTORS, Faction, Resource, Sector, Threat

Strategy = Callable[[Observation, Random], Action]
"""An action for an observation; chance comes from the generator passed in, never from elsewhere."""

_CURRICULUM_INTEL: Final = 50
_CURRICULUM_INFLUENCE: Final = 30
_CURRICULUM_TRADE: Final = 12


def held(seen: Observation, resource: Resource) -> int:
    """Units of one lane."""
    return seen.world.lanes[LANE[resource]]


def can_afford(seen: Observation, resource: Resource, amount: int) -> bool:
    """Whether a trade can be paid."""
    return held(seen, balance.TRADE_PRICE[resource].resource) >= balance.trade_cost(resource, amount)


def legal_actions(seen: Observation) -> tuple[Action, ...]:
    """Every action the rules would not refuse as far as the agent can tell, with full trades and honest messages."""
    if seen.is_finished:
        return ()
    actions: list[Action] = [Noop()]
    if held(seen, Resource.ENERGY) >= balance.SCOUT_ENERGY:
        actions += [ScoutSector(sector) for sector in SECTORS]
    if held(seen, Resource.INFLUENCE) >= balance.NEGOTIATION_INFLUENCE:
        actions += [NegotiatePact(faction) for faction in FACTIONS if faction not in seen.world.allies]
    actions += [TradeResources(lane, TRADE_MAX) for lane in RESOURCES if can_afford(seen, lane, TRADE_MAX)]
    if held(seen, Resource.ENERGY) >= balance.DEPLOY_ENERGY:
        actions += [DeployAsset(sector) for sector in SECTORS if sector != seen.world.deployed]
    if seen.world.deployed and seen.world.allies and seen.world.known.code and not seen.world.is_operation_done:
        actions.append(RunOperation(seen.world.known.code))
    if seen.world.is_operation_done:
        message = ", ".join(seen.world.known.keywords) or "unknown"
        actions += [SecureExtraction(sector, message) for sector in SECTORS]
    return tuple(actions)


def idle(seen: Observation, rng: Random) -> Action:
    """Wait to the end."""
    return Noop()


def random_legal(seen: Observation, rng: Random) -> Action:
    """A legal verb at random, then a legal action of it at random."""
    actions = legal_actions(seen)
    verb = rng.choice(sorted({action.verb for action in actions}))
    return rng.choice([action for action in actions if action.verb == verb])


def curriculum(seen: Observation, rng: Random) -> Action:
    """The order of the rule book, once through: an ally, scouts, the other allies, deploy, operation, out.

    It never tops up a lane for its own sake, so it falls short of the needs.
    """
    known = seen.world.known
    can_pay_pact = held(seen, Resource.INFLUENCE) >= balance.NEGOTIATION_INFLUENCE
    missing = [faction for faction in known.allies if faction not in seen.world.allies]
    if not seen.world.allies and missing and can_pay_pact:
        return NegotiatePact(missing[0])
    is_curious = known.code is None or held(seen, Resource.INTEL) < _CURRICULUM_INTEL
    if is_curious and held(seen, Resource.ENERGY) >= balance.SCOUT_ENERGY:
        unseen = [sector for sector in _trail(seen) if sector not in seen.world.scouted]
        if unseen:
            return ScoutSector(unseen[0])
    if missing and can_pay_pact:
        return NegotiatePact(missing[0])
    if held(seen, Resource.INFLUENCE) < _CURRICULUM_INFLUENCE and can_afford(
        seen, Resource.INFLUENCE, _CURRICULUM_TRADE
    ):
        return TradeResources(Resource.INFLUENCE, _CURRICULUM_TRADE)
    if seen.world.deployed is None:
        return DeployAsset(known.sector or rng.choice(SECTORS))
    if not seen.world.is_operation_done:
        return RunOperation(known.code or "unknown")
    return SecureExtraction(known.sector or seen.world.deployed, ", ".join(known.keywords) or "unknown")


def heuristic(seen: Observation, rng: Random) -> Action:
    """The first sensible step that is not a repeat; where a lead is ambiguous, a guess."""
    options = list(_sensible(seen, rng))
    if seen.world.threat is Threat.CRITICAL:
        options.sort(key=lambda action: isinstance(action, TradeResources))
    fresh = [action for action in options if not is_repeat(seen, action)]
    return (fresh or options or [Noop()])[0]


def is_repeat(seen: Observation, action: Action) -> bool:
    """Whether the action repeats the last one, as far as the agent remembers."""
    return seen.repeat_signature == action.signature


def _sensible(seen: Observation, rng: Random) -> Iterator[Action]:
    """Useful actions, the most urgent first."""
    known = seen.world.known
    can_scout = held(seen, Resource.ENERGY) >= balance.SCOUT_ENERGY
    missing = [faction for faction in known.allies if faction not in seen.world.allies]
    if can_scout:
        yield from (ScoutSector(sector) for sector in _leads(seen, rng))
    if held(seen, Resource.INFLUENCE) >= balance.NEGOTIATION_INFLUENCE:
        missing.sort(key=lambda faction: (faction not in seen.world.leverage, -seen.world.reputation[SEAT[faction]]))
        yield from (_approach(seen, faction) for faction in missing)
    if not seen.world.is_operation_done and known.code and known.sector:
        if seen.world.deployed == known.sector and seen.world.allies:
            yield RunOperation(known.code)
        elif seen.world.deployed != known.sector and held(seen, Resource.ENERGY) >= balance.DEPLOY_ENERGY:
            yield DeployAsset(known.sector)
    shortfalls = _shortfalls(seen, len(missing))
    yield from _trades(seen, shortfalls)
    if not shortfalls and not missing and seen.world.is_operation_done and known.sector:
        yield SecureExtraction(known.sector, ", ".join(known.keywords) or "unknown")
    if can_scout:
        yield from (ScoutSector(sector) for sector in SECTORS)


def _leads(seen: Observation, rng: Random) -> list[Sector]:
    """Where the next packet may be, while something is still to be found."""
    known = seen.world.known
    is_informed = known.code and known.sector and len(known.keywords) >= seen.briefing.num_keywords_needed
    if is_informed and len(known.allies) >= seen.briefing.num_allies_needed:
        return []
    for lead in reversed(known.leads):
        unseen = [sector for sector in lead if sector not in seen.world.scouted]
        if len(unseen) == len(lead):
            return rng.sample(unseen, len(unseen))
    unseen = [sector for sector in _trail(seen) if sector not in seen.world.scouted]
    return unseen or [sector for sector in SECTORS if sector not in seen.world.scouted]


def _trail(seen: Observation) -> list[Sector]:
    """The sectors named so far, in the order they came up, then the others."""
    named = [sector for lead in seen.world.known.leads for sector in lead]
    target = [seen.world.known.sector] if seen.world.known.sector else []
    return list(dict.fromkeys((*named, *target, *SECTORS)))


def _approach(seen: Observation, faction: Faction) -> Action:
    """Negotiate where one pact will do, else first scout the faction's home for leverage."""
    is_near = seen.world.reputation[SEAT[faction]] + balance.REPUTATION_GAIN >= REPUTATION_TO_ALLY
    if faction in seen.world.leverage or is_near or held(seen, Resource.ENERGY) < balance.SCOUT_ENERGY:
        return NegotiatePact(faction)
    return ScoutSector(HOME[faction])


def _shortfalls(seen: Observation, num_missing_allies: int) -> dict[Resource, int]:
    """Units still to be traded for, after what is yet to be paid and earned; the dearest lane last."""
    ahead = dict(zip(RESOURCES, seen.briefing.need, strict=True))
    ahead[Resource.INFLUENCE] += balance.NEGOTIATION_INFLUENCE * num_missing_allies
    if not seen.world.is_operation_done:
        ahead[Resource.CREDITS] -= balance.OPERATION_CREDITS
        ahead[Resource.INTEL] -= balance.OPERATION_INTEL
        ahead[Resource.ENERGY] += 0 if seen.world.deployed else balance.DEPLOY_ENERGY
    short = {lane: ahead[lane] - held(seen, lane) for lane in (*RESOURCES[1:], Resource.CREDITS)}
    return {lane: units for lane, units in short.items() if units > 0}


def _trades(seen: Observation, shortfalls: dict[Resource, int]) -> Iterator[Action]:
    for lane, units in sorted(shortfalls.items(), key=lambda item: (item[0] is Resource.CREDITS, -item[1])):
        amount = min(units, TRADE_MAX)
        if can_afford(seen, lane, amount):
            yield TradeResources(lane, amount)
        elif lane is not Resource.CREDITS and can_afford(seen, Resource.CREDITS, TRADE_MAX):
            yield TradeResources(Resource.CREDITS, TRADE_MAX)
