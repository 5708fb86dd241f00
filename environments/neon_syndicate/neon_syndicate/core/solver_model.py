"""The solver's view of a mission: compact positions, their moves, and a lower bound of the turns to a win.

The moves restate the rules in arithmetic on small tuples, for speed; the tests hold them against the simulator.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from neon_syndicate.core import balance
from neon_syndicate.core.actions import (
    Action,
    DeployAsset,
    NegotiatePact,
    Noop,
    RunOperation,
    ScoutSector,
    Signature,
    TradeResources,
    signature,
)
from neon_syndicate.core.balance import LANE_CAP, PENALTY, REPUTATION_TO_ALLY, TRADE_MAX, Penalty
from neon_syndicate.core.mission import Mission, Packet
from neon_syndicate.core.state import State
from neon_syndicate.core.vocabulary import FACTIONS, HOME, LANE, RESOURCES, SEAT, SECTORS, Resource, Threat

Reputation = tuple[int, int, int, int]


class Position(NamedTuple):
    """A state of the world as far as it matters for what can still happen."""

    credits: int
    intel: int
    """At most what the mission needs: nothing is paid in intel."""
    influence: int
    energy: int
    reputation: Reputation
    scouted: int
    """Bit mask in the order of `SECTORS`."""
    is_deployed: bool
    """In the target sector."""
    is_done: bool
    threat: int
    last: Signature | None


class Move(NamedTuple):
    """An action, the position it leads to, and the sum of the penalties it earns."""

    action: Action
    position: Position
    loss: float


class _Trade(NamedTuple):
    action: TradeResources
    lane: int
    amount: int
    paid_lane: int
    cost: int


def _efficient_trades() -> tuple[_Trade, ...]:
    """For each cost of a trade only the largest amount it buys."""
    trades = []
    for resource in RESOURCES:
        largest = {balance.trade_cost(resource, amount): amount for amount in range(1, TRADE_MAX + 1)}
        paid_lane = LANE[balance.TRADE_PRICE[resource].resource]
        for cost, amount in largest.items():
            trades.append(_Trade(TradeResources(resource, amount), LANE[resource], amount, paid_lane, cost))
    return tuple(trades)


_TRADES: Final = _efficient_trades()
_SCOUTS: Final = tuple((ScoutSector(sector), 1 << bit) for bit, sector in enumerate(SECTORS))
_PACTS: Final = tuple((NegotiatePact(faction), 1 << SECTORS.index(HOME[faction])) for faction in FACTIONS)
_WRONG_CODE: Final = RunOperation("wrong code")
_SIGNATURES: Final = {action: signature(action) for action in (*(t.action for t in _TRADES), *(s for s, _ in _SCOUTS))}
_CREDIT_RATE: Final = balance.TRADE_PRICE[Resource.CREDITS].rate
_INFLUENCE_RATE: Final = balance.TRADE_PRICE[Resource.INFLUENCE].rate
_ENERGY_RATE: Final = balance.TRADE_PRICE[Resource.ENERGY].rate
_NEVER: Final = 10**6


class Model:
    """One mission as the solver plays it; a win must know at least `num_keywords` code words.

    Where losses do not count, threat and repeats play no part and positions leave them out.
    """

    def __init__(self, mission: Mission, num_keywords: int, is_loss_counted: bool) -> None:
        self.mission = mission
        self.is_loss_counted = is_loss_counted
        self._deploy = DeployAsset(mission.sector)
        self._operation = RunOperation(mission.code)
        self._target_bit = 1 << SECTORS.index(mission.sector)
        packets = [mission.packets.get(sector, Packet()) for sector in SECTORS]
        masks = range(1 << len(SECTORS))
        opened = [[mission.public, *(p for bit, p in enumerate(packets) if mask >> bit & 1)] for mask in masks]
        self._has_code = [any(packet.has_code for packet in found) for found in opened]
        self.known_keywords = [
            tuple(mission.keywords[word] for packet in found for word in packet.keywords) for found in opened
        ]
        """By mask of scouted sectors."""
        self._is_informed = [self._has_code[m] and len(self.known_keywords[m]) >= num_keywords for m in masks]
        self._outlooks: dict[tuple[int, Reputation], tuple[tuple[int, int], ...]] = {}

    def position(self, state: State) -> Position:
        """The position of a state."""
        world = state.world
        credits, intel, influence, energy = world.lanes
        return Position(
            credits,
            min(intel, self.mission.need[1]),
            influence,
            energy,
            world.reputation,
            sum(1 << SECTORS.index(sector) for sector in world.scouted),
            world.deployed == self.mission.sector,
            world.is_operation_done,
            world.threat if self.is_loss_counted else 0,
            state.ledger.repeat_signature if self.is_loss_counted else None,
        )

    def is_won(self, at: Position) -> bool:
        """Whether extracting now wins."""
        return (
            at.is_done
            and self._is_informed[at.scouted]
            and all(has >= need for has, need in zip(at[:4], self.mission.need, strict=True))
            and all(at.reputation[SEAT[ally]] >= REPUTATION_TO_ALLY for ally in self.mission.allies)
        )

    def moves(self, at: Position) -> Iterator[Move]:
        """Every move worth a turn; where losses count also pauses, which part two equal actions."""
        yield from self._scouts(at)
        yield from self._pacts(at)
        yield from self._trades(at)
        yield from self._field_moves(at)
        if self.is_loss_counted:
            yield from self._pauses(at)

    def turns_bound(self, at: Position) -> int:
        """A lower bound of the turns to a win, the extraction included."""
        fewest = _NEVER
        for num_scouts, num_pacts in self._outlook(at.scouted, at.reputation):
            trades = self._trades_bound(at, num_scouts, num_pacts)
            fewest = min(fewest, num_scouts + num_pacts + trades)
        return fewest + (not at.is_deployed and not at.is_done) + (not at.is_done) + 1

    def _trades_bound(self, at: Position, num_scouts: int, num_pacts: int) -> int:
        """Trades (or scouts in their place) that the shortfalls call for, at most `TRADE_MAX` units each."""
        need = self.mission.need
        influence = need[2] + balance.NEGOTIATION_INFLUENCE * num_pacts - at.influence
        energy = need[3] + balance.SCOUT_ENERGY * num_scouts - at.energy
        credits, intel = need[0] - at.credits, need[1] - at.intel - balance.SCOUT_INTEL_FIRST * num_scouts
        if not at.is_done:
            credits -= balance.OPERATION_CREDITS
            intel -= balance.OPERATION_INTEL
            energy += 0 if at.is_deployed else balance.DEPLOY_ENERGY
        if influence > 0:
            credits -= -_INFLUENCE_RATE * influence // TRADE_MAX
        if energy > 0:
            credits -= -_ENERGY_RATE * energy // TRADE_MAX
        if credits > 0:
            energy -= -_CREDIT_RATE * credits // TRADE_MAX
        return -sum(-short // TRADE_MAX for short in (credits, intel, influence, energy) if short > 0)

    def _outlook(self, scouted: int, reputation: Reputation) -> tuple[tuple[int, int], ...]:
        """The pairs (scouts, pacts) still needed, one for each set of sectors that informs enough."""
        key = (scouted, reputation)
        if key not in self._outlooks:
            pairs = set()
            for mask, is_informed in enumerate(self._is_informed):
                if is_informed and mask & scouted == scouted:
                    pacts = sum(self._pacts_needed(mask, reputation[SEAT[ally]], ally) for ally in self.mission.allies)
                    pairs.add(((mask ^ scouted).bit_count(), pacts))
            self._outlooks[key] = tuple(pairs)
        return self._outlooks[key]

    def _pacts_needed(self, scouted: int, reputation: int, ally: str) -> int:
        missing = REPUTATION_TO_ALLY - reputation
        has_leverage = scouted & _PACTS[SEAT[ally]][1]  # type: ignore[index]
        gain = balance.REPUTATION_GAIN_WITH_LEVERAGE if has_leverage else balance.REPUTATION_GAIN
        return max(0, -(-missing // gain))

    def _scouts(self, at: Position) -> Iterator[Move]:
        credits, intel, influence, energy, reputation, scouted, is_deployed, is_done, threat, last = at
        if energy < balance.SCOUT_ENERGY:
            return
        for action, bit in _SCOUTS:
            is_first = not scouted & bit
            gain = balance.SCOUT_INTEL_FIRST if is_first else balance.SCOUT_INTEL_AGAIN
            yield self._move(
                action,
                0.0,
                (credits, intel + gain, influence, energy - balance.SCOUT_ENERGY),
                (reputation, scouted | bit, is_deployed, is_done),
                threat - 1 if is_first and bit == self._target_bit else threat,
                last,
            )

    def _pacts(self, at: Position) -> Iterator[Move]:
        credits, intel, influence, energy, reputation, scouted, is_deployed, is_done, threat, last = at
        if influence < balance.NEGOTIATION_INFLUENCE:
            return
        for seat, (action, home) in enumerate(_PACTS):
            if reputation[seat] >= REPUTATION_TO_ALLY:
                continue
            gain = balance.REPUTATION_GAIN_WITH_LEVERAGE if scouted & home else balance.REPUTATION_GAIN
            first, second, third, fourth = (held + gain * (other == seat) for other, held in enumerate(reputation))
            yield self._move(
                action,
                0.0,
                (credits, intel, influence - balance.NEGOTIATION_INFLUENCE, energy),
                ((first, second, third, fourth), scouted, is_deployed, is_done),
                threat,
                last,
            )

    def _trades(self, at: Position) -> Iterator[Move]:
        is_critical = self.is_loss_counted and at.threat == Threat.CRITICAL
        loss = PENALTY[Penalty.PASSIVE_WHILE_CRITICAL] if is_critical else 0.0
        for action, lane, amount, paid_lane, cost in _TRADES:
            if at[paid_lane] < cost:  # type: ignore[operator]
                continue
            lanes = list(at[:4])
            lanes[paid_lane] -= cost
            lanes[lane] = min(LANE_CAP, lanes[lane] + amount)
            credits, intel, influence, energy = lanes
            yield self._move(action, loss, (credits, intel, influence, energy), at[4:8], at.threat, at.last)

    def _field_moves(self, at: Position) -> Iterator[Move]:
        credits, intel, influence, energy, reputation, scouted, is_deployed, is_done, threat, last = at
        if not is_deployed and energy >= balance.DEPLOY_ENERGY:
            paid = (credits, intel, influence, energy - balance.DEPLOY_ENERGY)
            yield self._move(self._deploy, 0.0, paid, (reputation, scouted, True, is_done), threat, last)
        if self._is_ready(at) and self._has_code[scouted]:
            gained = (
                min(LANE_CAP, credits + balance.OPERATION_CREDITS),
                intel + balance.OPERATION_INTEL,
                influence,
                energy,
            )
            yield self._move(self._operation, 0.0, gained, (reputation, scouted, True, True), threat - 1, last)

    def _pauses(self, at: Position) -> Iterator[Move]:
        """Penalised actions that change no lane; those that cost as much as a repeat can never help."""
        passive_loss = PENALTY[Penalty.PASSIVE_WHILE_CRITICAL] if at.threat == Threat.CRITICAL else 0.0
        lanes, rest = at[:4], at[4:8]
        yield self._move(Noop(), PENALTY[Penalty.NOOP] + passive_loss, lanes, rest, at.threat + 1, at.last)
        if self._is_ready(at):
            yield self._move(_WRONG_CODE, PENALTY[Penalty.WRONG_CODE], lanes, rest, at.threat + 1, at.last)
        if at.influence < balance.NEGOTIATION_INFLUENCE:
            for seat, (pact, _) in enumerate(_PACTS):
                if at.reputation[seat] < REPUTATION_TO_ALLY:
                    yield self._move(pact, PENALTY[Penalty.NO_INFLUENCE], lanes, rest, at.threat, at.last)
        for trade in _TRADES:
            if trade.amount == TRADE_MAX and lanes[trade.paid_lane] < trade.cost:
                loss = PENALTY[Penalty.UNAFFORDABLE_TRADE] + passive_loss
                yield self._move(trade.action, loss, lanes, rest, at.threat, at.last)

    def _is_ready(self, at: Position) -> bool:
        return at.is_deployed and not at.is_done and max(at.reputation) >= REPUTATION_TO_ALLY

    def _move(
        self,
        action: Action,
        loss: float,
        lanes: tuple[int, int, int, int],
        rest: tuple[Reputation, int, bool, bool],
        threat: int,
        last: Signature | None,
    ) -> Move:
        credits, intel, influence, energy = lanes
        intel = min(intel, self.mission.need[1])
        if not self.is_loss_counted:
            return Move(action, Position(credits, intel, influence, energy, *rest, 0, None), 0.0)
        played = _SIGNATURES.get(action) or signature(action)
        if played == last:
            loss += PENALTY[Penalty.REPEAT]
        threat = max(Threat.LOW, min(Threat.CRITICAL, threat))
        return Move(action, Position(credits, intel, influence, energy, *rest, int(threat), played), loss)
