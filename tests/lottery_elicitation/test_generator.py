"""Worlds: priors, ranges, named streams; and the settings that they are drawn from."""

import statistics
import subprocess
import sys

import pytest
from pydantic import ValidationError

from lottery_elicitation.arguments import LotteryArguments
from lottery_elicitation.core.generator import build_world, cumulative, quantile
from lottery_elicitation.core.ranges import GAMMA_RANGE, LAMBDA_RANGE, OUTCOME_BOUNDS, Range
from lottery_elicitation.core.settings import PRIORS, Settings

UNIT = Range(0.0, 1.0)
PINNED = (0.8139883248181448, 1.6041687869693324)


def test_worlds_are_pinned() -> None:
    world = build_world(Settings(), 0)
    assert str(world.key) == "train/stage2/seed0/0"
    assert world.preferences == build_world(Settings(), 0).preferences
    assert world.preferences == pytest.approx(PINNED)


def test_stages_draw_loss_aversion_from_where_they_say() -> None:
    for settings, support in (
        (Settings(stage=1), Range(1.25, 3.25)),
        (Settings(stage=1, stage1_lambda_band=0.0), Range(2.25, 2.25)),
        (Settings(stage=2), LAMBDA_RANGE),
        (Settings(stage=3), LAMBDA_RANGE),
    ):
        drawn = [build_world(settings, i).preferences.loss_aversion for i in range(400)]
        assert support.low <= min(drawn) <= max(drawn) <= support.high
        assert statistics.fmean(drawn) == pytest.approx(support.middle, abs=0.1 * support.width + 1e-9)
        assert build_world(settings, 0).lambda_range == LAMBDA_RANGE
    assert Settings(stage=3).noise_scale == 0.05
    assert Settings(stage=3, noise=0.0).noise_scale == 0.0


@pytest.mark.parametrize("prior", PRIORS)
def test_quantiles_invert_the_distribution(prior: str) -> None:
    for probability in (0.01, 0.2, 0.5, 0.77, 0.99):
        assert cumulative(prior, UNIT, quantile(prior, UNIT, probability)) == pytest.approx(probability, abs=1e-9)
    assert quantile(prior, UNIT, 0.0) == pytest.approx(0.0, abs=1e-15)
    assert 0.0 <= quantile(prior, UNIT, 1 - 2**-53) <= 1.0


def test_the_truncated_normal_has_a_sixth_of_the_width_as_its_spread() -> None:
    draws = [build_world(Settings(prior="truncated_normal"), i).preferences.gamma for i in range(2000)]
    assert statistics.stdev(draws) == pytest.approx(GAMMA_RANGE.width / 6, rel=0.06)
    assert statistics.fmean(draws) == pytest.approx(GAMMA_RANGE.middle, abs=0.02)


def test_randomised_ranges_differ_stay_inside_and_hold_the_truth() -> None:
    worlds = [build_world(Settings(randomise_ranges=True), i) for i in range(300)]
    assert len({world.gamma_range for world in worlds}) > 250
    assert len({world.outcome_bounds for world in worlds}) > 200
    for world in worlds:
        assert GAMMA_RANGE.low <= world.gamma_range.low < world.gamma_range.high <= GAMMA_RANGE.high
        assert LAMBDA_RANGE.low <= world.lambda_range.low < world.lambda_range.high <= LAMBDA_RANGE.high
        assert world.gamma_range.clip(world.preferences.gamma) == world.preferences.gamma
        assert world.lambda_range.clip(world.preferences.loss_aversion) == world.preferences.loss_aversion
        assert world.outcome_bounds.low < 0 < world.outcome_bounds.high
    assert build_world(Settings(), 0).outcome_bounds == OUTCOME_BOUNDS


def test_splits_seeds_and_indices_differ() -> None:
    drawn = {
        build_world(Settings(split=split, seed=seed), index).preferences
        for split in ("train", "eval")
        for seed in (0, 1)
        for index in (0, 1)
    }
    assert len(drawn) == 8


def test_worlds_do_not_depend_on_the_hash_seed() -> None:
    code = (
        "from lottery_elicitation import Settings, initial_state\n"
        "print([initial_state(Settings(randomise_ranges=True), i).world for i in range(5)])"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]


@pytest.mark.parametrize(
    ("name", "value"),
    [("stage", 2.0), ("stage", "３"), ("n_train", 100.0), ("n_train", "100.0"), ("seed", " 7 "), ("max_turns", "1_0")]
    + [("randomise_ranges", value) for value in (1, "yes", "1")],
)
def test_only_digits_in_a_string_are_coerced(name: str, value: object) -> None:
    with pytest.raises(ValidationError, match=name):
        LotteryArguments.model_validate({name: value})
    assert LotteryArguments.model_validate({"stage": "3", "n_train": "100", "randomise_ranges": "true"}).stage == 3


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"reward": "best"}, "reward is 'best'; it must be one of 'robust'"),
        ({"stage": 4}, "stage is 4"),
        ({"stage": True}, "stage is True"),
        ({"prior": "flat"}, "prior"),
        ({"noise": -1.0}, "noise"),
        ({"noise": float("nan")}, "noise is nan"),
        ({"noise": "0.1"}, "noise is '0.1'"),
        ({"noise_units": "bits"}, "noise_units"),
        ({"max_turns": 0}, "max_turns is 0"),
        ({"max_turns": 2.0}, "max_turns is 2.0"),
        ({"min_turns": 11}, "min_turns is 11; it must be at most max_turns"),
        ({"gamma_low": 1.6}, "the range of gamma"),
        ({"lambda_low": 0.0}, "the range of lambda"),
        ({"gamma_high": 40.0}, "gamma_high"),
        ({"stage": 1, "stage1_lambda_band": 2.0}, "stage1_lambda_band is 2.0"),
        ({"mse_weight": float("inf")}, "mse_weight is inf"),
        ({"mse_weight": True}, "mse_weight is True"),
        ({"randomise_ranges": 1}, "randomise_ranges is 1"),
        ({"split": "test"}, "split"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_settings_that_make_no_sense_are_refused_by_name(arguments: dict[str, object], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        Settings(**arguments)  # type: ignore[arg-type]
