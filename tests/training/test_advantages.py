import math
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vf_grpo.advantages import dead_groups, group_advantages, mean_or_none, split_groups

rewards = st.lists(st.none() | st.floats(-2, 2), min_size=1, max_size=12)


def test_an_unscored_episode_has_no_advantage_and_is_left_out_of_the_mean() -> None:
    advantages = group_advantages([1.0, 0.0, None, 1.0])
    assert advantages[2] == 0.0
    assert sum(advantages) == pytest.approx(0.0, abs=1e-9)
    scored = group_advantages([1.0, 0.0, 1.0])
    assert [advantages[0], advantages[1], advantages[3]] == pytest.approx(scored)


@given(rewards)
def test_advantages_are_finite_and_centred(group: list[float | None]) -> None:
    advantages = group_advantages(group)
    assert len(advantages) == len(group)
    assert all(math.isfinite(advantage) for advantage in advantages)
    assert fmean(advantages) == pytest.approx(0.0, abs=1e-6)
    assert all(a == 0.0 for a, reward in zip(advantages, group, strict=True) if reward is None)


def test_unscaled_advantages_keep_the_size_of_the_reward() -> None:
    assert group_advantages([1.0, 0.0], scale="none") == [0.5, -0.5]


def test_dead_groups_split_into_solved_and_failed() -> None:
    found = dead_groups([1, 1, 0, 0, 1, 0, None, None], group_size=2, solved_at=1.0)
    assert found == (0.75, 0.25, 0.5)


def test_a_tiny_spread_keeps_a_group_alive() -> None:
    assert dead_groups([0.001, 0.002], group_size=2, solved_at=1.0).dead == 0.0


def test_rewards_that_do_not_fill_their_groups_are_refused() -> None:
    with pytest.raises(ValueError, match=r"do not split into groups of 4"):
        split_groups([1.0] * 6, 4)


def test_a_mean_of_nothing_is_unknown_and_a_nan_is_refused() -> None:
    assert mean_or_none([None]) is None
    with pytest.raises(ValueError, match=r"finite"):
        mean_or_none([float("nan")])


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=8))
def test_advantages_equal_trls(group: list[float]) -> None:
    torch = pytest.importorskip("torch")
    values = torch.tensor(group, dtype=torch.float64)
    expected = (values - values.mean()) / (values.std() + 1e-4)
    assert group_advantages(group) == pytest.approx(expected.tolist(), abs=1e-9)
