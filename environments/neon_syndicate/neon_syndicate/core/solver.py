"""The exact solver: the fewest turns to a win, and the most an episode can return.

Best-first search with dominance over an abstract state. The search sees the hidden target, but like any player it may
use a code or a code word only once a scout has revealed it.

Why the optimum is exact. Every win returns 1.30 - F(start) - loss, where loss is the penalties plus 0.15 for the share
of the message left out. A failure grades below 0.90, so a win with a loss of at most `LOSS_LIMIT` returns more than any
failure, and the win of least loss is the optimum. More of a lane, fewer turns and less loss never hurt, so a position
that another, equal in the rest, matches or beats in these can go. Left out are moves that cannot help: a trade that
gains less for the same cost, and a deployment outside the target sector (as a mere pause between two equal actions,
scouting one of the other sectors costs less).
"""

import heapq
from dataclasses import dataclass
from functools import reduce
from itertools import count
from typing import Final, NamedTuple

from . import balance
from .actions import Action, SecureExtraction
from .balance import REPUTATION_TO_ALLY
from .codewords import passes_gate
from .grader import gates, grade
from .mission import Mission
from .simulator import step
from .solver_bound import TurnsBound
from .solver_moves import Moves
from .solver_position import Clues, Position, position_of
from .state import State, initial_state
from .vocabulary import SEAT, Lanes

LOSS_LIMIT: Final = 1.0 + balance.WIN_BONUS - 0.90
"""Loss up to which a win is sure to return more than any failure."""


@dataclass(frozen=True, slots=True)
class Solution:
    """What the solver proves about a state; turns are counted from that state on."""

    fewest_turns: int
    """Turns of the shortest win, whatever it is penalised."""
    fastest: tuple[Action, ...]
    max_return: float
    """The highest return of the whole episode that can be reached from the state."""
    best: tuple[Action, ...]
    """A play that reaches `max_return`."""
    loss: float
    """What even that play loses from the state on: penalties and code words left out."""


class _Node(NamedTuple):
    """A queue entry; the order of the fields is the order of the search."""

    loss: float
    reach: int
    """Turns used plus a lower bound of those to come."""
    minus_turns: int
    serial: int
    position: Position | None
    """None once extracted."""
    action: Action | None
    parent: "_Node | None"


def solve(mission: Mission) -> Solution | None:
    """Solve a mission from its start; None where no win within the budget surely beats every failure."""
    return solve_from(initial_state(mission))


def solve_from(state: State) -> Solution | None:
    """Solve the rest of an episode; None where no win within the turns left surely beats every failure."""
    fastest = shortest_win(state)
    best = None if fastest is None else best_play(state)
    if fastest is None or best is None:
        return None
    end = reduce(step, best, state)
    return Solution(len(fastest), fastest, grade(end).shaped, best, _loss(state, end))


def shortest_win(state: State) -> tuple[Action, ...] | None:
    """A shortest win, whatever it is penalised; None if there is none within the turns left."""
    return None if state.is_finished else _search(state, _num_gate(state.mission), None)


def clean_win(state: State) -> tuple[Action, ...] | None:
    """A shortest win without any further penalty and with every code word: nothing can return more."""
    return None if state.is_finished else _search(state, len(state.mission.keywords), 0.0)


def best_play(state: State) -> tuple[Action, ...] | None:
    """A win of least loss; None where no win within the turns left surely beats every failure.

    For each number of code words to know, from all down to the gate, the least penalised win is looked for.
    """
    if state.is_finished:
        return None
    num_all = len(state.mission.keywords)
    best, limit = None, LOSS_LIMIT
    for num_keywords in range(num_all, _num_gate(state.mission) - 1, -1):
        left_out = balance.WEIGHT_MESSAGE * (num_all - num_keywords) / num_all
        if left_out < limit and (found := _search(state, num_keywords, limit - left_out)) is not None:
            loss = _loss(state, reduce(step, found, state))
            if best is None or loss < limit:
                best, limit = found, loss
    return best


def _loss(start: State, end: State) -> float:
    return end.ledger.penalty - start.ledger.penalty + balance.WEIGHT_MESSAGE * (1.0 - gates(end).message)


def _num_gate(mission: Mission) -> int:
    """Code words that pass the message gate."""
    num_all = len(mission.keywords)
    return next(num for num in range(num_all + 1) if passes_gate(num / num_all, num_all))


def _search(state: State, num_keywords: int, loss_limit: float | None) -> tuple[Action, ...] | None:
    """A win that knows `num_keywords` code words: the least penalised, at most `loss_limit`, and of those a shortest.

    With None penalties do not count.
    """
    mission, is_loss_counted = state.mission, loss_limit is not None
    clues = Clues(mission, num_keywords)
    moves, bound = Moves(mission, clues, is_loss_counted), TurnsBound(mission, clues)
    turns_left = mission.budget - state.ledger.turn
    start = position_of(state, is_loss_counted)
    serial = count()
    frontier = _Frontier()
    queue = [_Node(0.0, bound.turns(start), 0, next(serial), start, None, None)]
    while queue:
        node = heapq.heappop(queue)
        if node.position is None:
            return _plan(node)
        turns = 1 - node.minus_turns
        if _is_won(mission, clues, node.position):
            extraction = SecureExtraction(mission.sector, ", ".join(clues.keywords[node.position.scouted]))
            heapq.heappush(queue, _Node(node.loss, turns, -turns, next(serial), None, extraction, node))
        for action, position, loss in moves.of(node.position):
            total, reach = node.loss + loss, turns + bound.turns(position)
            is_within = reach <= turns_left and (loss_limit is None or total <= loss_limit)
            if is_within and frontier.admits(position, turns, total):
                heapq.heappush(queue, _Node(total, reach, -turns, next(serial), position, action, node))
    return None


def _is_won(mission: Mission, clues: Clues, at: Position) -> bool:
    """Whether extracting now wins."""
    return (
        at.is_done
        and clues.is_enough[at.scouted]
        and all(held >= need for held, need in zip(at.lanes, mission.need, strict=True))
        and all(at.reputation[SEAT[ally]] >= REPUTATION_TO_ALLY for ally in mission.allies)
    )


def _plan(node: _Node) -> tuple[Action, ...]:
    actions: list[Action] = []
    while node.parent is not None and node.action is not None:
        actions.append(node.action)
        node = node.parent
    return tuple(actions[::-1])


class _Rival(NamedTuple):
    lanes: Lanes
    turns: int
    loss: float

    def beats(self, other: "_Rival") -> bool:
        """Whether this one matches or beats the other in everything."""
        (a, b, c, d), (e, f, g, h) = self.lanes, other.lanes
        has_as_much = a >= e and b >= f and c >= g and d >= h
        return has_as_much and self.turns <= other.turns and self.loss <= other.loss


class _Frontier:
    """The positions not yet beaten: per kind of position, those no other matches or beats in lanes, turns and loss."""

    def __init__(self) -> None:
        self._held: dict[tuple[object, ...], list[_Rival]] = {}

    def admits(self, position: Position, turns: int, loss: float) -> bool:
        """Whether the position is not beaten; if so it is held, in place of those it beats."""
        new = _Rival(position.lanes, turns, loss)
        rivals = self._held.setdefault(position[1:], [])
        if any(rival.beats(new) for rival in rivals):
            return False
        rivals[:] = [rival for rival in rivals if not new.beats(rival)]
        rivals.append(new)
        return True
