"""Means, their errors and pass@k, against plain definitions."""

import itertools
import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vf_grpo.estimates import estimate, pass_at_k


@given(st.lists(st.lists(st.floats(-10, 10), max_size=4), max_size=6))
def test_an_estimate_is_the_mean_of_task_means(values: list[list[float]]) -> None:
    mean, standard_error = estimate(values)
    tasks = [sum(task) / len(task) for task in values if task]
    if not tasks:
        assert math.isnan(mean)
    else:
        assert mean == pytest.approx(sum(tasks) / len(tasks), abs=1e-9)
    assert (standard_error is None) == (len(tasks) < 2)


@given(st.lists(st.booleans(), min_size=1, max_size=7), st.integers(1, 7))
def test_pass_at_k_is_the_share_of_subsets_that_hold_a_pass(passes: list[bool], k: int) -> None:
    value = pass_at_k([passes], k)
    if k > len(passes):
        assert math.isnan(value.mean)
    else:
        subsets = [any(chosen) for chosen in itertools.combinations(passes, k)]
        assert value.mean == pytest.approx(statistics.fmean(subsets))


def test_an_estimate_prints_its_95_percent_interval() -> None:
    assert str(estimate([[1.0], [0.0], [1.0], [0.0]])) == "0.500 ± 0.566"
    assert str(estimate([[0.25]])) == "0.250"
