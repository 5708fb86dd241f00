"""The arguments: what they choose, and what they refuse by name."""

from typing import Any

import pytest
import verifiers.v1 as vf
from pydantic import ValidationError

import neon_syndicate
from neon_syndicate.arguments import NeonArguments
from neon_syndicate.core.missions import BUILTIN_IDS, BUILTIN_MISSIONS


def keys(num: int, **arguments: Any) -> list[str]:
    return list(NeonArguments(num_tasks=num, **arguments).task_keys())


def test_without_a_choice_the_six_written_missions_come_easy_to_hard_and_again() -> None:
    chosen = keys(8)
    assert chosen[:6] == [mission.key for mission in BUILTIN_MISSIONS]
    assert chosen[6:] == [f"train/{BUILTIN_IDS[0]}/1", f"train/{BUILTIN_IDS[1]}/1"]


def test_missions_difficulty_and_procedural_choose() -> None:
    assert keys(2, missions=[BUILTIN_IDS[4]]) == [f"builtin/{BUILTIN_IDS[4]}", f"train/{BUILTIN_IDS[4]}/1"]
    assert keys(2, difficulty="medium") == [f"builtin/{BUILTIN_IDS[2]}", f"builtin/{BUILTIN_IDS[3]}"]
    assert keys(3, difficulty=4) == ["train/4/0", "train/4/1", "train/4/2"]
    assert keys(2, difficulty="4", split="eval", seed=2) == ["eval.2/4/0", "eval.2/4/1"]
    assert keys(6, procedural=True) == ["train/1/0", "train/2/0", "train/3/0", "train/4/0", "train/5/0", "train/1/1"]
    assert keys(2, procedural=True, difficulty=2) == ["train/2/0", "train/2/1"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"missions": ["moon"]}, "moon"),
        ({"missions": []}, "missions"),
        ({"missions": "task_easy_docklands_relay"}, "missions"),
        ({"missions": ["task_easy_docklands_relay"], "difficulty": 3}, "missions"),
        ({"missions": ["task_easy_docklands_relay"], "procedural": True}, "missions"),
        ({"difficulty": 6}, "difficulty"),
        ({"difficulty": 0}, "difficulty"),
        ({"difficulty": "brutal"}, "difficulty"),
        ({"difficulty": True}, "difficulty"),
        ({"difficulty": 2.0}, "difficulty"),
        ({"num_tasks": 100.0}, "num_tasks"),
        ({"num_tasks": "100.0"}, "num_tasks"),
        ({"seed": "1_000"}, "seed"),
        ({"seed": " 7 "}, "seed"),
        ({"procedural": "yes"}, "procedural"),
        ({"difficulty": "hard", "procedural": True}, "difficulty"),
        ({"procedural": 1}, "procedural"),
        ({"num_tasks": 0}, "num_tasks"),
        ({"num_tasks": True}, "num_tasks"),
        ({"seed": -1}, "seed"),
        ({"split": "test"}, "split"),
        ({"reward": "grade"}, "reward"),
    ],
)
def test_wrong_arguments_are_refused_by_name(arguments: dict[str, Any], named: str) -> None:
    with pytest.raises(ValidationError, match=named):
        neon_syndicate.load_environment(**arguments)
    with pytest.raises(ValidationError, match=named):
        vf.resolve_env_config({"taskset": {"id": "neon-syndicate", **arguments}})


def test_the_taskset_is_endless_unless_bounded() -> None:
    endless = neon_syndicate.load_environment(procedural=True).taskset
    assert endless.INFINITE
    assert not endless.bounded
    bounded = neon_syndicate.load_environment(num_tasks=7).taskset
    assert not bounded.INFINITE
    assert len(list(bounded)) == 7


def test_a_task_carries_its_key_and_nothing_hidden() -> None:
    for task, mission in zip(neon_syndicate.load_environment().taskset.take(6), BUILTIN_MISSIONS, strict=True):
        dumped = task.data.model_dump_json()
        assert task.key == mission.key
        assert mission.code not in dumped
        assert not any(word in dumped for word in mission.keywords)
