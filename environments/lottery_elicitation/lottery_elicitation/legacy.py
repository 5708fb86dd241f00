"""`load_environment`: the verifiers v0 environment where verifiers still has v0, else the same one through v1."""

from importlib import metadata
from typing import Any, Literal
from uuid import uuid4

from pydantic import ConfigDict

from .arguments import LotteryArguments
from .core.actions import parse_action
from .core.generator import task_key
from .core.grader import METRICS, Grade, grade, grader_fingerprint
from .core.prompts import observe, render, render_end, system_prompt
from .core.ranges import GAMMA_RANGE, LAMBDA_RANGE
from .core.scoring import RewardName
from .core.settings import NoiseUnits, PriorName, Settings, SplitName
from .core.simulator import initial_state, step, transcript


class LegacyArguments(LotteryArguments):
    model_config = ConfigDict(extra="forbid")

    system_prompt: str | None = None
    """The text of the system message (in v1 configs the field of this name is a file's path)."""


def load_environment(
    reward: RewardName = "robust",
    stage: Literal[1, 2, 3] = 2,
    stage1_lambda_band: float = 1.0,
    prior: PriorName = "uniform",
    noise: float | None = None,
    noise_units: NoiseUnits = "contextual",
    randomise_ranges: bool = False,
    gamma_low: float = GAMMA_RANGE.low,
    gamma_high: float = GAMMA_RANGE.high,
    lambda_low: float = LAMBDA_RANGE.low,
    lambda_high: float = LAMBDA_RANGE.high,
    min_turns: int = 1,
    max_turns: int = 10,
    mse_weight: float | None = None,
    hl_weight: float | None = None,
    eff_weight: float | None = None,
    success_weight: float | None = None,
    format_weight: float = 0.0,
    split: SplitName = "train",
    seed: int = 0,
    n_train: int = 2000,
    n_eval: int = 500,
    system_prompt: str | None = None,
) -> Any:
    """Build the environment. Raises pydantic.ValidationError naming an ill-typed argument, before any dataset is built.

    Returns a v0 MultiTurnEnv (verifiers < 0.4), whose datasets are the chosen and the eval split, or a v1 Env.
    """
    arguments = LegacyArguments.model_validate(locals())
    major, minor = metadata.version("verifiers").split(".")[:2]
    return _load_v0(arguments) if (int(major), int(minor)) < (0, 4) else _load_v1(arguments)


def _load_v1(arguments: LegacyArguments) -> Any:
    import verifiers.v1 as vf

    taskset = {"id": "lottery-elicitation", **arguments.model_dump(exclude={"system_prompt"})}
    env = vf.load_environment(vf.resolve_env_config({"taskset": taskset}))
    env.taskset.system_prompt = arguments.system_prompt
    return env


def _load_v0(arguments: LegacyArguments) -> Any:
    import verifiers as vf
    from datasets import Dataset

    class LotteryV0(vf.MultiTurnEnv):
        async def setup_state(self, state: Any, **_: Any) -> Any:
            settings = arguments.settings(state["info"]["split"])
            state["lottery"] = initial_state(settings, state["info"]["index"], noise_seed=uuid4().int >> 96)
            return state

        async def env_response(self, messages: Any, state: Any, **_: Any) -> Any:
            reply = messages[-1]
            content = reply["content"] if isinstance(reply, dict) else reply.content
            action = parse_action([{"role": "assistant", "content": content}], state["lottery"].world.outcome_bounds)
            state["lottery"] = step(state["lottery"], action)
            state["episode"] = transcript(state["lottery"])
            seen, is_over = observe(state["lottery"]), state["lottery"].is_over
            response = [{"role": "user", "content": render_end(seen) if is_over else render(seen)}]
            if is_over:
                state["final_env_response"] = response  # ends the rollout without another model call
            return response

    def dataset(split: SplitName) -> Any:
        settings = arguments.settings(split)
        return Dataset.from_list([_row(settings, index) for index in range(arguments.num_tasks(split))])

    def grader(field: str) -> Any:
        async def score(state: Any, **_: Any) -> float:
            graded: Grade = grade(state["lottery"])
            return float(getattr(graded, "reward" if field == arguments.reward else field))

        score.__name__ = field
        return score

    recorded = [
        field for field in METRICS if field != "num_turns"
    ]  # MultiTurnEnv adds its own to a metric of this name
    return LotteryV0(
        dataset=dataset(arguments.split),
        eval_dataset=dataset("eval"),
        system_prompt=arguments.system_prompt or system_prompt(arguments.settings()),
        rubric=vf.Rubric(
            funcs=[grader(field) for field in recorded],
            weights=[float(field == arguments.reward) for field in recorded],
        ),
    )


def _row(settings: Settings, index: int) -> dict[str, Any]:
    info = {
        "id": str(task_key(settings, index)),
        "index": index,
        "split": settings.split,
        "grader_fingerprint": grader_fingerprint()["source_sha256"],
    }
    return {"question": render(observe(initial_state(settings, index))), "answer": "", "info": info}
