"""Task keys, written missions and their variants, and the endless supply."""

import itertools
import statistics
import subprocess
import sys

import pytest

from neon_syndicate.core.generator import LEVEL, LEVELS, generate_mission, mission_of, next_level, task_key
from neon_syndicate.core.missions import BUILTIN_IDS, BUILTIN_MISSIONS
from neon_syndicate.core.solver import solve
from neon_syndicate.core.state import initial_state
from neon_syndicate.core.vocabulary import Threat
from neon_syndicate.policies import PLAYERS, play

SAMPLE = 12


@pytest.fixture(scope="module")
def minima() -> dict[int, list[int]]:
    """The certified minimum of some missions of each level."""
    found: dict[int, list[int]] = {}
    for level in LEVELS:
        solutions = [solve(generate_mission("train", level, index)) for index in range(SAMPLE)]
        found[level] = [solution.fewest_turns for solution in solutions if solution is not None and solution.loss == 0]
    return found


def test_every_generated_mission_can_be_won_without_a_penalty_within_its_band(minima: dict[int, list[int]]) -> None:
    for level, turns in minima.items():
        low, high = LEVEL[level].fewest_turns
        assert len(turns) == SAMPLE
        assert all(low <= turn <= high <= 12 for turn in turns)


def test_the_median_minimum_rises_strictly_with_the_level(minima: dict[int, list[int]]) -> None:
    medians = [statistics.median(turns) for turns in minima.values()]
    assert all(easier < harder for easier, harder in itertools.pairwise(medians))


def test_levels_ask_for_what_the_table_says() -> None:
    assert [(LEVEL[n].num_allies, LEVEL[n].num_keywords, LEVEL[n].threat) for n in LEVELS] == [
        (1, 2, Threat.LOW),
        (1, 2, Threat.LOW),
        (2, 3, Threat.MEDIUM),
        (3, 3, Threat.HIGH),
        (3, 4, Threat.CRITICAL),
    ]
    scales = [LEVEL[n].need_scale for n in LEVELS]
    assert scales == sorted(scales)
    assert scales[-1] == 1.4
    lengths = [len(generate_mission("train", n, 0).code) for n in LEVELS]
    assert lengths == sorted(lengths)
    for level in LEVELS:
        mission = generate_mission("eval", level, 3)
        assert len(mission.allies) == LEVEL[level].num_allies
        assert len(set(mission.keywords)) == LEVEL[level].num_keywords
        assert mission.threat is LEVEL[level].threat


def test_some_leads_are_ambiguous() -> None:
    leads = [
        lead
        for level in LEVELS
        for packet in (
            generate_mission("train", level, 0).public,
            *generate_mission("train", level, 0).packets.values(),
        )
        for lead in [packet.leads]
        if lead
    ]
    assert {len(lead) for lead in leads} == {1, 2}


def test_no_operation_code_is_in_both_splits() -> None:
    codes = {
        split: {mission_of(task_key(split, series, index)).code for series in (1, 2, *BUILTIN_IDS) for index in range(1, 8)}
        for split in ("train", "eval")
    }  # fmt: skip
    assert not codes["train"] & codes["eval"]
    assert len(codes["train"]) > 50


def test_a_written_mission_comes_round_with_other_codes_and_words() -> None:
    for written in BUILTIN_MISSIONS:
        series = written.key.removeprefix("builtin/")
        assert task_key("train", series, 0) == written.key
        variant = mission_of(task_key("train", series, 1))
        assert variant.code != written.code
        assert not set(variant.keywords) & set(written.keywords)
        assert (variant.stakes, variant.allies, variant.need, variant.packets) == (
            written.stakes,
            written.allies,
            written.need,
            written.packets,
        )
        by_heart = play(variant, PLAYERS["exploit_memorised"], 0)
        assert not by_heart.is_success


def test_seeds_name_further_streams() -> None:
    keys = {task_key("train", 3, 5, seed) for seed in range(4)}
    assert keys == {"train/3/5", "train.1/3/5", "train.2/3/5", "train.3/3/5"}
    assert len({mission_of(key).code for key in keys}) == 4


@pytest.mark.parametrize(
    "key",
    ["", "train", "train/6/0", "train/0/0", "train/3/01", "train/3/-1", "train.0/3/1", "train.01/3/1", "test/3/1",
     "train/3/\uff11", "builtin/task_easy", "train/task_easy/0", "builtin/1", "train/3/1 ", "train/3/1/"],
)  # fmt: skip
def test_a_text_that_is_no_key_is_refused_with_what_is_allowed(key: str) -> None:
    with pytest.raises(ValueError, match="allowed") as refusal:
        mission_of(key)
    assert all(mission.key in str(refusal.value) for mission in BUILTIN_MISSIONS)
    assert "OP-" not in str(refusal.value)


def test_missions_are_the_same_in_every_process_and_with_any_hash_seed() -> None:
    code = (
        "from neon_syndicate.core.generator import mission_of;"
        "print([repr(mission_of(f'{s}/{n}/2')) for s in ('train', 'eval') for n in range(1, 6)])"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(outputs) == 1


def test_an_adaptive_sampler_climbs_with_success() -> None:
    assert [next_level(success) for success in (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)] == [1, 1, 2, 2, 4, 4, 5]


def test_two_missions_of_one_key_start_alike() -> None:
    assert initial_state(mission_of("eval/4/9")) == initial_state(mission_of("eval/4/9"))
