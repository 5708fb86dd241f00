"""The respondent and the Holt-Laury battery, against recorded behaviour and against themselves."""

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lottery_elicitation.core import holt_laury
from lottery_elicitation.core.lotteries import Lottery, Outcome, Pair, lottery, sure
from lottery_elicitation.core.respondent import (
    ChoiceNoise,
    Preferences,
    choices_without_noise,
    choose,
    expected_utilities,
    expected_utility,
    probabilities_on_grid,
    probability_of_a,
)

DETERMINISTIC = ChoiceNoise()
REFERENCE = "lottery_reference.json"

preferences = st.builds(Preferences, st.floats(0.2, 1.5), st.floats(1.0, 4.5))
amounts = st.floats(-50, 100).map(lambda x: round(x, 3))


@st.composite
def lotteries(draw: st.DrawFn) -> Lottery:
    weights = draw(st.lists(st.integers(1, 100), min_size=2, max_size=3))
    return Lottery(tuple(Outcome(draw(amounts), weight / sum(weights)) for weight in weights))


pairs = st.builds(Pair, lotteries(), lotteries())


def recorded_lottery(outcomes: list[list[float]]) -> Lottery:
    return lottery(*((value, probability) for value, probability in outcomes))


def test_every_recorded_choice_and_utility_is_reproduced(shared_data: Callable[[str], Any]) -> None:
    choices = shared_data(REFERENCE)["choices"]
    assert len(choices) == 200
    for row in choices:
        person = Preferences(row["gamma"], row["lambda"])
        pair = Pair(recorded_lottery(row["lottery_a"]), recorded_lottery(row["lottery_b"]))
        assert expected_utility(pair.a, person) == pytest.approx(row["eu_a"], abs=1e-9)
        assert expected_utility(pair.b, person) == pytest.approx(row["eu_b"], abs=1e-9)
        assert choose(pair, person, DETERMINISTIC, uniform=0.5) == row["choice"]


def test_every_recorded_switch_pattern_is_reproduced(shared_data: Callable[[str], Any]) -> None:
    patterns = shared_data(REFERENCE)["holt_laury"]
    assert len(patterns) == 53
    for row in patterns:
        assert holt_laury.choice_pattern(row["gamma"]) == row["choices"]


def test_two_recorded_facts_hold_without_the_reference_data() -> None:
    person = Preferences(0.6963800490630855, 3.3654524067414555)
    a = lottery((15.43, 0.1566), (19.25, 0.8404), (26.08, 0.003))
    b = lottery((85.17, 0.251), (39.98, 0.6149), (60.77, 0.1341))
    assert expected_utility(a, person) == pytest.approx(7.672665817126263, abs=1e-9)
    assert choose(Pair(a, b), person, DETERMINISTIC, 0.5) == "B"
    assert holt_laury.choice_pattern(0.2) == "AAAAAAABBB"


@given(preferences, pairs)
def test_the_vectorised_respondents_agree_with_the_scalar_one(person: Preferences, pair: Pair) -> None:
    gammas, loss_aversions = np.array([person.gamma]), np.array([person.loss_aversion])
    for side in pair:
        values, probabilities = zip(*side.outcomes, strict=True)
        batch = expected_utilities(values, probabilities, person.gamma, person.loss_aversion)
        assert float(batch) == pytest.approx(expected_utility(side, person), rel=1e-12, abs=1e-9)
    for noise in (ChoiceNoise(0.05), ChoiceNoise(2.0, "raw")):
        grid = probabilities_on_grid(pair, gammas, loss_aversions, noise)
        assert grid.shape == (1, 1)
        assert float(grid[0, 0]) == pytest.approx(probability_of_a(pair, person, noise), abs=1e-9)


@given(preferences, lotteries())
def test_a_tie_chooses_a_whatever_the_order_of_outcomes(person: Preferences, a: Lottery) -> None:
    b = Lottery(a.outcomes[::-1])
    assert choose(Pair(a, b), person, DETERMINISTIC, 0.999) == "A"
    assert choose(Pair(b, a), person, DETERMINISTIC, 0.999) == "A"


@given(preferences, pairs, st.sampled_from(["contextual", "raw"]), st.floats(1e-6, 1e6))
def test_noise_is_symmetric_and_bounded(person: Preferences, pair: Pair, units: Any, scale: float) -> None:
    noise = ChoiceNoise(scale, units)
    forward, backward = probability_of_a(pair, person, noise), probability_of_a(Pair(pair.b, pair.a), person, noise)
    assert 0.0 <= forward <= 1.0
    assert forward + backward == pytest.approx(1.0, abs=1e-9)


def test_noise_follows_the_logistic_formula() -> None:
    person, pair = Preferences(1.0, 2.0), Pair(lottery((10, 0.5), (-10, 0.5)), sure(0.0))
    assert probability_of_a(pair, person, ChoiceNoise(5.0, "raw")) == pytest.approx(1 / (1 + math.e))
    assert probability_of_a(pair, person, ChoiceNoise(5 / 30)) == pytest.approx(1 / (1 + math.e))


def test_impossible_outcomes_do_not_dilute_contextual_noise() -> None:
    person = Preferences(0.8, 2.0)
    plain = Pair(lottery((40, 0.5), (0, 0.5)), sure(15.0))
    padded = Pair(lottery((40, 0.5), (0, 0.5), (100, 0.0)), sure(15.0))
    assert probability_of_a(plain, person, ChoiceNoise(0.05)) == probability_of_a(padded, person, ChoiceNoise(0.05))


def test_switch_thresholds_are_the_known_ones_and_switch_one_choice() -> None:
    thresholds = holt_laury.switch_thresholds(0.2, 1.5)
    assert thresholds == pytest.approx((0.3238, 0.5885, 0.8536, 1.1426, 1.4866), abs=5e-5)
    for threshold in thresholds:
        below, above = holt_laury.safe_choices(threshold - 1e-7), holt_laury.safe_choices(threshold + 1e-7)
        assert below.sum() == above.sum() + 1


def test_a_million_noiseless_choices_take_less_than_a_second() -> None:
    rng = np.random.default_rng(0)
    n = 200_000
    values, probabilities = rng.uniform(-50, 100, (n, 2, 3)), rng.dirichlet([1, 1, 1], (n, 2))
    gamma, loss_aversion = rng.uniform(0.2, 1.5, n), rng.uniform(1, 4.5, n)
    seconds = []
    for _ in range(3):
        start = time.process_time()
        chosen = choices_without_noise(values, probabilities, gamma, loss_aversion)
        seconds.append(time.process_time() - start)
    assert n / min(seconds) > 1e6
    i = 17
    pair = Pair(*(lottery(*zip(values[i, side], probabilities[i, side], strict=True)) for side in (0, 1)))
    assert chosen[i] == (choose(pair, Preferences(gamma[i], loss_aversion[i]), DETERMINISTIC, 0.5) == "A")
