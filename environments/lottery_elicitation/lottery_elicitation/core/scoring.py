"""The training signals: names, terms and coefficients."""

from typing import Literal, NamedTuple, get_args

RewardName = Literal["robust", "published", "mse", "hl_accuracy", "robust_shaped"]
REWARDS: tuple[RewardName, ...] = get_args(RewardName)

SUCCESS_FRACTION = 0.05
"""`success5`: both estimates within this share of the full parameter range."""
NO_ESTIMATE_REWARD = -2.0
"""Paid for ending without a valid estimate: the mse of the worst possible guess, below the expected reward of any
guess.
"""
SHAPING_WEIGHT = 1.0


class Weights(NamedTuple):
    """Coefficients of the terminal reward: mse + hl_accuracy + eff + success5."""

    mse: float
    hl_accuracy: float
    eff: float
    success5: float


PRESETS: dict[RewardName, Weights] = {
    "robust": Weights(mse=3.0, hl_accuracy=0.25, eff=0.02, success5=0.5),
    "published": Weights(mse=1.0, hl_accuracy=0.5, eff=0.1, success5=0.0),
    "mse": Weights(mse=1.0, hl_accuracy=0.0, eff=0.0, success5=0.0),
    "hl_accuracy": Weights(mse=0.0, hl_accuracy=1.0, eff=0.0, success5=0.0),
    "robust_shaped": Weights(mse=3.0, hl_accuracy=0.25, eff=0.02, success5=0.5),
}
