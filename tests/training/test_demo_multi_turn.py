"""The tiny policy of neon-syndicate: what it reads and writes, and that it trains through the real environment."""

import json
import tomllib
from pathlib import Path

import pytest
from runs import rows, run_json

from vf_grpo.demo import DemoConfig
from vf_grpo.demo_multi_turn import CLAIMED, SHOWN, changes, command
from vf_grpo.tiny import NEON, NEON_CONFIG

NUM_CHECKED = 12


def evaluated(step: int, won: list[bool], phase: str = "evaluation") -> list[dict[str, object]]:
    metrics = [dict.fromkeys(SHOWN, 0.5) | {"success": float(is_won)} for is_won in won]
    return [{"phase": phase, "step": step, "error": None, "metrics": metric} for metric in metrics]


def test_an_improvement_is_claimed_where_the_intervals_are_apart() -> None:
    before, after = [True, False, False, False] * 8, [True, True, True, False] * 8
    found = {c.metric: c for c in changes(evaluated(0, before) + evaluated(9, after) + evaluated(4, before, "train"))}
    assert set(found) == set(SHOWN) > set(CLAIMED)
    assert (found["success"].before.mean, found["success"].after.mean) == (0.25, 0.75)
    assert found["success"].is_improvement
    assert not found["shaped_return"].is_improvement


def test_no_improvement_is_claimed_where_the_intervals_meet() -> None:
    found = {c.metric: c for c in changes(evaluated(0, [True, False] * 4) + evaluated(9, [True, True, False] * 4))}
    assert not found["success"].is_improvement


def test_the_demo_has_one_form_at_a_time() -> None:
    with pytest.raises(ValueError, match=r"short: got multi_turn too.*leave out one"):
        DemoConfig(short=True, multi_turn=True)


def test_the_recipe_compares_enough_missions_of_the_other_split() -> None:
    recipe = tomllib.loads(NEON_CONFIG.read_text())
    assert recipe["evaluation"]["num_tasks"] >= 128
    assert recipe["evaluation"]["taskset"] == {"split": "eval"}


def test_the_tiny_policy_is_small_plain_and_describes_itself() -> None:
    assert sum(path.stat().st_size for path in NEON.iterdir()) < 2_000_000
    assert {path.suffix for path in NEON.iterdir()} <= {".json", ".safetensors", ".jinja"}
    assert "auto_map" not in json.loads((NEON / "config.json").read_text())
    safetensors = pytest.importorskip("safetensors")
    with safetensors.safe_open(NEON / "model.safetensors", "np") as weights:
        shapes = [weights.get_slice(name).get_shape() for name in weights.keys()]  # noqa: SIM118
    num_parameters = sum(shape[0] * (shape[1] if len(shape) == 2 else 1) for shape in shapes)
    assert num_parameters == json.loads((NEON / "built.json").read_text())["parameters"] < 500_000


@pytest.mark.parametrize("split", ["train", "eval"])
def test_its_tokenizer_knows_what_the_environment_and_the_players_write(split: str) -> None:
    transformers = pytest.importorskip("transformers")
    neon = pytest.importorskip("neon_syndicate")
    observation = pytest.importorskip("neon_syndicate.core.observation")
    prompts = pytest.importorskip("neon_syndicate.core.prompts")
    policies = pytest.importorskip("neon_syndicate.policies")
    generator = pytest.importorskip("neon_syndicate.core.generator")
    tokenizer = transformers.AutoTokenizer.from_pretrained(NEON)
    assert tokenizer.tokenize(prompts.SYSTEM_PROMPT) == [prompts.SYSTEM_PROMPT]
    for index, name in enumerate(["oracle", "noisy", "random", "idle"] * (NUM_CHECKED // 4)):
        before, state = None, neon.initial_state(generator.generate_mission(split, 1, index))
        while not state.is_finished:
            reply = policies.PLAYERS[name](state, policies.turn_stream(state, index))
            for text in (prompts.turn_text(observation.observe(state, before)), reply):
                tokens = tokenizer(text)["input_ids"]
                assert tokenizer.decode(tokens) == text
                assert tokenizer.unk_token_id not in tokens
                assert len(tokens) <= 90, (
                    f"{len(tokens)} tokens: teach scripts/build_tiny_neon.py the wording of {text!r}"
                )
            before, state = state, neon.step(state, neon.parse_action(reply))


# TRL's own use of a name that transformers is renaming.
@pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing` is deprecated:FutureWarning")
def test_it_trains_for_two_steps_through_the_real_environment(tmp_path: Path) -> None:
    pytest.importorskip("trl")
    pytest.importorskip("neon_syndicate")
    from vf_grpo.session import train
    from vf_grpo.train import parse

    flags = {"--max-steps": 2, "--batch.groups-per-step": 1, "--batch.group-size": 4, "--evaluation.num-tasks": 4}
    shared = command(tmp_path / "run", seed=0)[4:]
    train(parse([*shared, *(str(part) for flag in flags.items() for part in flag)]))
    assert run_json(tmp_path / "run")["status"] == "finished"
    for step in rows(tmp_path / "run", "metrics.jsonl"):
        assert step["turns_mean"] > 4
        assert step["branches_mean"] == 1.0
        assert (step["failed_fraction"], step["truncated_fraction"]) == (0.0, 0.0)
    assert rows(tmp_path / "run", "metrics.jsonl")[0]["logprob_difference_max"] < 1e-3
    assert {episode["task"][:8] for episode in rows(tmp_path / "run", "rollouts.jsonl")} == {"train/1/"}
    assert {episode["task"][:7] for episode in rows(tmp_path / "run", "rollouts.jsonl", "evaluation")} == {"eval/1/"}
