"""verifiers v1: the taskset and its task."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Self

import verifiers.v1 as vf
from pydantic import PrivateAttr, StrictInt, model_validator

from .arguments import Add3DigitArguments
from .core.extractors import ExtractorName
from .core.generator import build_problems
from .core.grader import METRICS, Grade, RewardName, grade, grader_fingerprint
from .core.prompts import prompt


class Add3DigitData(vf.TaskData):
    id: str
    """setting/seed/split/index"""
    answer: StrictInt
    """The gold answer."""


class Add3DigitTaskConfig(vf.TaskConfig):
    # The two public knobs are on the taskset config; env servers and replay rebuild tasks from this config alone.
    _reward: RewardName = PrivateAttr("binary")
    _extractor: ExtractorName = PrivateAttr("last-integer")


class Add3DigitTask(vf.Task[Add3DigitData, vf.State, Add3DigitTaskConfig]):
    @property
    def key(self) -> str:
        return self.data.id

    def grade(self, reply: str) -> Grade:
        config = self.config
        return grade(reply, self.data.answer, extractor=config._extractor, reward=config._reward)

    async def finalize(self, trace: vf.Trace, runtime: vf.Runtime) -> None:
        trace.info["grader_fingerprint"] = grader_fingerprint()

    @vf.metric
    async def diagnostics(self, trace: vf.Trace) -> dict[str, float]:
        grades = asdict(self.grade(trace.last_reply))
        return {name: grades[name] for name in METRICS}

    @vf.reward
    async def signal(self, trace: vf.Trace) -> dict[str, float]:
        return {self.config._reward: self.grade(trace.last_reply).reward}

    async def validate(self, runtime: vf.Runtime) -> bool:
        """The gold reply scores on every grader, and an empty reply on none."""
        gold, empty = self.grade(f"<answer>{self.data.answer}</answer>"), self.grade("")
        return gold.r_binary == gold.r_format == gold.strict_tag_correct == 1.0 and empty.r_tiebreak == 0.0


class Add3DigitConfig(Add3DigitArguments, vf.TasksetConfig):
    task: Add3DigitTaskConfig = Add3DigitTaskConfig()

    @model_validator(mode="after")
    def _mirror_knobs(self) -> Self:
        self.task = self.task.model_copy()
        self.task._reward, self.task._extractor = self.reward, self.extractor
        return self


class Add3DigitTaskset(vf.Taskset[Add3DigitTask, Add3DigitConfig]):
    def load(self) -> Iterator[Add3DigitTask]:
        config = self.config
        num_problems = config.n_train if config.split == "train" else config.n_eval
        for problem in build_problems(config.setting, num_problems, config.seed, config.split, n_train=config.n_train):
            data = Add3DigitData(id=problem.key, prompt=prompt(problem, config.instruction), answer=problem.answer)
            yield Add3DigitTask(data, config.task)
