"""The OpenEnv server: `python -m neon_syndicate.openenv_server --port 7860`.

Needs the `openenv` package, not verifiers. Every WebSocket session has an environment, and so a state, of its own. No
payload carries the hidden target: observations hold what `core.observation` shows, `/state` the task key and the turn.
"""

import argparse
from typing import Any

import uvicorn
from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State
from pydantic import ConfigDict

from .core.actions import Malformed, read_action
from .core.generator import LEVELS, SPLITS, chosen_series, mission_of, nth_task_key
from .core.grader import METRIC_OF_REWARD, RewardName, grade, step_reward
from .core.missions import BUILTIN_IDS
from .core.observation import observe
from .core.prompts import SYSTEM_PROMPT, turn_text
from .core.simulator import step
from .core.state import initial_state
from .core.vocabulary import FACTIONS, RESOURCES, Tier

MAX_SESSIONS = 64
MAX_MESSAGE_BYTES = 2**20


class NeonAction(Action):
    """Any JSON object: what holds no legal action is penalised by the rules, not refused by the transport."""

    model_config = ConfigDict(extra="allow")

    metadata: Any = None
    action_type: Any = None


class NeonObservation(Observation):
    """What `turn_text` says, and the same as data. `rules` is filled on reset."""

    text: str
    rules: str = ""
    task: str
    turn: int
    budget: int
    resources: dict[str, int]
    needs: dict[str, int]
    reputation: dict[str, int]
    allies: list[str]
    num_allies_needed: int
    num_keywords_needed: int
    threat: str
    scouted: list[str]
    deployed: str | None
    is_operation_done: bool
    known_code: str | None
    known_sector: str | None
    known_keywords: list[str]
    known_allies: list[str]
    leads: list[list[str]]
    penalties: list[str]
    fault: str | None
    is_success: bool


class NeonState(State):
    """Where the episode stands."""

    task: str


class NeonEnvironment(Environment[NeonAction, NeonObservation, NeonState]):
    """One session. Each reset without a task or a seed goes on to the next task of the choice, easy to hard."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, options: argparse.Namespace) -> None:
        super().__init__()
        self._options = options
        self._series = chosen_series(options.missions, options.difficulty, options.procedural)
        self._position = 0
        self._episode_id: str | None = None
        self._now = initial_state(mission_of(nth_task_key(self._series, 0, options.split)))

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, task: str | None = None, **_: Any
    ) -> NeonObservation:
        """Start the task of that key, or the one at position `seed`, or the next one."""
        position = self._position if seed is None else seed
        self._now = initial_state(mission_of(task or nth_task_key(self._series, position, self._options.split)))
        self._position = self._position if task else position + 1
        self._episode_id = episode_id
        return self._seen(None, None)

    def step(self, action: NeonAction, timeout_s: float | None = None, **_: Any) -> NeonObservation:
        """Play one turn. Once the episode is over, nothing changes and nothing is paid."""
        before, self._now = self._now, step(self._now, read_action(action.model_dump()))
        return self._seen(before, self._reward(before))

    @property
    def state(self) -> NeonState:
        return NeonState(episode_id=self._episode_id, step_count=self._now.ledger.turn, task=self._now.mission.key)

    def _reward(self, before: Any) -> float:
        reward: RewardName = self._options.reward
        if reward == "shaped":
            return step_reward(before, self._now)
        return grade(self._now).signal(reward) if self._now.is_finished and not before.is_finished else 0.0

    def _seen(self, before: Any, reward: float | None) -> NeonObservation:
        seen = observe(self._now, before)
        return NeonObservation(
            done=seen.is_finished,
            reward=reward,
            text=turn_text(seen),
            rules="" if before else SYSTEM_PROMPT,
            task=seen.task,
            turn=seen.turn,
            budget=seen.budget,
            resources=dict(zip(RESOURCES, seen.lanes, strict=True)),
            needs=dict(zip(RESOURCES, seen.need, strict=True)),
            reputation=dict(zip(FACTIONS, seen.reputation, strict=True)),
            allies=list(seen.allies),
            num_allies_needed=seen.num_allies_needed,
            num_keywords_needed=seen.num_keywords_needed,
            threat=seen.threat.label,
            scouted=list(seen.scouted),
            deployed=seen.deployed,
            is_operation_done=seen.is_operation_done,
            known_code=seen.known.code,
            known_sector=seen.known.sector,
            known_keywords=list(seen.known.keywords),
            known_allies=list(seen.known.allies),
            leads=[list(lead) for lead in seen.known.leads],
            penalties=list(seen.last_penalties),
            fault=seen.last_action.reason if isinstance(seen.last_action, Malformed) else None,
            is_success=seen.is_success,
        )


def parse_options(arguments: list[str] | None = None) -> argparse.Namespace:
    """Command line options; exits with usage for a wrong one."""
    parser = argparse.ArgumentParser(prog="python -m neon_syndicate.openenv_server", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=7860)
    parser.add_argument("--missions", nargs="+", choices=BUILTIN_IDS)
    parser.add_argument("--difficulty", type=_difficulty, choices=[*Tier, *LEVELS])
    parser.add_argument("--procedural", action="store_true")
    parser.add_argument("--split", choices=SPLITS, default="train")
    parser.add_argument("--reward", choices=list(METRIC_OF_REWARD), default="shaped")
    return parser.parse_args(arguments)


def _difficulty(text: str) -> str | int:
    return int(text) if text.isdecimal() else text


def build_app(options: argparse.Namespace) -> Any:
    """The ASGI application."""
    return create_app(
        lambda: NeonEnvironment(options),
        NeonAction,
        NeonObservation,
        env_name="neon-syndicate",
        max_concurrent_envs=MAX_SESSIONS,
    )


if __name__ == "__main__":
    chosen = parse_options()
    uvicorn.run(build_app(chosen), host=chosen.host, port=chosen.port, ws_max_size=MAX_MESSAGE_BYTES)
