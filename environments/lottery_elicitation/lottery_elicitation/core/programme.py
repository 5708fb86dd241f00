"""The exact dynamic programme of the elicitation game against a noiseless respondent with uniform priors.

A question is an axis-aligned cut. The pair (x, p; 0) against a sure c asks whether gamma >= ln p / ln(c / x); the pair
(x, p; -x) against 0 asks whether loss aversion <= p / (1 - p): any cut of either parameter can be asked exactly, so knowledge is
always an interval of gamma times an interval of loss aversion. The reward of a loss-aversion interval depends on its width
alone, which makes the state (gamma interval, loss-aversion width, answers so far). Both axes are cut on a grid; the value of
stopping is exact for every state. Committing at turn k uses k - 1 answers.
"""

from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import holt_laury
from .settings import SUCCESS_FRACTION, Game

_Values = NDArray[np.float64]


class Resolution(NamedTuple):
    """Cells of each axis; where loss aversion is known, `gamma_only` cells."""

    gamma: int
    loss_aversion: int
    gamma_only: int


FINE = Resolution(gamma=80, loss_aversion=40, gamma_only=160)
FAST = Resolution(gamma=24, loss_aversion=16, gamma_only=64)


class Node(NamedTuple):
    """A decision of the ceiling policy: a cut, with a child for either answer, or the estimate to commit.

    `threshold` of a `gamma` cut is a curvature (answer A: at or above it); of a `lambda` cut it is the share of the present
    loss-aversion interval that lies below the cut (answer A: below). Of `stop` it is the curvature to commit, beside the
    middle of the loss-aversion interval. Children are indices of nodes.
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


class _Grid(NamedTuple):
    """Cut points of gamma (n + 1,), ascending widths of loss aversion (k,), and what stopping is worth."""

    knots: _Values
    widths: _Values
    stop_value: _Values  # (n + 1, n + 1, k) by interval ends: reward without the efficiency term, -inf where there is none
    stop_gamma: _Values  # (n + 1, n + 1, k): the curvature to commit


class _State(NamedTuple):
    """Answers used; ends of the gamma interval and width of the loss-aversion interval, as indices of the grid."""

    answers: int
    low: int
    high: int
    width: int


def _grid(game: Game, resolution: Resolution) -> _Grid:
    is_lambda_known = game.loss_aversion.width == 0
    num_cells = resolution.gamma_only if is_lambda_known else resolution.gamma
    intervals = holt_laury.curvature_intervals(*game.gamma)
    knots = np.union1d(np.linspace(*game.gamma, num_cells + 1), intervals.edges)
    cells = resolution.loss_aversion
    shares = np.zeros(1) if is_lambda_known else np.arange(1, cells + 1) / cells
    widths = shares * game.loss_aversion.width
    first, last = np.triu_indices(len(knots), 1)
    value, gamma = _stop_values(game, intervals, knots[first], knots[last], widths)
    stop_value = np.full((len(knots), len(knots), len(widths)), -np.inf)
    stop_gamma = np.full_like(stop_value, np.nan)
    stop_value[first, last], stop_gamma[first, last] = value, gamma
    return _Grid(knots, widths, stop_value, stop_gamma)


def _stop_values(
    game: Game, intervals: holt_laury.CurvatureIntervals, low: _Values, high: _Values, widths: _Values
) -> tuple[_Values, _Values]:
    """Best expected reward of committing now, and the curvature that earns it: two arrays (intervals, widths).

    Within one Holt-Laury row squared error and success are both symmetric about the middle of the interval and fall away
    from it, so the best estimate of a row is its point nearest to the middle.
    """
    length, middle = (high - low)[:, None], (low + high) / 2
    edges = np.clip(intervals.edges[None, :], low[:, None], high[:, None])
    accuracies = holt_laury.expected_accuracies(intervals, np.diff(edges, axis=1) / length)
    estimates = holt_laury.estimates_per_interval(intervals, middle)
    tolerance = SUCCESS_FRACTION * game.scales.gamma
    covered = np.minimum(estimates + tolerance, high[:, None]) - np.maximum(estimates - tolerance, low[:, None])
    gamma_success = np.clip(covered / length, 0, 1)
    lambda_tolerance = SUCCESS_FRACTION * game.scales.loss_aversion
    lambda_success = 2 * lambda_tolerance / np.maximum(widths, 2 * lambda_tolerance)
    error = (length**2 / 12 + (estimates - middle[:, None]) ** 2) / game.scales.gamma**2
    weights = game.weights
    value = (weights.hl_accuracy * accuracies - weights.mse * error)[:, :, None]
    value = value + weights.success5 * gamma_success[:, :, None] * lambda_success
    best = value.argmax(axis=1)
    gamma = np.take_along_axis(estimates, best, axis=1)
    return value.max(axis=1) - weights.mse * (widths / game.scales.loss_aversion) ** 2 / 12, gamma


def _efficiency(game: Game, answers: int) -> float:
    return game.weights.eff * (game.max_turns - answers - 1) / game.max_turns


def _after_question(grid: _Grid, value: _Values) -> _Values:
    """The value of asking the best question, given the value of every state after its answer."""
    best = value.copy()  # a question whose answer is known changes nothing
    num_knots, num_widths = len(grid.knots), len(grid.widths)
    for span in range(2, num_knots):
        low = np.arange(num_knots - span)
        cut = low[:, None] + np.arange(1, span)
        share = ((grid.knots[cut] - grid.knots[low, None]) / (grid.knots[low + span] - grid.knots[low])[:, None])[..., None]
        asked = share * value[low[:, None], cut] + (1 - share) * value[cut, (low + span)[:, None]]
        best[low, low + span] = np.maximum(best[low, low + span], asked.max(axis=1))
    for cells in range(2, num_widths + 1):
        below = np.arange(1, cells // 2 + 1)
        share = below / cells
        asked = share * value[..., below - 1] + (1 - share) * value[..., cells - below - 1]
        best[..., cells - 1] = np.maximum(best[..., cells - 1], asked.max(axis=-1))
    return best


def _values_by_answers(game: Game, grid: _Grid) -> list[_Values]:
    """The value of every state after 0, 1, ..., max_turns - 1 answers, under optimal play."""
    values = [grid.stop_value + _efficiency(game, game.max_turns - 1)]
    for answers in range(game.max_turns - 2, -1, -1):
        value = _after_question(grid, values[0])
        if answers + 1 >= game.min_turns:
            value = np.maximum(value, grid.stop_value + _efficiency(game, answers))
        values.insert(0, value)
    return values


class _PlanBuilder:
    """Walks the states that optimal play can reach and writes one node for each."""

    def __init__(self, game: Game, grid: _Grid, values: list[_Values]) -> None:
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
        stop = self.grid.stop_value[state[1:]] + _efficiency(self.game, state.answers)
        return bool(stop >= self.values[state.answers][state[1:]])

    def _best_cut(self, state: _State) -> tuple[Literal["gamma", "lambda"], float, float, _State, _State]:
        """The best cut: action, threshold, probability of answer A, and the states after A and after B."""
        value, answers = self.values[state.answers + 1], state.answers + 1
        _, low, high, width = state
        knots, cells = self.grid.knots, width + 1
        cuts = np.arange(low + 1, high)
        below = (knots[cuts] - knots[low]) / (knots[high] - knots[low])
        by_gamma = below * value[low, cuts, width] + (1 - below) * value[cuts, high, width]
        parts = np.arange(1, cells // 2 + 1)
        by_lambda = (parts * value[low, high, parts - 1] + (cells - parts) * value[low, high, cells - parts - 1]) / cells
        best_gamma, best_lambda = by_gamma.max(initial=-np.inf), by_lambda.max(initial=-np.inf)
        if max(best_gamma, best_lambda) == -np.inf:  # one cell of each is left: ask what is known already
            known = _State(answers, low, high, width)
            return "gamma", float(knots[low]), 1.0, known, known
        if best_gamma >= best_lambda:
            cut, share = int(cuts[by_gamma.argmax()]), float(below[by_gamma.argmax()])
            above_cut, below_cut = _State(answers, cut, high, width), _State(answers, low, cut, width)
            return "gamma", float(knots[cut]), 1 - share, above_cut, below_cut
        part = int(parts[by_lambda.argmax()])
        lower, upper = _State(answers, low, high, part - 1), _State(answers, low, high, cells - part - 1)
        return "lambda", part / cells, part / cells, lower, upper


class Solution(NamedTuple):
    """The bounds of a game and the plan (a decision graph, first node first) that attains the ceiling."""

    bounds: Bounds
    plan: tuple[Node, ...]


@lru_cache(maxsize=256)
def solve(game: Game, resolution: Resolution = FINE) -> Solution:
    """Solve the game: about a second when fine, a twentieth of one when fast."""
    grid = _grid(game, resolution)
    root = (0, len(grid.knots) - 1, len(grid.widths) - 1)
    values = _values_by_answers(game, grid)
    builder = _PlanBuilder(game, grid, values)
    builder.visit(_State(0, *root))
    constant = float(grid.stop_value[root]) + _efficiency(game, game.min_turns - 1)
    bounds = Bounds(constant, float(values[0][root]), builder.turns[0], _values_at_turn(game, grid, root))
    return Solution(bounds, tuple(builder.nodes))


def _values_at_turn(game: Game, grid: _Grid, root: tuple[int, int, int]) -> tuple[float, ...]:
    """The reward of optimal questions when committing at turn 1, 2, ..., max_turns is forced."""
    value, at_turn = grid.stop_value, [float(grid.stop_value[root]) + _efficiency(game, 0)]
    for answers in range(1, game.max_turns):
        value = _after_question(grid, value)
        at_turn.append(float(value[root]) + _efficiency(game, answers))
    return tuple(at_turn)
