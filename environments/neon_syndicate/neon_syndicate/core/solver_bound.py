"""A lower bound of the turns a position still needs to win."""

from typing import Final

from . import balance
from .balance import REPUTATION_TO_ALLY, TRADE_MAX
from .mission import Mission
from .solver_position import Clues, Position, Reputation
from .vocabulary import HOME, SEAT, SECTORS, Faction, Resource

_CREDIT_RATE: Final = balance.TRADE_PRICE[Resource.CREDITS].rate
_INFLUENCE_RATE: Final = balance.TRADE_PRICE[Resource.INFLUENCE].rate
_ENERGY_RATE: Final = balance.TRADE_PRICE[Resource.ENERGY].rate
_NEVER: Final = 10**6


class TurnsBound:
    """Counts scouts, pacts, deployment, operation, extraction, and the fewest trades the shortfalls call for."""

    def __init__(self, mission: Mission, clues: Clues) -> None:
        self._mission = mission
        self._clues = clues
        self._outlooks: dict[tuple[int, Reputation], frozenset[tuple[int, int]]] = {}

    def turns(self, at: Position) -> int:
        """At most the turns of any win from here, the extraction included."""
        fewest = _NEVER
        for num_scouts, num_pacts in self._outlook(at.scouted, at.reputation):
            fewest = min(fewest, num_scouts + num_pacts + self._trades(at, num_scouts, num_pacts))
        return fewest + (not at.is_deployed and not at.is_done) + (not at.is_done) + 1

    def _outlook(self, scouted: int, reputation: Reputation) -> frozenset[tuple[int, int]]:
        """The pairs (scouts, pacts) still needed, one for each set of sectors that reveals enough."""
        key = (scouted, reputation)
        if key not in self._outlooks:
            self._outlooks[key] = frozenset(
                ((mask ^ scouted).bit_count(), sum(_pacts(ally, mask, reputation) for ally in self._mission.allies))
                for mask, is_enough in enumerate(self._clues.is_enough)
                if is_enough and mask & scouted == scouted
            )
        return self._outlooks[key]

    def _trades(self, at: Position, num_scouts: int, num_pacts: int) -> int:
        """Trades, or further scouts in their place: each brings at most `TRADE_MAX` units of one lane."""
        credit, intel, influence, energy = (n - h for n, h in zip(self._mission.need, at.lanes, strict=True))
        intel -= balance.SCOUT_INTEL_FIRST * num_scouts
        influence += balance.NEGOTIATION_INFLUENCE * num_pacts
        energy += balance.SCOUT_ENERGY * num_scouts
        if not at.is_done:
            credit -= balance.OPERATION_CREDITS
            intel -= balance.OPERATION_INTEL
            energy += 0 if at.is_deployed else balance.DEPLOY_ENERGY
        # What the trades for influence and energy cost at the least, and then those for credits.
        credit += _part(_INFLUENCE_RATE, influence) + _part(_ENERGY_RATE, energy)
        energy += _part(_CREDIT_RATE, credit)
        return sum(-(-short // TRADE_MAX) for short in (credit, intel, influence, energy) if short > 0)


def _part(rate: int, units: int) -> int:
    return -(-rate * units // TRADE_MAX) if units > 0 else 0


def _pacts(ally: Faction, scouted: int, reputation: Reputation) -> int:
    """Pacts until a faction is an ally if all of `scouted` is scouted first."""
    missing = REPUTATION_TO_ALLY - reputation[SEAT[ally]]
    has_leverage = scouted >> SECTORS.index(HOME[ally]) & 1
    gain = balance.REPUTATION_GAIN_WITH_LEVERAGE if has_leverage else balance.REPUTATION_GAIN
    return max(0, -(-missing // gain))
