"""The exact dynamic programme of the elicitation game against a noiseless respondent with uniform priors.

A question is an axis-aligned cut. The pair (x, p; 0) against a sure c asks whether gamma >= ln p / ln(c / x); the pair
(x, p; -x) against 0 asks whether loss aversion <= p / (1 - p): any cut of either parameter can be asked exactly, so
knowledge is always an interval of gamma times an interval of loss aversion. The reward of a loss-aversion interval
depends on its width alone, which makes the state (gamma interval, loss-aversion width, answers so far). Both axes are
cut on a grid; the value of stopping is exact for every state. Committing at turn k uses k - 1 answers.
"""

from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .stopping import FINE, Game, Resolution, StateGrid, efficiency, state_grid

_Values = NDArray[np.float64]

_TIE = 1e-12
"""Values this close are equal but for rounding; stopping wins a tie."""


class Node(NamedTuple):
    """A decision of the ceiling policy: a cut, with a child for either answer, or the estimate to commit.

    `threshold` of a `gamma` cut is a curvature (answer A: at or above it); of a `lambda` cut it is the share of the
    present loss-aversion interval that lies below the cut (answer A: below). Of `stop` it is the curvature to commit,
    beside the middle of the loss-aversion interval. Children are indices of nodes.
    """

    action: Literal["gamma", "lambda", "stop"]
    threshold: float
    if_a: int
    if_b: int


class Bounds(NamedTuple):
    """Expected rewards: best constant answer, optimal adaptive play (and its turns), committing at turn 1, 2, ..."""

    constant: float
    ceiling: float
    ceiling_turns: float
    at_turn: tuple[float, ...]


class _State(NamedTuple):
    """Answers used; ends of the gamma interval and width of the loss-aversion interval, as indices of the grid."""

    answers: int
    low: int
    high: int
    width: int


