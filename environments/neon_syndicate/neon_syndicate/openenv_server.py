"""The OpenEnv server: `python -m neon_syndicate.openenv_server --port 7860`.

Needs the `openenv` package, not verifiers. Every WebSocket session has an environment, and so a state, of its own. No
payload carries the hidden target: observations hold what `core.observation` shows, `/state` the task key and the turn.
"""

import argparse
from typing import Any

import uvicorn
from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.interfaces import Environment

from .core.actions import read_action
from .core.generator import LEVELS, SPLITS, chosen_series, mission_of, nth_task_key
from .core.grader import METRIC_OF_REWARD, RewardName, grade, step_reward
from .core.missions import BUILTIN_IDS
from .core.observation import observe
from .core.prompts import SYSTEM_PROMPT
from .core.simulator import step
from .core.state import State as EpisodeState
from .core.state import initial_state
from .core.vocabulary import Tier
from .openenv_models import NeonAction, NeonObservation, NeonState

MAX_SESSIONS = 64
MAX_MESSAGE_BYTES = 2**20


class NeonEnvironment(Environment[NeonAction, NeonObservation, NeonState]):
    """One session. Each reset without a task or a seed goes on to the next task of the choice, easy to hard."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, options: argparse.Namespace) -> None:
        super().__init__()
        self._options = options
        difficulty = int(options.difficulty) if str(options.difficulty).isdecimal() else options.difficulty
        self._series = chosen_series(options.missions, difficulty, options.procedural)
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

    def _reward(self, before: EpisodeState) -> float:
        reward: RewardName = self._options.reward
        if reward == "shaped":
            return step_reward(before, self._now)
        return grade(self._now).signal(reward) if self._now.is_finished and not before.is_finished else 0.0

    def _seen(self, before: EpisodeState | None, reward: float | None) -> NeonObservation:
        return NeonObservation.of(observe(self._now, before), reward, rules="" if before else SYSTEM_PROMPT)


def parse_options(arguments: list[str] | None = None) -> argparse.Namespace:
    """Command line options; exits with usage for a wrong one."""
    parser = argparse.ArgumentParser(prog="python -m neon_syndicate.openenv_server", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=7860)
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--missions", nargs="+", choices=BUILTIN_IDS)
    choice.add_argument("--difficulty", choices=[*Tier, *map(str, LEVELS)])
    choice.add_argument("--procedural", action="store_true")
    parser.add_argument("--split", choices=SPLITS, default="train")
    parser.add_argument("--reward", choices=list(METRIC_OF_REWARD), default="shaped")
    return parser.parse_args(arguments)


def main() -> None:
    options = parse_options()
    names = {"env_name": "neon-syndicate", "max_concurrent_envs": MAX_SESSIONS}
    app = create_app(lambda: NeonEnvironment(options), NeonAction, NeonObservation, **names)
    uvicorn.run(app, host=options.host, port=options.port, ws_max_size=MAX_MESSAGE_BYTES)


if __name__ == "__main__":
    main()
