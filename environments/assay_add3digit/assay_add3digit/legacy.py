"""`load_environment`: the verifiers v0 environment where verifiers still has v0, else the same one through v1."""

from collections.abc import Mapping
from importlib import metadata
from typing import Any

from pydantic import ConfigDict

from .arguments import Add3DigitArguments
from .core.extractors import ExtractorName
from .core.generator import Problem, SettingName, Split, build_problems
from .core.grader import METRICS, RewardName, grade, grader_fingerprint
from .core.prompts import INSTRUCTION, prompt


class LegacyArguments(Add3DigitArguments):
    model_config = ConfigDict(extra="forbid")

    system_prompt: str | None = None
    """The text of the system message (in v1 configs the field of this name is a file's path)."""


def load_environment(
    setting: SettingName = "add-3digit",
    n_train: int = 2000,
    seed: int = 0,
    reward: RewardName = "binary",
    system_prompt: str | None = None,
    n_eval: int = 500,
    split: Split = "train",
    extractor: ExtractorName = "last-integer",
    instruction: str = INSTRUCTION,
) -> Any:
    """Build the environment. Raises pydantic.ValidationError naming an ill-typed argument, before any dataset is built.

    Returns a v0 SingleTurnEnv (verifiers < 0.4), whose datasets are the train and the eval split, or a v1 Env.
    """
    arguments = LegacyArguments.model_validate(locals())
    major, minor = metadata.version("verifiers").split(".")[:2]
    return _load_v0(arguments) if (int(major), int(minor)) < (0, 4) else _load_v1(arguments)


def _load_v1(arguments: LegacyArguments) -> Any:
    import verifiers.v1 as vf

    taskset = {"id": "assay-add3digit", **arguments.model_dump(exclude={"system_prompt"})}
    env = vf.load_environment(vf.resolve_env_config({"taskset": taskset}))
    env.taskset.system_prompt = arguments.system_prompt
    return env


def _load_v0(arguments: LegacyArguments) -> Any:
    import verifiers as vf
    from datasets import Dataset

    def dataset(split: Split) -> Any:
        num_problems = arguments.n_train if split == "train" else arguments.n_eval
        problems = build_problems(arguments.setting, num_problems, arguments.seed, split, n_train=arguments.n_train)
        return Dataset.from_list([_row(problem, arguments.instruction) for problem in problems])

    def grader(field: str) -> Any:
        async def score(completion: Any, answer: str, **_: Any) -> float:
            reply = completion if isinstance(completion, str) else [_plain(message) for message in completion]
            graded = grade(reply, answer, extractor=arguments.extractor, reward=arguments.reward)
            return float(getattr(graded, field))

        score.__name__ = field
        return score

    selected = f"r_{arguments.reward}"
    return vf.SingleTurnEnv(
        dataset=dataset(arguments.split),
        eval_dataset=dataset("eval"),
        system_prompt=arguments.system_prompt,
        rubric=vf.Rubric(
            funcs=[grader(field) for field in METRICS], weights=[float(field == selected) for field in METRICS]
        ),
    )


def _plain(message: Any) -> Mapping[str, Any]:
    """verifiers 0.3 hands over pydantic messages, 0.2 dicts."""
    return message if isinstance(message, Mapping) else message.model_dump()


def _row(problem: Problem, instruction: str) -> dict[str, Any]:
    info = {"id": problem.key, "grader_fingerprint": grader_fingerprint()["source_sha256"]}
    return {"question": prompt(problem, instruction), "answer": str(problem.answer), "info": info}
