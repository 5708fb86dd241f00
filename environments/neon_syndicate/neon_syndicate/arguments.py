"""The arguments of this environment: names, defaults and checks, once for both verifiers APIs."""

import re
from collections.abc import Iterator
from itertools import count
from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, Field, field_validator, model_validator

from .core.generator import LEVELS, Split, chosen_series, nth_task_key
from .core.grader import RewardName
from .core.missions import BUILTIN_IDS

Difficulty = Literal["easy", "medium", "hard", 1, 2, 3, 4, 5]


def _read_whole(value: object) -> object:
    """Digits in a string, as command lines give them, and integers; no truth value, no 7.0."""
    is_digits = isinstance(value, str) and re.fullmatch(r"[+-]?[0-9]+", value)
    if not is_digits and (isinstance(value, bool) or not isinstance(value, int)):
        raise ValueError(f"got {value!r}, allowed: a whole number, also as digits in a string")
    return int(value)  # type: ignore[call-overload]


def _read_level(value: object) -> object:
    """A level may be given as a digit in a string, as command lines do."""
    if isinstance(value, bool | float):
        raise ValueError(f"got {value}: pass easy, medium, hard, or a level from 1 to 5")
    return int(value) if isinstance(value, str) and value.isascii() and value.isdecimal() else value


Whole = Annotated[int, BeforeValidator(_read_whole)]


class NeonArguments(BaseModel):
    """Whole numbers may be given as digits in a string, as command lines do; nothing else is coerced."""

    missions: list[str] | None = None
    """Written missions to play, by id, in this order."""
    difficulty: Annotated[Difficulty | None, BeforeValidator(_read_level)] = None
    """easy, medium, hard: the written missions of that tier; 1 to 5: generated missions of that level."""
    procedural: bool = Field(False, strict=True)
    """Generated missions, levels 1 to 5 in turn. With none of these three: the six written missions, easy to hard.

    Whatever is chosen comes round again and again; a written mission as written once, then with other codes and words.
    """
    num_tasks: Annotated[Whole, Field(ge=1, le=1_000_000)] | None = None
    """Tasks to load. By default they never end (in v0, whose datasets do, 1000)."""
    split: Split = "train"
    """No task of one split is in the other."""
    seed: Annotated[Whole, Field(ge=0)] = 0
    """Names the streams that codes, code words and generated missions are drawn from."""
    reward: RewardName = "shaped"
    """The training signal: shaped (dense return), grader (G), success (0 or 1). All three are always recorded."""

    @field_validator("procedural", mode="before")
    @classmethod
    def _read_flag(cls, value: object) -> object:
        return {"true": True, "false": False}.get(value.lower(), value) if isinstance(value, str) else value

    @field_validator("missions")
    @classmethod
    def _require_known(cls, missions: list[str] | None) -> list[str] | None:
        unknown = [mission for mission in missions or () if mission not in BUILTIN_IDS]
        if unknown or missions == []:
            raise ValueError(f"got {unknown or missions}, allowed: one or more of {', '.join(BUILTIN_IDS)}")
        return missions

    @model_validator(mode="after")
    def _require_one_choice(self) -> Self:
        is_tier = self.difficulty is not None and self.difficulty not in LEVELS
        if self.missions is not None and (self.difficulty is not None or self.procedural):
            raise ValueError("missions: got difficulty or procedural too; name missions, or let the others choose")
        if is_tier and self.procedural:
            raise ValueError(f"difficulty: got {self.difficulty!r} with procedural; pass a level from 1 to 5 instead")
        return self

    @property
    def is_endless(self) -> bool:
        """Whether there is no last task."""
        return self.num_tasks is None

    def task_keys(self) -> Iterator[str]:
        """The keys of the tasks chosen, in order: the chosen missions or levels in turn, again and again."""
        series = chosen_series(self.missions, self.difficulty, self.procedural)
        positions = count() if self.num_tasks is None else range(self.num_tasks)
        return (nth_task_key(series, position, self.split, self.seed) for position in positions)
