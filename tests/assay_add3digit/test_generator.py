"""Problems: the published streams, their splits, and what is refused."""

import hashlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay_add3digit.core.generator import SETTINGS, Problem, build_problems
from assay_add3digit.core.prompts import INSTRUCTION, prompt


def test_the_first_published_problems_are_drawn() -> None:
    first = build_problems("add-2digit", 3, seed=0)
    assert [(p.left, p.right, p.answer) for p in first] == [(59, 81, 140), (88, 90, 178), (73, 10, 83)]


def test_every_recorded_stream_is_drawn(shared_data: Callable[[str], Any]) -> None:
    recorded = shared_data("assay_operands.json")["settings"]
    assert len(recorded) == 12
    for name, row in recorded.items():
        setting, seed = name.split("/")
        problems = build_problems(setting, 2000, int(seed))
        assert [[p.left, p.right, p.answer] for p in problems[:8]] == row["rows"]
        lines = "".join(f"{p.left} {p.operator} {p.right} = {p.answer}\n" for p in problems)
        assert hashlib.sha256(lines.encode()).hexdigest() == row["sha256"]


@pytest.mark.parametrize("setting", SETTINGS)
def test_train_and_eval_share_no_unordered_pair_of_operands(setting: Any) -> None:
    train, held_out = (build_problems(setting, 500, 3, split, n_train=500) for split in ("train", "eval"))
    pairs = {frozenset((p.left, p.right)) for p in train}
    assert not any(frozenset((p.left, p.right)) in pairs for p in held_out)
    assert len(held_out) == 500


@given(st.integers(0, 50), st.integers(0, 50), st.integers(-5, 5))
@settings(max_examples=30)
def test_a_longer_build_begins_with_the_shorter(n: int, more: int, seed: int) -> None:
    assert build_problems(n=n + more, seed=seed)[:n] == build_problems(n=n, seed=seed)


def test_more_train_problems_leave_the_train_stream_as_it_is() -> None:
    assert build_problems(n=5, n_train=10) == build_problems(n=5, n_train=1000)


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_number_shown_in_the_instruction_is_no_answer(setting: Any) -> None:
    spec = SETTINGS[setting]
    lowest = Problem("", spec.left[0], spec.operator, spec.right[0]).answer
    assert "<answer>0</answer>" in INSTRUCTION
    assert lowest > 0


def test_an_instruction_replaces_the_wording() -> None:
    problem = build_problems(n=1)[0]
    assert prompt(problem) == f"What is {problem.expression}?\n{INSTRUCTION}"
    assert prompt(problem, "Reply with a number.") == f"What is {problem.expression}?\nReply with a number."
    assert prompt(problem, "Compute {problem} {now}.") == f"Compute {problem.expression} {{now}}."


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"setting": "add-4digit"}, "add-4digit"),
        ({"split": "test"}, "test"),
        ({"n": -1}, "n=-1"),
        ({"setting": "mul-2x1digit", "split": "eval", "n_train": 20_000}, "n_train"),
    ],
)
def test_what_cannot_be_built_is_refused_by_name(arguments: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        build_problems(**arguments)
