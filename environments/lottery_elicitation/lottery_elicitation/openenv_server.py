"""OpenEnv: the environment behind HTTP and WebSocket, one episode per session.

`python -m lottery_elicitation.openenv_server --port 9000`. Nothing hidden is sent before the episode is over. A message
that breaks the protocol is answered and spends no turn; an action that breaks the rules of the game spends its turn.
"""

import argparse
from dataclasses import asdict
from typing import Any
from uuid import uuid4

import uvicorn
from openenv.core.env_server import Action, Environment, Observation, create_app
from openenv.core.env_server import State as SessionState
from pydantic import ConfigDict

from .core import actions, grader, prompts, simulator
from .core.settings import Settings
from .message_guard import MessageGuard

MAX_SESSIONS = 64
MAX_FRAME_BYTES = 16_777_216
"""Longer WebSocket frames close their connection (code 1009)."""


class LotteryAction(Action):
    """The fields of the action, or `reply`: the text of a model's reply, parsed as everywhere else."""

    # Published as required, never enforced: verifiers' openenv taskset sends a reply that is no JSON object as the one
    # required field, so it costs a turn, and fails the episode where no such field is named.
    model_config = ConfigDict(extra="ignore", json_schema_extra={"required": ["reply"]})

    # What is wrong inside a field is the game's to judge: it costs the turn and is told.
    lottery_a: Any = None
    lottery_b: Any = None
    theta_estimate: Any = None
    terminate_early: Any = False
    reply: str | None = None


class LotteryObservation(Observation):
    """What a model reads (`prompt`, after a reset also `system_prompt`) and the same as data (`view`)."""

    prompt: str
    view: dict[str, Any]
    system_prompt: str | None = None
    result: dict[str, Any] | None = None
    """At the end: every grade, the hidden parameters, and the transcript, which replays the episode."""


class LotteryEnvironment(Environment[LotteryAction, LotteryObservation, SessionState]):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._episode: simulator.State | None = None
        self._episode_id = ""

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        curriculum_stage: int = 2,
        reward: str = "robust",
        noise_seed: int | None = None,
    ) -> LotteryObservation:
        """Start an episode: `seed` names its hidden parameters, `noise_seed` its choice noise; either is drawn if left
        out.
        """
        if noise_seed is not None and (isinstance(noise_seed, bool) or not isinstance(noise_seed, int)):
            raise ValueError(f"noise_seed is {noise_seed!r}; it must be an integer, or be left out")
        drawn = uuid4().int
        settings = Settings(
            reward=reward,  # type: ignore[arg-type]  # Settings refuses what it does not know
            stage=curriculum_stage,
            seed=drawn >> 96 if seed is None else seed,
        )
        self._episode = simulator.initial_state(settings, 0, drawn % 2**32 if noise_seed is None else noise_seed)
        self._episode_id = episode_id or f"{drawn:032x}"
        return self._observation(self._episode, system_prompt=prompts.system_prompt(settings))

    def step(self, action: LotteryAction, timeout_s: float | None = None, **_: Any) -> LotteryObservation:
        """Take one turn. Raises ValueError before a reset and after the end."""
        if self._episode is None:
            raise ValueError("no episode has been started in this session: send a reset first")
        bounds = self._episode.world.outcome_bounds
        if action.reply is None:
            given = action.model_dump(exclude_unset=True, exclude={"metadata", "reply"})
            self._episode = simulator.step(self._episode, actions.read_action(given, bounds))
        else:
            self._episode = simulator.step(self._episode, actions.parse_action(action.reply, bounds))
        return self._observation(self._episode)

    @property
    def state(self) -> SessionState:
        num_turns = self._episode.num_turns if self._episode else 0
        return SessionState(episode_id=self._episode_id or None, step_count=num_turns)

    def _observation(self, episode: simulator.State, system_prompt: str | None = None) -> LotteryObservation:
        view = prompts.observe(episode)
        if not episode.is_over:
            reward = 0.0 if episode.turns else None
            prompt = prompts.render(view)
            return LotteryObservation(reward=reward, prompt=prompt, view=view.to_json(), system_prompt=system_prompt)
        graded = grader.grade(episode)
        hidden = actions.Estimate(*episode.world.preferences).to_json()
        result = {"grade": asdict(graded), "hidden": hidden, "transcript": simulator.transcript(episode)}
        prompt = prompts.render_end(view)
        return LotteryObservation(done=True, reward=graded.reward, prompt=prompt, view=view.to_json(), result=result)


app = create_app(
    LotteryEnvironment,
    LotteryAction,
    LotteryObservation,
    env_name="lottery_elicitation",
    max_concurrent_envs=MAX_SESSIONS,
)
app.add_middleware(MessageGuard)


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve lottery-elicitation to OpenEnv clients.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=9000)
    arguments = parser.parse_args()
    uvicorn.run(app, host=arguments.host, port=arguments.port, ws_max_size=MAX_FRAME_BYTES)


if __name__ == "__main__":
    main()
