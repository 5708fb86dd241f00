"""Reference policies: plain players for simulations, and the same as chat policies that play from the conversation."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from random import Random
from typing import Final

from ._envkit.reply import reply_text
from .core import strategies
from .core.actions import Action, Malformed, action_text, parse_action
from .core.exploits import CHEATS, SCRIPTS, Cheat, Script
from .core.generator import mission_of
from .core.guardrail import decide
from .core.mission import Mission
from .core.observation import Observation, observe
from .core.simulator import replay, step
from .core.solver import best_play
from .core.state import State, initial_state
from .core.strategies import Strategy

Player = Callable[[State, Random], str]
"""A reply for a state. All but the oracle and the exploits look at `observe(state)` only."""

ChatPolicy = Callable[[Sequence[Mapping[str, str]], int], str]
"""(chat messages, seed) -> reply; the same for the same conversation and seed."""

_TASK_LINE: Final = re.compile(r"^Task (\S+)$", re.MULTILINE)
_NOISE: Final = 0.5


def play(mission: Mission, player: Player, seed: int) -> State:
    """One finished episode of a player, as it would run over a conversation."""
    state = initial_state(mission)
    while not state.is_finished:
        state = step(state, parse_action(player(state, turn_stream(state, seed))))
    return state


def turn_stream(state: State, seed: int) -> Random:
    """The chance of one turn: every turn has its own stream, so that a policy can rejoin a conversation."""
    return Random(f"neon-syndicate/policy/{state.mission.key}/{seed}/{state.ledger.turn}")


def seeing(strategy: Strategy) -> Player:
    """The player of a strategy on observations."""
    return lambda state, rng: action_text(strategy(observe(state), rng))


def oracle(state: State, rng: Random) -> str:
    """Perfect play, with the hidden target in view; the heuristic once no win is left."""
    return action_text(_oracle_action(state))


def guarded(proposer: Player) -> Player:
    """A proposer under the guardrail; an overridden reply carries what was proposed and why it was not played."""

    def player(state: State, rng: Random) -> str:
        proposed = parse_action(proposer(state, rng))
        decision = decide(observe(state), proposed, rng)
        if decision.objection is None:
            return action_text(decision.played)
        told = proposed.reason if isinstance(proposed, Malformed) else action_text(proposed)
        override = {"proposed": told, "objection": decision.objection}
        return json.dumps({**json.loads(action_text(decision.played)), "override": override}, ensure_ascii=False)

    return player


def scripted(script: Script) -> Player:
    """The player of an exploit that follows the observation alone."""
    return lambda state, rng: script(observe(state))


def cheating(cheat: Cheat) -> Player:
    """The player of an exploit that bends perfect play."""
    return lambda state, rng: cheat(observe(state), _oracle_action(state))


def noisy(strategy: Strategy) -> Strategy:
    """A strategy that every other turn, by chance, plays at random."""

    def mixed(seen: Observation, rng: Random) -> Action:
        return strategies.random_legal(seen, rng) if rng.random() < _NOISE else strategy(seen, rng)

    return mixed


def chat_policy(player: Player) -> ChatPolicy:
    """The chat policy of a player: it rebuilds the state from the task key and the replies, then plays.

    Raises ValueError for a conversation without the first observation.
    """

    def policy(messages: Sequence[Mapping[str, str]], seed: int) -> str:
        asked = [reply_text([{**message, "role": "assistant"}]) for message in messages if message["role"] == "user"]
        found = next((match for text in asked if (match := _TASK_LINE.search(text))), None)
        if found is None:
            raise ValueError("conversation: no user message has a line `Task KEY`; send the first observation first")
        state = replay(mission_of(found[1]), ([message] for message in messages if message["role"] == "assistant"))
        return player(state, turn_stream(state, seed))

    return policy


@lru_cache(maxsize=4096)
def _oracle_action(state: State) -> Action:
    plan = best_play(state)
    return plan[0] if plan else strategies.heuristic(observe(state), turn_stream(state, 0))


PLAYERS: Final[dict[str, Player]] = {
    "idle": seeing(strategies.idle),
    "random": seeing(strategies.random_legal),
    "curriculum": seeing(strategies.curriculum),
    "heuristic": seeing(strategies.heuristic),
    "oracle": oracle,
    "noisy": seeing(noisy(strategies.heuristic)),
    "hybrid_idle": guarded(seeing(strategies.idle)),
    "hybrid_random": guarded(seeing(strategies.random_legal)),
    "hybrid_curriculum": guarded(seeing(strategies.curriculum)),
    "hybrid_noisy": guarded(seeing(noisy(strategies.heuristic))),
    **{f"exploit_{name}": scripted(script) for name, script in SCRIPTS.items()},
    **{f"exploit_{name}": cheating(cheat) for name, cheat in CHEATS.items()},
}
"""By name; `exploit_...` are the catalogue."""

LADDER: Final = ("idle", "random", "curriculum", "heuristic", "oracle")
"""Worst to best."""

POLICIES: Final[dict[str, ChatPolicy]] = {name: chat_policy(player) for name, player in PLAYERS.items()}
"""What `vf-grpo serve-policies` serves as `neon-syndicate/NAME`."""
