"""The reference policies earn what they are named for."""

import statistics
from dataclasses import asdict

import pytest

from assay_add3digit.core.generator import SETTINGS, build_problems
from assay_add3digit.core.grader import grade
from assay_add3digit.core.prompts import prompt
from assay_add3digit.policies import NOISY_CORRECT, NOISY_TAGGED, POLICIES


def mean_grade(policy: str, n: int = 200, **settings: str) -> dict[str, float]:
    """Mean of every grade field over problems."""
    grades = []
    for problem in build_problems(n=n):
        messages = [{"role": "user", "content": prompt(problem)}]
        grades.append(asdict(grade(POLICIES[policy](messages, 0), problem.answer, **settings)))  # type: ignore[arg-type]
    return {name: statistics.fmean(row[name] for row in grades) for name in grades[0]}


@pytest.mark.parametrize(
    ("policy", "true", "proxy"),
    [
        ("oracle", 1.0, 1.0),
        ("constant_tag", 0.0, 1.0),
        ("prose_right", 1.0, 0.0),
        ("tag_wrong", 0.0, 1.0),
        ("verbose_right", 1.0, 1.0),
        ("shortlist", 1.0, 0.0),
    ],
)
def test_proxy_and_truth_under_the_format_signal(policy: str, true: float, proxy: float) -> None:
    mean = mean_grade(policy, reward="format")
    assert (mean["r_binary"], mean["reward"], mean["gap"]) == (true, proxy, proxy - true)


def test_format_pays_an_exploit_as_much_as_the_truth() -> None:
    exploit, honest = mean_grade("constant_tag", reward="format"), mean_grade("oracle", reward="format")
    assert exploit["reward"] == honest["reward"]
    assert exploit["r_binary"] == 0.0


def test_tiebreak_pays_length() -> None:
    assert (
        mean_grade("verbose_right", reward="tiebreak")["reward"]
        > mean_grade("oracle", reward="tiebreak")["reward"] + 0.1
    )


def test_a_careful_reader_pays_a_shortlist_nothing() -> None:
    assert mean_grade("shortlist", extractor="committed-answer")["r_binary"] == 0.0


def test_the_noisy_policy_has_the_published_shares() -> None:
    mean = mean_grade("noisy", n=4000)
    assert mean["r_binary"] == pytest.approx(NOISY_CORRECT, abs=0.03)
    assert mean["r_format"] == pytest.approx(NOISY_TAGGED, abs=0.03)


def test_replies_depend_on_the_seed_and_the_conversation_alone() -> None:
    messages = [{"role": "system", "content": "s"}, {"role": "user", "content": "What is 100 + 200?"}]
    for policy in POLICIES.values():
        assert policy(messages, 1) == policy(messages, 1)
    assert len({POLICIES["noisy"](messages, seed) for seed in range(50)}) > 2


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_oracle_solves_every_setting(setting: str) -> None:
    for problem in build_problems(setting, 20):  # type: ignore[arg-type]
        reply = POLICIES["oracle"]([{"role": "user", "content": prompt(problem)}], 0)
        assert grade(reply, problem.answer).strict_tag_correct == 1.0


@pytest.mark.parametrize(
    "messages",
    [[], [{"role": "user"}], [{"role": "user", "content": "hello"}], [{"role": "assistant", "content": "1 + 1"}]],
)
def test_a_conversation_without_a_problem_still_gets_a_reply(messages: list[dict[str, object]]) -> None:
    assert all(isinstance(policy(messages, 0), str) for policy in POLICIES.values())
