"""The arguments of this environment for both verifiers APIs; names, defaults and meaning are those of `Settings`."""

import re
from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, Field, model_validator

from .core.ranges import GAMMA_RANGE, LAMBDA_RANGE
from .core.scoring import RewardName
from .core.settings import NoiseUnits, PriorName, Settings, SplitName


def _refuse_bool(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError(f"got {value}, a truth value: pass a number")
    return value


def _read_whole(value: object) -> object:
    """Digits in a string, as command lines give them, and integers; no truth value, no 7.0."""
    is_digits = isinstance(value, str) and re.fullmatch(r"[+-]?[0-9]+", value)
    if not is_digits and (isinstance(value, bool) or not isinstance(value, int)):
        raise ValueError(f"got {value!r}, allowed: a whole number, also as digits in a string")
    return int(value)  # type: ignore[call-overload]


def _read_flag(value: object) -> object:
    return {"true": True, "false": False}.get(value.lower(), value) if isinstance(value, str) else value


Whole = Annotated[int, BeforeValidator(_read_whole)]
Number = Annotated[float, BeforeValidator(_refuse_bool), Field(allow_inf_nan=False)]
Count = Annotated[Whole, Field(ge=1, le=1_000_000)]
_COUNTS = ("n_train", "n_eval")
Stage = Annotated[Literal[1, 2, 3], BeforeValidator(_read_whole)]


class LotteryArguments(BaseModel):
    """Numbers may be given as strings, as command lines do; nothing else is coerced."""

    reward: RewardName = "robust"
    """The training signal: robust, published (hackable), mse, hl_accuracy, robust_shaped. All are always recorded."""
    stage: Stage = 2
    """1: loss aversion in an unstated band around 2.25; 2: both parameters hidden; 3: stage 2 with noise 0.05."""
    stage1_lambda_band: Number = 1.0
    """Half-width of the stage-1 band of loss aversion; 0 is the published fixed 2.25."""
    prior: PriorName = "uniform"
    """Distribution of the hidden parameters: uniform, truncated_normal, beta."""
    noise: Number | None = None
    """Fechner noise of the respondent; 0 is deterministic, None takes the stage's (0, or 0.05 at stage 3)."""
    noise_units: NoiseUnits = "contextual"
    """contextual: relative to the range of utility in the pair; raw: in units of utility, as published."""
    randomise_ranges: Annotated[bool, BeforeValidator(_read_flag), Field(strict=True)] = False
    """Draw the shown parameter ranges and outcome bounds per episode."""
    gamma_low: Number = GAMMA_RANGE.low
    """Full range of utility curvature."""
    gamma_high: Number = GAMMA_RANGE.high
    lambda_low: Number = LAMBDA_RANGE.low
    """Full range of loss aversion."""
    lambda_high: Number = LAMBDA_RANGE.high
    min_turns: Whole = 1
    """First turn on which terminate_early is honoured."""
    max_turns: Whole = 10
    """Turns of an episode at most."""
    mse_weight: Number | None = None
    """Coefficient of mse in the selected signal; None takes the preset's. The next three likewise."""
    hl_weight: Number | None = None
    eff_weight: Number | None = None
    success_weight: Number | None = None
    format_weight: Number = 0.0
    """Training wheels: this times the share of valid turns is added to the selected signal."""
    split: SplitName = "train"
    """Which tasks v1 loads. (v0 always has both.)"""
    seed: Whole = 0
    """Names the streams of hidden parameters and ranges."""
    n_train: Count = 2000
    """Tasks of the train split."""
    n_eval: Count = 500
    """Tasks of the eval split."""

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        self.settings()
        return self

    def settings(self, split: SplitName | None = None) -> Settings:
        """The same choices as the core takes them, for another split if given. Raises ValueError where they clash."""
        given = {
            name: getattr(self, name) for name in LotteryArguments.model_fields if name not in ("n_train", "n_eval")
        }
        return Settings(**given | {"split": split or self.split})

    def num_tasks(self, split: SplitName) -> int:
        return self.n_train if split == "train" else self.n_eval
