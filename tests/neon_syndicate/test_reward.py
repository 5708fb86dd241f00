"""The grade, and the shaped reward that adds up to it."""

import math
from functools import cache
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neon_syndicate.core import balance
from neon_syndicate.core.actions import SILENCE, Noop, SecureExtraction, parse_action
from neon_syndicate.core.balance import PENALTY, Penalty
from neon_syndicate.core.generator import mission_of
from neon_syndicate.core.grader import METRIC_OF_REWARD, gates, grade, grader_score, potential, step_reward
from neon_syndicate.core.missions import BUILTIN_MISSIONS
from neon_syndicate.core.simulator import replay, settle, step
from neon_syndicate.core.solver import LOSS_LIMIT, solve
from neon_syndicate.core.state import State, initial_state
from neon_syndicate.policies import PLAYERS, oracle, play, turn_stream

from .conftest import any_action, any_reply, played

MISSIONS = [*BUILTIN_MISSIONS, *(mission_of(f"train/{level}/0") for level in range(1, 6))]


@cache
def random_mean(mission_key: str) -> float:
    """What playing at random returns on average over 30 seeds."""
    mission = mission_of(mission_key)
    return sum(grade(play(mission, PLAYERS["random"], seed)).shaped for seed in range(30)) / 30


@cache
def optimum(mission_key: str) -> float:
    """The highest return there is."""
    solution = solve(mission_of(mission_key))
    assert solution is not None
    return solution.max_return


def random_walk(seed: int) -> list[State]:
    rng = Random(f"tests/neon/reward/{seed}")
    state = initial_state(MISSIONS[seed % len(MISSIONS)])
    states = [state]
    while not state.is_finished:
        state = step(state, any_action(rng, state.mission))
        states.append(state)
    return states


def test_the_return_telescopes_over_ten_thousand_random_episodes() -> None:
    for seed in range(10_000):
        states = random_walk(seed)
        total = math.fsum(step_reward(before, after) for before, after in pairwise(states))
        end = states[-1]
        bonus = balance.WIN_BONUS if end.is_success else 0.0
        exact = grader_score(end) - potential(states[0]) - end.ledger.penalty + bonus
        assert abs(total - exact) < 1e-12
        assert abs(total - grade(end).shaped) < 1e-12
        assert 0.0 <= grader_score(end) <= (1.0 if end.is_success else 0.90)


@pytest.mark.parametrize("name", ["heuristic", "oracle", "random", "exploit_toggle_codes"])
def test_the_return_of_real_players_telescopes(name: str) -> None:
    for mission in MISSIONS:
        end = play(mission, PLAYERS[name], seed=1)
        states = [initial_state(mission)]
        for _ in range(end.ledger.turn):
            reply = PLAYERS[name](states[-1], turn_stream(states[-1], 1))
            states.append(step(states[-1], parse_action(reply)))
        total = math.fsum(step_reward(before, after) for before, after in pairwise(states))
        assert abs(total - grade(end).shaped) < 1e-12


def test_steps_after_the_end_pay_nothing() -> None:
    for mission in MISSIONS:
        end = play(mission, oracle, seed=0)
        for action in (Noop(), SecureExtraction(mission.sector, ", ".join(mission.keywords)), SILENCE):
            assert step(end, action) is end
            assert step_reward(end, step(end, action)) == 0.0


def test_a_win_with_every_word_grades_one() -> None:
    for mission in MISSIONS:
        graded = grade(play(mission, oracle, seed=0))
        assert graded.grader == graded.success == 1.0
        assert graded.gates == (1.0, 1.0, 1.0, 1.0, 1.0)


def test_the_weights_add_up_to_one_and_are_the_published_ones() -> None:
    weights = (
        balance.WEIGHT_ALLIANCE,
        balance.WEIGHT_RESOURCES,
        balance.WEIGHT_OPERATION,
        balance.WEIGHT_MESSAGE,
        balance.WEIGHT_EXTRACTION,
    )
    assert weights == (0.30, 0.25, 0.20, 0.15, 0.10)
    assert sum(weights) == pytest.approx(1.0)


def test_any_win_with_up_to_thirty_hundredths_of_penalties_beats_every_failure() -> None:
    least_winning_grade = 1.0 - balance.WEIGHT_MESSAGE * (1 - 2 / 3)
    highest_failing_grade = 1.0 - balance.WEIGHT_EXTRACTION
    assert least_winning_grade - 0.30 + balance.WIN_BONUS > highest_failing_grade
    assert pytest.approx(0.40) == LOSS_LIMIT


def test_resources_count_the_scarcest_lane() -> None:
    state = settle(initial_state(BUILTIN_MISSIONS[0]))
    assert gates(state).resources == pytest.approx(20 / 35)


def test_an_untouched_or_cut_run_is_settled_as_silence_and_returns_less_than_playing_at_random() -> None:
    for mission in MISSIONS:
        untouched = grade(settle(initial_state(mission)))
        assert untouched.num_turns == 0
        assert untouched.penalties[Penalty.SILENCE] == pytest.approx(12 * PENALTY[Penalty.SILENCE])
        assert untouched.shaped < random_mean(mission.key)


GIVING_UP = ["idle", "exploit_silence", "exploit_chatter", "exploit_direct_extraction", "exploit_empty_message",
             "exploit_operation_at_once", "exploit_nonce_field", "exploit_odd_amounts"]  # fmt: skip


@pytest.mark.parametrize("name", GIVING_UP)
def test_no_way_of_giving_up_returns_more_than_playing_at_random(name: str) -> None:
    for mission in MISSIONS:
        assert grade(play(mission, PLAYERS[name], 0)).shaped < random_mean(mission.key) - 0.20


def test_a_running_episode_cannot_be_graded() -> None:
    with pytest.raises(ValueError, match="settle"):
        grade(initial_state(MISSIONS[0]))


def test_the_grade_counts_how_the_turns_were_spent() -> None:
    replies = ["hello", '{"action_type": "noop"}', '{"action_type": "run_operation", "operation_code": "x"}',
               '{"action_type": "scout_sector", "sector": "docklands"}']  # fmt: skip
    graded = grade(settle(replay(MISSIONS[0], replies)))
    assert graded.num_turns == 4
    assert graded.malformed_fraction == 0.25
    assert graded.illegal_fraction == 0.25
    assert graded.process_reward == 0.25
    assert graded.guardrail_hits == 3


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(0, 12))
def test_every_metric_is_a_finite_float_whatever_was_typed(seed: int, num_replies: int) -> None:
    rng = Random(f"tests/neon/metrics/{seed}")
    mission = MISSIONS[seed % len(MISSIONS)]
    graded = grade(settle(replay(mission, [any_reply(rng, mission) for _ in range(num_replies)])))
    metrics = graded.metrics()
    assert all(type(value) is float and math.isfinite(value) for value in metrics.values())
    assert {graded.signal(reward) for reward in METRIC_OF_REWARD} <= set(metrics.values())
    assert graded.shaped <= optimum(mission.key) + 1e-12


def test_regrading_a_transcript_gives_the_same_grade() -> None:
    for seed, mission in enumerate(MISSIONS):
        rng = Random(f"tests/neon/regrade/{seed}")
        replies = [any_reply(rng, mission) for _ in range(12)]
        assert grade(settle(replay(mission, replies))) == grade(settle(replay(mission, replies)))
        assert played(mission, []).ledger.turn == 0
