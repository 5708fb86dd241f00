"""Grades: recorded rewards, formulas, the potential, and what a missing estimate pays."""

import json
import math
import statistics
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lottery_elicitation.core.actions import Estimate, Malformed, Proposal
from lottery_elicitation.core.battery import battery
from lottery_elicitation.core.grader import (
    METRICS,
    Grade,
    episode_reward,
    grade,
    grader_fingerprint,
    information_bits,
    potential_drops,
)
from lottery_elicitation.core.lotteries import Pair, lottery
from lottery_elicitation.core.prompts import observe
from lottery_elicitation.core.respondent import Preferences
from lottery_elicitation.core.scoring import PRESETS, REWARDS
from lottery_elicitation.core.settings import Settings
from lottery_elicitation.core.simulator import State, initial_state, step
from lottery_elicitation.strategies import STRATEGIES


def committed(settings: Settings, estimate: Estimate | None, index: int = 0) -> State:
    return step(initial_state(settings, index), Proposal(estimate=estimate, terminate_early=True))


def played(strategy: str, settings: Settings, index: int) -> State:
    state = initial_state(settings, index, noise_seed=index)
    while not state.is_over:
        state = step(state, STRATEGIES[strategy](observe(state), index, state.world.lambda_support))
    return state


def truth(state: State) -> Estimate:
    return Estimate(*state.world.preferences)


def test_every_recorded_episode_earns_its_recorded_reward(shared_data: Callable[[str], Any]) -> None:
    episodes = shared_data("lottery_reference.json")["episodes"]
    assert len(episodes) == 60
    for number_of_episode, row in enumerate(episodes):
        chosen = Settings(reward="published", stage=row["stage"], max_turns=row["max_steps"], stage1_lambda_band=0.0)
        state = initial_state(chosen)
        preferences = Preferences(row["true"]["gamma"], row["true"]["lambda"])
        state = replace(state, world=replace(state.world, preferences=preferences))
        estimate = Estimate(row["estimate"]["gamma"], row["estimate"]["lambda"]) if row["estimate"] else None
        for number, sides in enumerate(row["pairs"], start=1):
            is_last = number == len(row["pairs"])
            pair = Pair(*(lottery(*map(tuple, side)) for side in sides))
            state = step(state, Proposal(pair=pair, estimate=estimate if is_last else None, terminate_early=is_last))
        assert "".join(turn.choice or "-" for turn in state.turns) == row["choices"]
        assert episode_reward(state, "published") == pytest.approx(row["reward"], abs=1e-9)
        if number_of_episode % 5:  # a whole grade of an unusual number of turns solves a game of its own first
            continue
        graded = grade(state)
        assert graded.reward == graded.published == episode_reward(state, "published")
        if row["breakdown"]:
            assert graded.mse == pytest.approx(row["breakdown"]["mse_component"], abs=1e-9)
            assert graded.hl_accuracy == pytest.approx(row["breakdown"]["holt_laury_accuracy"], abs=1e-9)
            assert graded.eff == pytest.approx(row["breakdown"]["efficiency_bonus"], abs=1e-9)


def test_a_recorded_reward_holds_without_the_reference_data() -> None:
    """Three turns of nine, an estimate of (1.3643, 2.1288) for (0.8206, 3.4498)."""
    state = initial_state(Settings(reward="published", max_turns=9))
    state = replace(state, world=replace(state.world, preferences=Preferences(0.8205831257769454, 3.449820474276072)))
    for is_last in (False, False, True):
        state = step(state, Proposal(pair=battery()[0], estimate=Estimate(1.3643, 2.1288), terminate_early=is_last))
    assert grade(state).published == pytest.approx(0.14928209042954516, abs=1e-9)


def test_the_truth_earns_every_part_in_full() -> None:
    state = committed(Settings(), None)
    graded = grade(committed(Settings(), truth(state)))
    assert (graded.mse, graded.hl_accuracy, graded.success5, graded.eff) == (0.0, 1.0, 1.0, 0.9)
    assert graded.robust == pytest.approx(0.25 + 0.02 * 0.9 + 0.5)
    assert graded.published == pytest.approx(0.5 + 0.1 * 0.9)


@given(st.floats(-10, 10), st.floats(-10, 10), st.integers(0, 50), st.sampled_from(REWARDS))
@settings(max_examples=60, deadline=None)
def test_every_field_follows_its_formula(gamma: float, loss_aversion: float, index: int, reward: Any) -> None:
    state = committed(Settings(reward=reward), Estimate(gamma, loss_aversion), index)
    graded, hidden = grade(state), state.world.preferences
    errors = (
        (min(max(gamma, 0.2), 1.5) - hidden.gamma) / 1.3,
        (min(max(loss_aversion, 1.0), 4.5) - hidden.loss_aversion) / 3.5,
    )
    assert graded.gamma_nmse == pytest.approx(errors[0] ** 2)
    assert graded.lambda_nmse == pytest.approx(errors[1] ** 2)
    assert graded.mse == pytest.approx(-(errors[0] ** 2 + errors[1] ** 2))
    assert graded.success5 == (max(map(abs, errors)) <= 0.05)
    terms = (graded.mse, graded.hl_accuracy, graded.eff, graded.success5)
    for name in ("robust", "published"):
        assert getattr(graded, name) == pytest.approx(sum(w * t for w, t in zip(PRESETS[name], terms, strict=True)))
    assert graded.reward == getattr(graded, reward)
    assert all(type(value) is float and math.isfinite(value) for value in asdict(graded).values())


