"""The simulator: one action, or one reply that holds none, moves an episode one turn on."""

from collections.abc import Iterable

from .._envkit.reply import Reply
from .actions import SILENCE, Action, Malformed, parse_action, signature
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
    ledger = state.ledger
    if isinstance(action, Malformed):
        verdict = Verdict(state.world, (action.penalty,))
        return State(state.mission, state.world, _entered(ledger, action, verdict, is_productive=False))
    verdict = RULES[type(action)](state.mission, state.world, action)
    extra: tuple[Penalty, ...] = ()
    if ledger.repeat_signature == signature(action):
        extra = (Penalty.REPEAT,)
    if state.world.threat is Threat.CRITICAL and isinstance(action, PASSIVE):
        extra = (*extra, Penalty.PASSIVE_WHILE_CRITICAL)
    verdict = verdict._replace(penalties=verdict.penalties + extra) if extra else verdict
    is_productive = moves_a_gate(state.mission, state.world, verdict.world)
    return State(state.mission, verdict.world, _entered(ledger, action, verdict, is_productive))


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


def _entered(ledger: Ledger, action: Action | Malformed, verdict: Verdict, is_productive: bool) -> Ledger:
    is_silent = action is SILENCE
    return Ledger(
        turn=ledger.turn + 1,
        last_action=action,
        last_penalties=verdict.penalties,
        repeat_signature=ledger.repeat_signature if isinstance(action, Malformed) else signature(action),
        penalty_counts=_counted(ledger.penalty_counts, verdict.penalties),
        num_silent=ledger.num_silent + is_silent,
        num_malformed=ledger.num_malformed + (isinstance(action, Malformed) and not is_silent),
        num_illegal=ledger.num_illegal + verdict.is_refused,
        num_penalised=ledger.num_penalised + (bool(verdict.penalties) and not is_silent),
        num_productive=ledger.num_productive + is_productive,
    )


def _counted(counts: tuple[int, ...], penalties: tuple[Penalty, ...]) -> tuple[int, ...]:
    if not penalties:
        return counts
    counted = list(counts)
    for kind in penalties:
        counted[_PENALTY_INDEX[kind]] += 1
    return tuple(counted)
