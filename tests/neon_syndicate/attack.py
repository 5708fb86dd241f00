"""Beam search over actions for a return above the solver's optimum; used by the tests and, deeper, by the bench."""

from neon_syndicate.core.actions import Action, RunOperation, TradeResources
from neon_syndicate.core.grader import grade, potential
from neon_syndicate.core.mission import Mission
from neon_syndicate.core.observation import observe
from neon_syndicate.core.simulator import settle, step
from neon_syndicate.core.state import State, initial_state
from neon_syndicate.core.strategies import legal_actions
from neon_syndicate.core.vocabulary import RESOURCES

TRADE_AMOUNTS = (6, 12, 18, 25)


def moves(state: State) -> list[Action]:
    """Legal actions, trades of several sizes, and the code by heart."""
    trades = [TradeResources(resource, amount) for resource in RESOURCES for amount in TRADE_AMOUNTS]
    return [*legal_actions(observe(state)), *trades, RunOperation(state.mission.code)]


def best_return(mission: Mission, width: int) -> float:
    """The highest return a beam of `width` states finds, whether by a win, a loss or running out of turns."""
    start = initial_state(mission)
    beam, best = [start], float("-inf")
    while beam:
        reached = {}
        for state in beam:
            for action in moves(state):
                after = step(state, action)
                if after.is_finished:
                    best = max(best, grade(after).shaped)
                else:
                    reached[(after.world, after.ledger.repeat_signature)] = after
            best = max(best, grade(settle(state)).shaped)
        beam = sorted(reached.values(), key=_promise, reverse=True)[:width]
    return best


def _promise(state: State) -> float:
    known = state.world.known
    clues = len(known.keywords) + (known.code is not None)
    return potential(state) - state.ledger.penalty + 0.03 * clues + 0.01 * len(state.world.leverage)