def test_ending_without_an_estimate_pays_minus_two() -> None:
    for name in REWARDS:
        chosen = Settings(reward=name, format_weight=1.0)
        expected = 0.0 if name == "hl_accuracy" else -2.0
        assert grade(committed(chosen, None)).reward == expected
        assert grade(initial_state(chosen)).reward == expected
    lost_at_the_end = initial_state(Settings(max_turns=2))
    for action in (Proposal(pair=battery()[0], estimate=Estimate(0.8, 2.0)), Malformed("no")):
        lost_at_the_end = step(lost_at_the_end, action)
    assert grade(lost_at_the_end).reward == -2.0


def test_the_worst_guess_expects_more_than_no_guess_under_both_presets() -> None:
    for name in ("robust", "published"):
        for corner in ((0.2, 1.0), (0.2, 4.5), (1.5, 1.0), (1.5, 4.5)):
            rewards = [grade(committed(Settings(reward=name), Estimate(*corner), i)).reward for i in range(400)]
            assert statistics.fmean(rewards) > -2.0
            assert min(rewards) >= -6.0


def test_weights_are_arguments_of_the_selected_signal() -> None:
    chosen = Settings(reward="published", mse_weight=2.0, hl_weight=0.0, eff_weight=0.0, success_weight=1.0)
    graded = grade(committed(chosen, Estimate(0.9, 2.0)))
    assert graded.reward == graded.published == pytest.approx(2 * graded.mse + graded.success5)
    assert graded.robust == grade(committed(Settings(), Estimate(0.9, 2.0))).robust


def test_the_format_term_pays_the_share_of_valid_turns() -> None:
    plain, with_term = Settings(), Settings(format_weight=0.1)
    states = []
    for chosen in (plain, with_term):
        state = step(initial_state(chosen), Malformed("no"))
        states.append(step(state, Proposal(estimate=Estimate(0.9, 2.0), terminate_early=True)))
    assert grade(states[0]).format_score == grade(states[0]).malformed_fraction == 0.5
    assert grade(states[1]).reward == pytest.approx(grade(states[0]).reward + 0.05)
    assert grade(states[1]).skill == grade(states[0]).skill


def test_the_potential_telescopes() -> None:
    """The sum of the drops depends on the prior and on the last estimate and posterior alone."""
    chosen = Settings(reward="robust_shaped")
    state = played("ceiling", chosen, 4)
    revised = [
        turn._replace(action=replace(turn.action, estimate=Estimate(0.3, 4.0)))
        for turn in state.turns[:-1]
        if isinstance(turn.action, Proposal)
    ]
    wandering = replace(state, turns=(*revised, state.turns[-1]))
    assert potential_drops(wandering) != potential_drops(state)
    assert sum(potential_drops(wandering)) == pytest.approx(sum(potential_drops(state)), abs=1e-12)
    assert grade(state).robust_shaped == pytest.approx(grade(state).robust + sum(potential_drops(state)))


def test_ignoring_the_answers_farms_no_potential() -> None:
    drops = [sum(potential_drops(played("bisect_and_ignore", Settings(), i))) for i in range(300)]
    standard_error = statistics.stdev(drops) / len(drops) ** 0.5
    assert abs(statistics.fmean(drops)) < 3 * standard_error
    used = [sum(potential_drops(played("ceiling", Settings(), i))) for i in range(30)]
    assert statistics.fmean(used) == pytest.approx(1 / 6, abs=0.02)


def test_information_counts_the_choices_that_the_estimate_could_use() -> None:
    state = played("ceiling", Settings(), 2)
    assert 6.0 < grade(state).information_bits < 9.0
    one_question = step(initial_state(Settings(max_turns=1)), Proposal(pair=battery()[4], estimate=Estimate(0.8, 2.0)))
    assert information_bits(one_question) == 0.0
    assert grade(committed(Settings(), Estimate(0.8, 2.0))).information_bits == 0.0


@pytest.mark.parametrize(
    "chosen", [Settings(), Settings(reward="published"), Settings(stage=1), Settings(randomise_ranges=True)]
)
def test_skill_is_one_for_optimal_play(chosen: Settings) -> None:
    skills = [grade(played("ceiling", chosen, i)).skill for i in range(40)]
    assert statistics.fmean(skills) == pytest.approx(1.0, abs=4 * statistics.stdev(skills) / 40**0.5 + 0.002)


def test_skill_is_zero_where_adaptive_play_cannot_gain() -> None:
    assert grade(committed(Settings(max_turns=1), Estimate(0.85, 2.75))).skill == 0.0


def test_metrics_are_the_fields_of_a_grade() -> None:
    assert {*METRICS, "reward"} == set(Grade.__dataclass_fields__)
    assert set(REWARDS) < set(METRICS)


def test_the_fingerprint_is_json_and_names_what_it_covers() -> None:
    fingerprint = grader_fingerprint()
    assert json.loads(json.dumps(fingerprint)) == fingerprint
    assert fingerprint["weights"]["robust"] == {"mse": 3.0, "hl_accuracy": 0.25, "eff": 0.02, "success5": 0.5}
    assert len(fingerprint["source_sha256"]) == 64