def _after_question(grid: StateGrid, value: _Values) -> _Values:
    """The value of asking the best question, given the value of every state after its answer."""
    best = value.copy()  # a question whose answer is known changes nothing
    num_knots, num_widths = len(grid.knots), len(grid.widths)
    for span in range(2, num_knots):
        low = np.arange(num_knots - span)
        cut = low[:, None] + np.arange(1, span)
        length = grid.knots[low + span] - grid.knots[low]
        share = ((grid.knots[cut] - grid.knots[low, None]) / length[:, None])[..., None]
        asked = share * value[low[:, None], cut] + (1 - share) * value[cut, (low + span)[:, None]]
        best[low, low + span] = np.maximum(best[low, low + span], asked.max(axis=1))
    for cells in range(2, num_widths + 1):
        below = np.arange(1, cells // 2 + 1)
        share = below / cells
        asked = share * value[..., below - 1] + (1 - share) * value[..., cells - below - 1]
        best[..., cells - 1] = np.maximum(best[..., cells - 1], asked.max(axis=-1))
    return best


def _values_by_answers(game: Game, grid: StateGrid) -> list[_Values]:
    """The value of every state after 0, 1, ..., max_turns - 1 answers, under optimal play."""
    values = [grid.stop_value + efficiency(game, game.max_turns - 1)]
    for answers in range(game.max_turns - 2, -1, -1):
        value = _after_question(grid, values[0])
        if answers + 1 >= game.min_turns:
            value = np.maximum(value, grid.stop_value + efficiency(game, answers))
        values.insert(0, value)
    return values


class _PlanBuilder:
    """Walks the states that optimal play can reach and writes one node for each."""

    def __init__(self, game: Game, grid: StateGrid, values: list[_Values]) -> None:
        self.game, self.grid, self.values = game, grid, values
        self.nodes: list[Node] = []
        self.turns: list[float] = []
        self._index: dict[_State, int] = {}

    def visit(self, state: _State) -> int:
        if state in self._index:
            return self._index[state]
        index = self._index[state] = len(self.nodes)
        self.nodes.append(Node("stop", float(self.grid.stop_gamma[state.low, state.high, state.width]), index, index))
        self.turns.append(state.answers + 1.0)
        if not self._is_stopping_best(state):
            action, threshold, share, child_a, child_b = self._best_cut(state)
            if_a, if_b = self.visit(child_a), self.visit(child_b)
            self.nodes[index] = Node(action, threshold, if_a, if_b)
            self.turns[index] = share * self.turns[if_a] + (1 - share) * self.turns[if_b]
        return index

    def _is_stopping_best(self, state: _State) -> bool:
        if state.answers + 1 == self.game.max_turns:
            return True
        if state.answers + 1 < self.game.min_turns:
            return False
        stop = self.grid.stop_value[state[1:]] + efficiency(self.game, state.answers)
        return bool(stop >= self.values[state.answers][state[1:]] - _TIE)

    def _best_cut(self, state: _State) -> tuple[Literal["gamma", "lambda"], float, float, _State, _State]:
        """The best cut: action, threshold, probability of answer A, and the states after A and after B."""
        value, answers = self.values[state.answers + 1], state.answers + 1
        _, low, high, width = state
        knots, cells = self.grid.knots, width + 1
        cuts = np.arange(low + 1, high)
        below = (knots[cuts] - knots[low]) / (knots[high] - knots[low])
        by_gamma = below * value[low, cuts, width] + (1 - below) * value[cuts, high, width]
        parts = np.arange(1, cells // 2 + 1)
        lower, upper = value[low, high, parts - 1], value[low, high, cells - parts - 1]
        by_lambda = (parts * lower + (cells - parts) * upper) / cells
        best_gamma, best_lambda = by_gamma.max(initial=-np.inf), by_lambda.max(initial=-np.inf)
        if max(best_gamma, best_lambda) == -np.inf:  # one cell of each is left: ask what is known already
            known = _State(answers, low, high, width)
            return "gamma", float(knots[low]), 1.0, known, known
        if best_gamma >= best_lambda:
            cut, share = int(cuts[by_gamma.argmax()]), float(below[by_gamma.argmax()])
            above_cut, below_cut = _State(answers, cut, high, width), _State(answers, low, cut, width)
            return "gamma", float(knots[cut]), 1 - share, above_cut, below_cut
        part = int(parts[by_lambda.argmax()])
        below_cut, above_cut = _State(answers, low, high, part - 1), _State(answers, low, high, cells - part - 1)
        return "lambda", part / cells, part / cells, below_cut, above_cut


class Solution(NamedTuple):
    """The bounds of a game and the plan (a decision graph, first node first) that attains the ceiling."""

    bounds: Bounds
    plan: tuple[Node, ...]


@lru_cache(maxsize=256)
def solve(game: Game, resolution: Resolution = FINE) -> Solution:
    """Solve the game: about a second when fine, a twentieth of one when fast."""
    grid = state_grid(game, resolution)
    root = (0, len(grid.knots) - 1, len(grid.widths) - 1)
    values = _values_by_answers(game, grid)
    builder = _PlanBuilder(game, grid, values)
    builder.visit(_State(0, *root))
    constant = float(grid.stop_value[root]) + efficiency(game, game.min_turns - 1)
    bounds = Bounds(constant, float(values[0][root]), builder.turns[0], _values_at_turn(game, grid, root))
    return Solution(bounds, tuple(builder.nodes))


def _values_at_turn(game: Game, grid: StateGrid, root: tuple[int, int, int]) -> tuple[float, ...]:
    """The reward of optimal questions when committing at turn 1, 2, ..., max_turns is forced."""
    value, at_turn = grid.stop_value, [float(grid.stop_value[root]) + efficiency(game, 0)]
    for answers in range(1, game.max_turns):
        value = _after_question(grid, value)
        at_turn.append(float(value[root]) + efficiency(game, answers))
    return tuple(at_turn)
