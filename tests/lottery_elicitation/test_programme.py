"""The dynamic programme: the published table, the cached data, and the plan played through the environment."""

import statistics

import pytest

from lottery_elicitation.core.bounds import game_of, reward_bounds
from lottery_elicitation.core.bounds_table import TABLE
from lottery_elicitation.core.grader import episode_reward
from lottery_elicitation.core.programme import solve
from lottery_elicitation.core.prompts import observe
from lottery_elicitation.core.ranges import Range
from lottery_elicitation.core.settings import Settings
from lottery_elicitation.core.simulator import initial_state, step
from lottery_elicitation.core.stopping import FAST, FINE, Game
from lottery_elicitation.strategies import ceiling

PUBLISHED_1 = Settings(reward="published", stage=1, stage1_lambda_band=0.0)
PUBLISHED_2 = Settings(reward="published")
ROBUST_1 = Settings(stage=1, stage1_lambda_band=0.0)
ROBUST_1_BAND = Settings(stage=1)
ROBUST_2 = Settings()


@pytest.mark.parametrize(
    ("settings", "constant", "ceiling_reward", "turns"),
    [
        (PUBLISHED_1, 0.448, 0.562, 3.3),
        (PUBLISHED_2, 0.365, 0.537, 5.3),
        (ROBUST_1, 0.039, 0.759, 4.9),
        (ROBUST_1_BAND, -0.084, 0.752, 7.9),
        (ROBUST_2, -0.256, 0.750, 8.9),
    ],
)
def test_the_table_of_bounds_is_reproduced(
    settings: Settings, constant: float, ceiling_reward: float, turns: float
) -> None:
    bounds = reward_bounds(settings)
    assert bounds.constant == pytest.approx(constant, abs=0.002)
    assert bounds.ceiling == pytest.approx(ceiling_reward, abs=0.002)
    # Near the end of the robust game another question pays what it costs to 0.0005, so turns are loose where reward is not.
    assert bounds.ceiling_turns == pytest.approx(turns, abs=0.3)


def test_rewards_by_turn_are_reproduced() -> None:
    expected = (0.365, 0.449, 0.502, 0.528, 0.535, 0.533, 0.527, 0.518, 0.509, 0.500)
    assert reward_bounds(PUBLISHED_2).at_turn == pytest.approx(expected, abs=0.002)


def test_the_cached_bounds_are_what_solving_gives() -> None:
    assert len(TABLE) == 12
    for game, cached in TABLE.items():
        solved = solve(game).bounds
        assert solved[:3] == pytest.approx(cached[:3], abs=1e-6)
        assert solved.at_turn == pytest.approx(cached.at_turn, abs=1e-6)


@pytest.mark.parametrize("settings", [PUBLISHED_1, PUBLISHED_2, ROBUST_1, ROBUST_1_BAND, ROBUST_2])
def test_the_ceiling_played_through_the_environment_earns_the_computed_value(settings: Settings) -> None:
    num_episodes = 4000
    rewards, turns = [], []
    for index in range(num_episodes):
        state = initial_state(settings, index)
        while not state.is_over:
            state = step(state, ceiling(observe(state), 0, state.world.lambda_support))
        rewards.append(episode_reward(state, settings.reward))
        turns.append(state.num_turns)
    bounds = reward_bounds(settings)
    for played, computed in ((rewards, bounds.ceiling), (turns, bounds.ceiling_turns)):
        standard_error = statistics.stdev(played) / num_episodes**0.5
        assert abs(statistics.fmean(played) - computed) < 3 * standard_error + 1e-6


def test_the_fast_grid_is_near_the_fine_one() -> None:
    for game in (game_of(PUBLISHED_2), game_of(ROBUST_2), game_of(ROBUST_1)):
        fast, fine = solve(game, FAST).bounds, solve(game, FINE).bounds
        assert fast.constant == pytest.approx(fine.constant, abs=1e-9)
        assert fine.ceiling - 0.001 < fast.ceiling <= fine.ceiling + 1e-9


def test_bounds_hold_for_any_weights_and_turns() -> None:
    plain, generous = Settings(max_turns=4), Settings(max_turns=4, eff_weight=2.0)
    assert reward_bounds(plain).ceiling < reward_bounds(ROBUST_2).ceiling
    assert reward_bounds(generous).ceiling_turns == 1.0
    assert reward_bounds(generous).ceiling == pytest.approx(reward_bounds(generous).constant)
    late = solve(game_of(Settings(reward="published", min_turns=8))).bounds
    assert late.ceiling == pytest.approx(reward_bounds(PUBLISHED_2).at_turn[7], abs=1e-6)
    assert late.ceiling_turns == 8.0


def test_known_parameters_leave_nothing_to_ask() -> None:
    game = Game(gamma=Range(0.9, 0.9 + 1e-6), loss_aversion=Range(2.0, 2.0), weights=game_of(ROBUST_2).weights)
    bounds = solve(game, FAST).bounds
    assert bounds.ceiling == pytest.approx(0.25 + 0.02 * 0.9 + 0.5, abs=1e-6)
    assert bounds.ceiling_turns == 1.0
