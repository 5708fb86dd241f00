"""The dynamic programme's policy, played: walk the plan by the choices made so far."""

from collections.abc import Sequence
from typing import NamedTuple

from .actions import Estimate
from .candidates import gamma_cut, lambda_cut, stakes
from .lotteries import Choice, Pair
from .programme import solve
from .ranges import Range
from .stopping import Game, Resolution


class CeilingMove(NamedTuple):
    """The pair to ask, or None to stop and commit the estimate."""

    pair: Pair | None
    estimate: Estimate


def ceiling_move(game: Game, outcome_bounds: Range, choices: Sequence[Choice], resolution: Resolution) -> CeilingMove:
    """What the plan of a game does after these choices (those past its end, as under noise, are ignored)."""
    plan = solve(game, resolution).plan
    node, (low, high) = plan[0], game.loss_aversion
    for choice in choices:
        if node.action == "stop":
            break
        if node.action == "lambda":
            cut = low + node.threshold * (high - low)
            low, high = (low, cut) if choice == "A" else (cut, high)
        node = plan[node.if_a if choice == "A" else node.if_b]
    gain, mixed = stakes(outcome_bounds)
    middle = (low + high) / 2
    if node.action == "gamma":
        return CeilingMove(gamma_cut(node.threshold, gain), Estimate(node.threshold, middle))
    if node.action == "lambda":
        return CeilingMove(lambda_cut(low + node.threshold * (high - low), mixed), Estimate(game.gamma.middle, middle))
    return CeilingMove(None, Estimate(node.threshold, middle))
