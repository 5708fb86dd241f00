"""`load_environment`: the verifiers v0 environment where verifiers still has v0, else the same one through v1."""

from collections.abc import Mapping
from importlib import metadata
from typing import Any

from pydantic import ConfigDict

from .arguments import Difficulty, NeonArguments
from .core.actions import parse_action
from .core.fingerprint import grader_fingerprint
from .core.generator import Split, mission_of
from .core.grader import METRIC_OF_REWARD, RewardName, grade
from .core.missions import BUILTIN_MISSIONS
from .core.observation import observe
from .core.prompts import SYSTEM_PROMPT, turn_text
from .core.simulator import settle, step
from .core.state import initial_state

NUM_TASKS_V0 = 1000
"""Tasks in v0 where `num_tasks` is not given: its datasets end."""


class LegacyArguments(NeonArguments):
    model_config = ConfigDict(extra="forbid")

    system_prompt: str | None = None
    """The text of the system message (in v1 configs the field of this name is a file's path)."""


def load_environment(
    missions: list[str] | None = None,
    difficulty: Difficulty | None = None,
    procedural: bool = False,
    num_tasks: int | None = None,
    split: Split = "train",
    seed: int = 0,
    reward: RewardName = "shaped",
    system_prompt: str | None = None,
) -> Any:
    """Build the environment. Raises pydantic.ValidationError naming an ill-typed argument, before any dataset is built.

    Returns a v0 MultiTurnEnv (verifiers < 0.4) or a v1 Env.
    """
    arguments = LegacyArguments.model_validate(locals())
    major, minor = metadata.version("verifiers").split(".")[:2]
    return _load_v0(arguments) if (int(major), int(minor)) < (0, 4) else _load_v1(arguments)


def _load_v1(arguments: LegacyArguments) -> Any:
    import verifiers.v1 as vf

    taskset = {"id": "neon-syndicate", **arguments.model_dump(exclude={"system_prompt"})}
    env = vf.load_environment(vf.resolve_env_config({"taskset": taskset}))
    env.taskset.system_prompt = arguments.system_prompt
    return env


def _load_v0(arguments: LegacyArguments) -> Any:
    import verifiers as vf
    from datasets import Dataset

    class NeonEnvV0(vf.MultiTurnEnv):
        """The simulator as the user; `state["neon"]` holds the episode."""

        async def setup_state(self, state: Any) -> Any:
            state["neon"] = initial_state(mission_of(state["answer"]))
            return state

        async def env_response(self, messages: Any, state: Any, **_: Any) -> Any:
            before = state["neon"]
            state["neon"] = after = step(before, parse_action([_plain(message) for message in messages]))
            reply = [{"role": "user", "content": turn_text(observe(after, before))}]
            if after.is_finished:
                # Without this the last reply is scored only after one more model call.
                state["final_env_response"] = reply
            return reply

    def dataset(split: Split) -> Any:
        chosen = arguments.model_copy(update={"split": split})
        if chosen.is_endless:
            chosen = chosen.model_copy(update={"num_tasks": NUM_TASKS_V0})
        return Dataset.from_list([_row(key) for key in chosen.task_keys()])

    def metric(name: str) -> Any:
        async def score(state: Any, **_: Any) -> float:
            return grade(settle(state["neon"])).metrics()[name]

        score.__name__ = name
        return score

    # v0 records num_turns itself; a second function of that name would be added to it.
    names = [name for name in grade(settle(initial_state(BUILTIN_MISSIONS[0]))).metrics() if name != "num_turns"]
    selected = METRIC_OF_REWARD[arguments.reward]
    return NeonEnvV0(
        dataset=lambda: dataset(arguments.split),
        eval_dataset=lambda: dataset("eval"),
        system_prompt=arguments.system_prompt or SYSTEM_PROMPT,
        rubric=vf.Rubric(funcs=[metric(name) for name in names], weights=[float(name == selected) for name in names]),
    )


def _plain(message: Any) -> Mapping[str, Any]:
    """verifiers 0.3 hands over pydantic messages, 0.2 dicts."""
    return message if isinstance(message, Mapping) else message.model_dump()


def _row(key: str) -> dict[str, Any]:
    info = {"id": key, "grader_fingerprint": grader_fingerprint()["source_sha256"]}
    return {"question": turn_text(observe(initial_state(mission_of(key)))), "answer": key, "info": info}
