"""The simulator: one action, or one reply that holds none, moves an episode one turn on."""

from collections.abc import Iterable

from .._envkit.reply import Reply
from .actions import SILENCE, Action, Malformed, Signature, parse_action
from .balance import Penalty
from .grader import moves_a_gate
from .mission import Mission
from .rules import PASSIVE, RULES, Verdict
from .state import Ledger, State, initial_state
from .vocabulary import Threat

_PENALTY_INDEX = {kind: index for index, kind in enumerate(Penalty)}


def step(state: State, action: Action | Malformed) -> State:
    """The state after one turn. A finished state stays as it is.

    What does not parse or is refused consumes the turn, is penalised, and leaves the world unchanged.
    """
    if state.is_finished:
        return state
    ledger, mission, world = state.ledger, state.mission, state.world
    if isinstance(action, Malformed):
        verdict = Verdict(world, (action.penalty,))
        return State(mission, world, _entered(ledger, action, verdict, ledger.repeat_signature, is_productive=False))
    verdict = RULES[type(action)](mission, world, action)
    played = action.signature
    if played == ledger.repeat_signature:
        verdict = verdict._replace(penalties=(*verdict.penalties, Penalty.REPEAT))
    if world.threat is Threat.CRITICAL and isinstance(action, PASSIVE):
        verdict = verdict._replace(penalties=(*verdict.penalties, Penalty.PASSIVE_WHILE_CRITICAL))
    is_productive = moves_a_gate(mission, world, verdict.world)
    return State(mission, verdict.world, _entered(ledger, action, verdict, played, is_productive))


def replay(mission: Mission, replies: Iterable[Reply]) -> State:
    """The state after a transcript's replies; those after the end change nothing."""
    state = initial_state(mission)
    for reply in replies:
        state = step(state, parse_action(reply))
    return state


def settle(state: State) -> State:
    """A finished state: turns never played count as silence, so that cutting a run short is no way out."""
    while not state.is_finished:
        state = step(state, SILENCE)
    return state


def _entered(
    ledger: Ledger, action: Action | Malformed, verdict: Verdict, played: Signature | None, is_productive: bool
) -> Ledger:
    is_silent = action is SILENCE
    return Ledger(
        ledger.turn + 1,
        action,
        verdict.penalties,
        played,
        _counted(ledger.penalty_counts, verdict.penalties) if verdict.penalties else ledger.penalty_counts,
        ledger.num_silent + is_silent,
        ledger.num_malformed + (isinstance(action, Malformed) and not is_silent),
        ledger.num_illegal + verdict.is_refused,
        ledger.num_penalised + (bool(verdict.penalties) and not is_silent),
        ledger.num_productive + is_productive,
    )


def _counted(counts: tuple[int, ...], penalties: tuple[Penalty, ...]) -> tuple[int, ...]:
    counted = list(counts)
    for kind in penalties:
        counted[_PENALTY_INDEX[kind]] += 1
    return tuple(counted)
