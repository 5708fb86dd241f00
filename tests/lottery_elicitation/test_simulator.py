"""Episodes: turns, ends, noise, what is shown and what stays hidden."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lottery_elicitation.core.actions import Estimate, Malformed, Proposal, parse_action
from lottery_elicitation.core.battery import battery
from lottery_elicitation.core.candidates import lambda_cut
from lottery_elicitation.core.generator import build_world, noise_draw
from lottery_elicitation.core.grader import grade
from lottery_elicitation.core.prompts import find_observation, observation_from_json, observe, render, system_prompt
from lottery_elicitation.core.settings import Settings
from lottery_elicitation.core.simulator import State, initial_state, replay, step, transcript

ASK = Proposal(pair=battery()[4], estimate=Estimate(0.8, 2.0))
QUIT = Proposal(estimate=Estimate(0.8, 2.0), terminate_early=True)
LOST = Malformed("no JSON object found")


def played(settings: Settings, *actions: Proposal | Malformed, index: int = 0, noise_seed: int = 0) -> State:
    state = initial_state(settings, index, noise_seed)
    for action in actions:
        state = step(state, action)
    return state


def test_an_episode_ends_on_terminate_early_and_on_the_last_turn() -> None:
    assert played(Settings(), QUIT).is_over
    assert played(Settings(), QUIT).terminated_early
    full = played(Settings(), *[ASK] * 10)
    assert full.is_over
    assert not full.terminated_early
    assert full.estimate == ASK.estimate
    assert not played(Settings(), *[ASK] * 9).is_over


def test_the_last_allowed_turn_is_scored_with_or_without_lotteries() -> None:
    with_lotteries, without = (
        played(Settings(), *[ASK] * 10),
        played(Settings(), *[ASK] * 9, Proposal(estimate=ASK.estimate)),
    )
    assert grade(with_lotteries).reward == grade(without).reward
    assert with_lotteries.turns[-1].choice is not None
    assert without.turns[-1].choice is None


def test_a_malformed_turn_costs_the_turn_and_changes_nothing_else() -> None:
    state = played(Settings(), LOST, ASK)
    clean = played(Settings(), ASK)
    assert (state.num_turns, clean.num_turns) == (2, 1)
    assert state.answers == clean.answers
    assert "no JSON object found" in render(observe(played(Settings(), LOST)))


def test_an_episode_of_malformed_turns_ends() -> None:
    state = played(Settings(max_turns=3), LOST, LOST, LOST)
    assert state.is_over
    assert grade(state).reward == -2.0


def test_stepping_past_the_end_raises() -> None:
    with pytest.raises(ValueError, match="ended after 1 turns"):
        step(played(Settings(), QUIT), ASK)


def test_stopping_is_not_honoured_before_min_turns() -> None:
    settings = Settings(min_turns=3)
    state = played(settings, replace(ASK, terminate_early=True))
    assert not state.is_over
    assert "from turn 3 on" in observe(state).feedback
    lost = played(settings, QUIT)
    assert isinstance(lost.turns[0].action, Malformed)
    assert "honoured from turn 3" in observe(lost).feedback
    assert played(settings, ASK, ASK, QUIT).is_over


def test_lotteries_left_out_of_a_middle_turn_are_a_fault() -> None:
    state = played(Settings(), Proposal(estimate=Estimate(0.8, 2.0)))
    assert isinstance(state.turns[0].action, Malformed)
    assert not state.is_over


def test_an_estimate_outside_the_ranges_is_clipped_and_flagged() -> None:
    state = played(Settings(), Proposal(estimate=Estimate(1e300, -1e300), terminate_early=True))
    assert state.estimate == Estimate(1.5, 1.0)
    assert "outside the ranges" in observe(state).feedback


def test_scaled_probabilities_are_told() -> None:
    text = json.dumps(ASK.to_json()).replace("0.5}", "0.495}")
    action = parse_action(text)
    assert isinstance(action, Proposal)
    assert action.is_renormalised
    assert "scaled" in observe(played(Settings(), action)).feedback


def test_a_group_shares_the_hidden_parameters_and_differs_in_noise() -> None:
    settings = Settings(noise=10.0)
    runs = [played(settings, *[ASK] * 9, index=5, noise_seed=seed) for seed in range(8)]
    assert len({run.world.preferences for run in runs}) == 1
    assert len({tuple(turn.choice for turn in run.turns) for run in runs}) > 1
    assert played(settings, *[ASK] * 9, index=5, noise_seed=3) == runs[3]


def test_noise_draws_do_not_depend_on_what_was_asked_before() -> None:
    settings = Settings(noise=10.0)
    asked_first = played(settings, ASK, ASK)
    lost_first = played(settings, LOST, ASK)
    assert asked_first.turns[1].choice == lost_first.turns[1].choice
    key = asked_first.world.key
    assert noise_draw(key, 0, 1) != noise_draw(key, 1, 1) != noise_draw(key, 0, 2)


def test_a_noise_setting_changes_no_hidden_parameter() -> None:
    worlds = {
        build_world(Settings(noise=noise, reward=reward), 7) for noise in (None, 0.2) for reward in ("robust", "mse")
    }
    assert len(worlds) == 1


def test_a_transcript_replays_to_the_same_state_and_grade() -> None:
    settings = Settings(stage=3, randomise_ranges=True)
    stake = 20.0
    state = played(settings, ASK, LOST, Proposal(pair=lambda_cut(2.0, stake)), QUIT, index=3, noise_seed=11)
    facts = json.loads(json.dumps(transcript(state)))
    assert replay(settings, facts) == state
    assert grade(replay(settings, facts)) == grade(state)
    with pytest.raises(ValueError, match="use the settings it ran with"):
        replay(Settings(stage=2), facts)
    facts["turns"][0]["choice"] = {"A": "B", "B": "A"}[facts["turns"][0]["choice"]]
    with pytest.raises(ValueError, match="turn 1: recorded choice"):
        replay(settings, facts)


def test_an_observation_survives_the_wire_and_a_rendered_message() -> None:
    state = played(Settings(stage=3), ASK, LOST)
    seen = observe(state)
    assert observation_from_json(json.loads(json.dumps(seen.to_json()))) == seen
    assert find_observation(render(seen)) == seen
    assert find_observation("hello") is None


@pytest.mark.parametrize(
    "settings", [Settings(stage=1), Settings(stage=1, stage1_lambda_band=0.0), Settings(), Settings(stage=3)]
)
def test_nothing_hidden_is_shown(settings: Settings) -> None:
    for index in range(20):
        state = played(settings, ASK, LOST, index=index)
        text = system_prompt(settings) + render(observe(state))
        for hidden in state.world.preferences:
            assert f"{hidden:.4f}"[:-1] not in text.replace("2.25 ", "")
        if settings.stage == 1:
            assert "2.25" not in text
            assert "1.25" not in text
            assert "3.25" not in text


@given(st.lists(st.sampled_from([ASK, LOST, Proposal(estimate=Estimate(1.0, 1.0))]), max_size=9))
def test_every_action_takes_one_turn(actions: list[Proposal | Malformed]) -> None:
    state = played(Settings(), *actions)
    assert state.num_turns == len(actions)
    assert observe(state).turns_remaining == 10 - len(actions)
