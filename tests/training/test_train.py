"""Whole runs on CPU, with the transformers engine and the toy environment."""

from pathlib import Path

import pytest

pytest.importorskip("trl")

from runs import arguments, rows, run_json

from vf_grpo.config import TrainConfig
from vf_grpo.rollout import RunStoppedError, episode_seed
from vf_grpo.session import RunOutcome, train
from vf_grpo.train import parse

# TRL's own use of a name that transformers is renaming.
pytestmark = pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing` is deprecated:FutureWarning")


def run(model: Path, output_dir: Path, **flags: object) -> RunOutcome:
    return train(parse(arguments(model, output_dir, **flags)))


@pytest.fixture(scope="module")
def three_turns(echo_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run over episodes of one to three turns, with held-out evaluation."""
    folder = tmp_path_factory.mktemp("three-turns") / "run"
    run(echo_model, folder, env__taskset__max_turns=3, evaluation__num_tasks=8)
    return folder


def test_a_finished_run_says_so_and_keeps_its_model(three_turns: Path) -> None:
    record = run_json(three_turns)
    assert record["status"] == "finished"
    assert record["config"]["env"]["taskset"]["id"] == "toy-echo"
    assert record["versions"]["verifiers"]
    assert record["versions"]["trl"]
    assert (three_turns / "final" / "model.safetensors").exists()


def test_one_row_a_step_and_one_row_an_episode(three_turns: Path) -> None:
    assert [row["step"] for row in rows(three_turns, "metrics.jsonl")] == [0, 1, 2]
    episodes = rows(three_turns, "rollouts.jsonl")
    assert len(episodes) == 3 * 16
    assert all(len(episode["replies"]) == episode["num_turns"] for episode in episodes)
    assert {episode["num_turns"] for episode in episodes} == {1, 2, 3}


def test_sampler_and_trainer_agree_to_1e_4(three_turns: Path) -> None:
    steps = rows(three_turns, "metrics.jsonl")
    assert all(row["logprob_difference_max"] < 1e-4 for row in steps)


def test_members_of_a_group_play_one_task(three_turns: Path) -> None:
    episodes = rows(three_turns, "rollouts.jsonl")
    groups = [episodes[start : start + 4] for start in range(0, len(episodes), 4)]
    assert all(len({episode["task"] for episode in group}) == 1 for group in groups)
    assert len({group[0]["task"] for group in groups}) > 3


def test_step_metrics_are_the_means_of_the_episodes(three_turns: Path) -> None:
    for row in rows(three_turns, "metrics.jsonl"):
        episodes = [e for e in rows(three_turns, "rollouts.jsonl") if e["step"] == row["step"]]
        assert row["proxy_mean"] == pytest.approx(sum(e["reward"] for e in episodes) / len(episodes))
        assert row["gap"] == pytest.approx(row["proxy_mean"] - row["true_mean"])
        assert row["tokens_mean"] == pytest.approx(sum(e["num_tokens"] for e in episodes) / len(episodes))
        assert row["branches_mean"] == 1.0
        assert row["rollouts_per_s"] > 0
        assert row["entropy"] > 0


def test_held_out_tasks_are_played_before_and_after(three_turns: Path) -> None:
    evaluations = rows(three_turns, "metrics.jsonl", "evaluation")
    assert [row["step"] for row in evaluations] == [0, 3]
    held_out = {e["task"] for e in rows(three_turns, "rollouts.jsonl", "evaluation")}
    trained = {e["task"] for e in rows(three_turns, "rollouts.jsonl")}
    assert len(held_out) == 8
    assert not held_out & trained
    assert run_json(three_turns)["summary"]["evaluations"].keys() == {"0", "3"}


def test_a_policy_improves_on_the_toy_task(echo_model: Path, tmp_path: Path) -> None:
    run(
        echo_model,
        tmp_path / "run",
        max_steps=30,
        num_tasks=8,
        env__taskset__level="one-digit",
        sampling__max_tokens=1,
        batch__group_size=16,
        optimizer__learning_rate=5e-3,
    )
    means = [row["proxy_mean"] for row in rows(tmp_path / "run", "metrics.jsonl")]
    assert sum(means[-5:]) / 5 > 0.8 > 0.4 > sum(means[:3]) / 3


def test_a_failed_episode_has_no_reward_and_leaves_its_group_intact(echo_model: Path, tmp_path: Path) -> None:
    run(echo_model, tmp_path / "run", env__taskset__fail_every=4, max_steps=2)
    episodes = rows(tmp_path / "run", "rollouts.jsonl")
    failed = [episode for episode in episodes if episode["reward"] is None]
    assert failed
    assert all("this task always fails" in episode["error"] for episode in failed)
    for row in rows(tmp_path / "run", "metrics.jsonl"):
        step = [episode for episode in episodes if episode["step"] == row["step"]]
        scored = [episode["reward"] for episode in step if episode["reward"] is not None]
        assert row["failed_fraction"] == pytest.approx(1 - len(scored) / len(step))
        assert row["proxy_mean"] == pytest.approx(sum(scored) / len(scored))


def test_too_many_failures_stop_the_run_with_the_reason(echo_model: Path, tmp_path: Path) -> None:
    with pytest.raises(RunStoppedError, match=r"16 of 16 episodes failed.*this task always fails"):
        run(echo_model, tmp_path / "run", env__taskset__fail_every=1)
    record = run_json(tmp_path / "run")
    assert record["status"] == "stopped"
    assert "always fails" in record["reason"]


def test_an_episode_that_takes_too_long_fails_and_the_run_goes_on(echo_model: Path, tmp_path: Path) -> None:
    with pytest.raises(RunStoppedError, match=r"ran longer than 0.3 s"):
        run(echo_model, tmp_path / "run", env__taskset__slow_s=30, rollout__episode_timeout_s=0.3)


def test_a_full_disk_stops_the_run_and_says_what_to_do(echo_model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "rollouts.jsonl").symlink_to("/dev/full")
    with pytest.raises(RunStoppedError, match=r"cannot be written.*No space left.*--resume"):
        run(echo_model, folder)
    assert run_json(folder)["status"] == "stopped"


def test_an_existing_run_is_not_overwritten(three_turns: Path, echo_model: Path) -> None:
    with pytest.raises(FileExistsError, match=r"already holds a run.*--resume"):
        run(echo_model, three_turns)


def test_a_renderer_that_splits_conversations_is_refused_unless_allowed(echo_model: Path, tmp_path: Path) -> None:
    forking = {"env__taskset__max_turns": 3, "renderer__name": "default"}
    with pytest.raises(RunStoppedError, match=r"split into several rows.*allow_branches"):
        run(echo_model, tmp_path / "refused", **forking)
    run(echo_model, tmp_path / "allowed", **forking, rollout__allow_branches=True)
    steps = rows(tmp_path / "allowed", "metrics.jsonl")
    assert all(row["branches_mean"] > 1 for row in steps)
    assert all(row["logprob_difference_max"] < 1e-4 for row in steps), "extra rows train on what was sampled"


def test_a_leash_reports_its_divergence(echo_model: Path, tmp_path: Path) -> None:
    run(echo_model, tmp_path / "run", optimizer__beta=0.1, rollout__allow_branches=True, renderer__name="default",
        env__taskset__max_turns=2, batch__micro_batch_size=8)  # fmt: skip
    divergences = [row["kl"] for row in rows(tmp_path / "run", "metrics.jsonl")]
    assert divergences[0] == pytest.approx(0.0, abs=1e-6)
    assert divergences[-1] > 0


def test_an_alarm_stops_the_run_when_asked_to(echo_model: Path, tmp_path: Path) -> None:
    outcome = run(
        echo_model, tmp_path / "run", max_steps=50, alarms__action="stop", alarms__window=2,
        env__taskset__level="one-digit", alarms__collapse_dead_fraction=0.01, optimizer__learning_rate=1e-9,
    )  # fmt: skip
    assert outcome.stopped is not None
    assert "collapse" in outcome.stopped
    assert run_json(tmp_path / "run")["status"] == "stopped"


def test_a_curriculum_opens_the_next_level_and_keeps_groups_on_one_task(echo_model: Path, tmp_path: Path) -> None:
    argv = arguments(echo_model, tmp_path / "run", max_steps=6)
    config = parse(argv)
    levels = {"field": "level", "values": ["one-digit", "ten-digits"], "promote_at": 1e-9, "memory": 4}
    config = TrainConfig.model_validate({**config.model_dump(), "curriculum": levels})
    train(config)
    episodes = rows(tmp_path / "run", "rollouts.jsonl")
    groups = [episodes[start : start + 4] for start in range(0, len(episodes), 4)]
    assert all(len({episode["task"] for episode in group}) == 1 for group in groups)
    assert {episode["level"] for episode in episodes} == {0, 1}
    assert all(episode["task"].startswith(("one-digit", "ten-digits")[episode["level"]]) for episode in episodes)


def test_episode_seeds_differ_within_a_group_and_repeat_on_resume() -> None:
    seeds = [episode_seed(0, step, rank, index) for step in range(3) for rank in range(2) for index in range(8)]
    assert len(set(seeds)) == len(seeds)
    assert seeds[0] == episode_seed(0, 0, 0, 0)
    assert all(0 <= seed < 2**31 for seed in seeds)
