"""The moves of a position.

They restate the rules in arithmetic on small tuples, for speed; the tests hold them against the simulator.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from . import balance
from .actions import (
    Action,
    DeployAsset,
    NegotiatePact,
    Noop,
    RunOperation,
    ScoutSector,
    TradeResources,
)
from .balance import LANE_CAP, PENALTY, REPUTATION_TO_ALLY, TRADE_MAX, Penalty
from .mission import Mission
from .solver_position import INTEL, Clues, Position
from .vocabulary import FACTIONS, HOME, LANE, RESOURCES, SECTORS, Lanes, Resource, Threat, lane_tuple

_CREDITS: Final = LANE[Resource.CREDITS]
_INFLUENCE: Final = LANE[Resource.INFLUENCE]
_ENERGY: Final = LANE[Resource.ENERGY]


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
_FREQUENT: Final[tuple[Action, ...]] = (
    *(trade.action for trade in _TRADES),
    *(scout for scout, _ in _SCOUTS),
    *(pact for pact, _ in _PACTS),
)
_SIGNATURES: Final = {action: action.signature for action in _FREQUENT}


class Moves:
    """The moves of one mission; where losses do not count, threat and repeats play no part."""

    def __init__(self, mission: Mission, clues: Clues, is_loss_counted: bool) -> None:
        self._clues = clues
        self._is_loss_counted = is_loss_counted
        self._need_intel = mission.need[INTEL]
        self._deploy = DeployAsset(mission.sector)
        self._operation = RunOperation(mission.code)
        self._target_bit = 1 << SECTORS.index(mission.sector)

    def of(self, at: Position) -> Iterator[Move]:
        """Every move worth a turn; where losses count also pauses, which part two equal actions."""
        yield from self._scouts(at)
        yield from self._pacts(at)
        yield from self._trades(at)
        yield from self._field_moves(at)
        if self._is_loss_counted:
            yield from self._pauses(at)

    def _scouts(self, at: Position) -> Iterator[Move]:
        if at.lanes[_ENERGY] < balance.SCOUT_ENERGY:
            return
        for action, bit in _SCOUTS:
            is_first = not at.scouted & bit
            gain = balance.SCOUT_INTEL_FIRST if is_first else balance.SCOUT_INTEL_AGAIN
            lanes = _gain(_gain(at.lanes, _ENERGY, -balance.SCOUT_ENERGY), INTEL, gain)
            calm = 1 if is_first and bit == self._target_bit else 0
            yield self._move(at, action, lanes=lanes, scouted=at.scouted | bit, heat=-calm)

    def _pacts(self, at: Position) -> Iterator[Move]:
        if at.lanes[_INFLUENCE] < balance.NEGOTIATION_INFLUENCE:
            return
        lanes = _gain(at.lanes, _INFLUENCE, -balance.NEGOTIATION_INFLUENCE)
        for seat, (action, home) in enumerate(_PACTS):
            if at.reputation[seat] < REPUTATION_TO_ALLY:
                has_leverage = at.scouted & home
                gain = balance.REPUTATION_GAIN_WITH_LEVERAGE if has_leverage else balance.REPUTATION_GAIN
                reputation = lane_tuple(held + gain * (other == seat) for other, held in enumerate(at.reputation))
                yield self._move(at, action, lanes=lanes, reputation=reputation)

    def _trades(self, at: Position) -> Iterator[Move]:
        loss = _passive_loss(at)
        for action, lane, amount, paid_lane, cost in _TRADES:
            if at.lanes[paid_lane] >= cost:
                yield self._move(at, action, loss, lanes=_gain(_gain(at.lanes, paid_lane, -cost), lane, amount))

    def _field_moves(self, at: Position) -> Iterator[Move]:
        if not at.is_deployed and at.lanes[_ENERGY] >= balance.DEPLOY_ENERGY:
            lanes = _gain(at.lanes, _ENERGY, -balance.DEPLOY_ENERGY)
            yield self._move(at, self._deploy, lanes=lanes, is_deployed=True)
        if _is_ready(at) and self._clues.has_code[at.scouted]:
            lanes = _gain(_gain(at.lanes, INTEL, balance.OPERATION_INTEL), _CREDITS, balance.OPERATION_CREDITS)
            yield self._move(at, self._operation, lanes=lanes, is_done=True, heat=-1)

    def _pauses(self, at: Position) -> Iterator[Move]:
        """Penalised actions that change no lane; those that cost as much as a repeat can never help."""
        yield self._move(at, Noop(), PENALTY[Penalty.NOOP] + _passive_loss(at), heat=1)
        if _is_ready(at):
            yield self._move(at, _WRONG_CODE, PENALTY[Penalty.WRONG_CODE], heat=1)
        if at.lanes[_INFLUENCE] < balance.NEGOTIATION_INFLUENCE:
            for seat, (pact, _) in enumerate(_PACTS):
                if at.reputation[seat] < REPUTATION_TO_ALLY:
                    yield self._move(at, pact, PENALTY[Penalty.NO_INFLUENCE])
        for trade in _TRADES:
            if trade.amount == TRADE_MAX and at.lanes[trade.paid_lane] < trade.cost:
                yield self._move(at, trade.action, PENALTY[Penalty.UNAFFORDABLE_TRADE] + _passive_loss(at))

    def _move(
        self,
        at: Position,
        action: Action,
        loss: float = 0.0,
        *,
        lanes: Lanes | None = None,
        reputation: Lanes | None = None,
        scouted: int | None = None,
        is_deployed: bool = False,
        is_done: bool = False,
        heat: int = 0,
    ) -> Move:
        """The move that changes what is given; penalties for repeats are added here."""
        lanes = at.lanes if lanes is None else lanes
        if lanes[INTEL] > self._need_intel:
            lanes = (lanes[0], self._need_intel, lanes[2], lanes[3])
        threat, last = 0, None
        if self._is_loss_counted:
            threat = max(int(Threat.LOW), min(int(Threat.CRITICAL), at.threat + heat))
            last = _SIGNATURES.get(action) or action.signature
            loss += PENALTY[Penalty.REPEAT] if last == at.last else 0.0
        position = Position(
            lanes,
            reputation or at.reputation,
            at.scouted if scouted is None else scouted,
            at.is_deployed or is_deployed,
            at.is_done or is_done,
            threat,
            last,
        )
        return Move(action, position, loss)


def _is_ready(at: Position) -> bool:
    return at.is_deployed and not at.is_done and max(at.reputation) >= REPUTATION_TO_ALLY


def _passive_loss(at: Position) -> float:
    return PENALTY[Penalty.PASSIVE_WHILE_CRITICAL] if at.threat == Threat.CRITICAL else 0.0


def _gain(lanes: Lanes, lane: int, amount: int) -> Lanes:
    changed = list(lanes)
    changed[lane] = min(LANE_CAP, changed[lane] + amount)
    return lane_tuple(changed)
