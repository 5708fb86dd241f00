"""Everything that can be chosen about the environment, checked in one place."""

import math
from dataclasses import dataclass, fields
from typing import Literal, get_args

from .ranges import GAMMA_RANGE, LAMBDA_RANGE, REFERENCE_LOSS_AVERSION, Range, Scales
from .scoring import PRESETS, REWARDS, RewardName, Weights

PriorName = Literal["uniform", "truncated_normal", "beta"]
NoiseUnits = Literal["contextual", "raw"]
SplitName = Literal["train", "eval"]

PRIORS: tuple[PriorName, ...] = get_args(PriorName)
NOISE_UNITS: tuple[NoiseUnits, ...] = get_args(NoiseUnits)
SPLITS: tuple[SplitName, ...] = get_args(SplitName)
STAGES = (1, 2, 3)
STAGE3_NOISE = 0.05


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The arguments of the environment, with the same names and defaults in every adapter. Ill-typed values raise
    ValueError.
    """

    reward: RewardName = "robust"
    """The training signal; every other signal is a metric."""
    stage: int = 2
    """1: loss aversion in a band around 2.25; 2: both parameters hidden; 3: stage 2 with contextual noise 0.05."""
    stage1_lambda_band: float = 1.0
    """Half-width of the stage-1 band of loss aversion; 0 is the published fixed 2.25."""
    prior: PriorName = "uniform"
    """Distribution of the hidden parameters over their ranges."""
    noise: float | None = None
    """Fechner noise s of the respondent; 0 is deterministic, None takes the stage's (0, or 0.05 at stage 3)."""
    noise_units: NoiseUnits = "contextual"
    """`contextual`: s times v(max) - v(min) of the pair's outcomes; `raw`: s in units of utility, as published."""
    randomise_ranges: bool = False
    """Draw the shown parameter ranges and outcome bounds per episode, so that no fixed list of cut points fits."""
    gamma_low: float = GAMMA_RANGE.low
    gamma_high: float = GAMMA_RANGE.high
    lambda_low: float = LAMBDA_RANGE.low
    lambda_high: float = LAMBDA_RANGE.high
    min_turns: int = 1
    """First turn on which `terminate_early` is honoured."""
    max_turns: int = 10
    mse_weight: float | None = None
    """Coefficient of mse in the selected signal; None takes the preset's."""
    hl_weight: float | None = None
    eff_weight: float | None = None
    success_weight: float | None = None
    format_weight: float = 0.0
    """Optional training wheels: this times the share of valid turns is added to the score."""
    split: SplitName = "train"
    seed: int = 0

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            value = getattr(self, name)
            if value not in allowed or isinstance(value, bool):
                raise ValueError(f"{name} is {value!r}; it must be one of {', '.join(map(repr, allowed))}")
        for name, lowest in _INTEGERS.items():
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < lowest:
                raise ValueError(f"{name} is {value!r}; it must be an integer of at least {lowest}")
        for item in fields(self):
            if item.name in _NUMBERS:
                _check_number(item.name, getattr(self, item.name), is_optional=item.default is None)
        if not isinstance(self.randomise_ranges, bool):
            raise ValueError(f"randomise_ranges is {self.randomise_ranges!r}; it must be true or false")
        if self.min_turns > self.max_turns:
            raise ValueError(f"min_turns is {self.min_turns}; it must be at most max_turns ({self.max_turns})")
        self._check_ranges()

    def _check_ranges(self) -> None:
        for name, low, high, floor in (
            ("gamma", self.gamma_low, self.gamma_high, 0.05),
            ("lambda", self.lambda_low, self.lambda_high, 0.1),
        ):
            if not floor <= low < high:
                raise ValueError(f"the range of {name} is [{low}, {high}]; it must satisfy {floor} <= low < high")
        if self.gamma_high > 4 or self.lambda_high > 100:
            raise ValueError(
                f"gamma_high is {self.gamma_high} and lambda_high is {self.lambda_high}; they must be at most 4 and 100"
            )
        if self.stage1_lambda_band < 0 or (self.noise or 0.0) < 0 or self.format_weight < 0:
            raise ValueError("stage1_lambda_band, noise and format_weight must not be negative")
        if self.stage == 1 and not (
            self.lambda_low <= self.stage1_lambda.low and self.stage1_lambda.high <= self.lambda_high
        ):
            raise ValueError(
                f"stage1_lambda_band is {self.stage1_lambda_band}; the band {tuple(self.stage1_lambda)} must lie "
                f"within [{self.lambda_low}, {self.lambda_high}]"
            )

    @property
    def gamma_range(self) -> Range:
        return Range(self.gamma_low, self.gamma_high)

    @property
    def lambda_range(self) -> Range:
        return Range(self.lambda_low, self.lambda_high)

    @property
    def scales(self) -> Scales:
        return Scales(self.gamma_range.width, self.lambda_range.width)

    @property
    def stage1_lambda(self) -> Range:
        return Range(
            REFERENCE_LOSS_AVERSION - self.stage1_lambda_band, REFERENCE_LOSS_AVERSION + self.stage1_lambda_band
        )

    @property
    def noise_scale(self) -> float:
        """The Fechner s in force."""
        if self.noise is not None:
            return self.noise
        return STAGE3_NOISE if self.stage == 3 else 0.0

    @property
    def weights(self) -> Weights:
        """The coefficients of the selected signal."""
        return self.weights_of(self.reward)

    def weights_of(self, reward: RewardName) -> Weights:
        """The coefficients of a signal: the preset's, with the weight arguments applied to the selected signal only."""
        preset = PRESETS[reward]
        chosen = (self.mse_weight, self.hl_weight, self.eff_weight, self.success_weight)
        if reward != self.reward:
            return preset
        return Weights(*(own if own is not None else given for own, given in zip(chosen, preset, strict=True)))


_CHOICES: dict[str, tuple[object, ...]] = {
    "reward": REWARDS,
    "stage": STAGES,
    "prior": PRIORS,
    "noise_units": NOISE_UNITS,
    "split": SPLITS,
}
_INTEGERS = {"stage": 1, "min_turns": 1, "max_turns": 1, "seed": 0}
_NUMBERS = (
    "stage1_lambda_band",
    "noise",
    "gamma_low",
    "gamma_high",
    "lambda_low",
    "lambda_high",
    "mse_weight",
    "hl_weight",
    "eff_weight",
    "success_weight",
    "format_weight",
)


def _check_number(name: str, value: object, *, is_optional: bool) -> None:
    if value is None and is_optional:
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{name} is {value!r}; it must be a finite number{' or None' if is_optional else ''}")
