"""Run records, checkpoints and step metrics: what is on disk, and what it says."""

import json
from pathlib import Path
from types import ModuleType

import pytest

from vf_grpo.checkpoints import MARKER, last_checkpoint, mark_complete, restore_curriculum
from vf_grpo.config import CurriculumConfig, TelemetryConfig
from vf_grpo.curriculum import Curriculum
from vf_grpo.run_record import RunRecord, read_rows
from vf_grpo.telemetry import EpisodeRecord, level_outcomes, step_metrics


def episode(reward: float | None, level: int | None = None, **changes: object) -> EpisodeRecord:
    base = EpisodeRecord(
        task="t",
        level=level,
        reward=reward,
        rewards={} if reward is None else {"signal": reward},
        metrics={} if reward is None else {"true": reward / 2, "malformed": 0.0},
        replies=["x"],
        num_turns=2,
        num_tokens=6,
        num_branches=1,
        is_truncated=False,
        at_turn_limit=False,
        error="it broke" if reward is None else None,
    )
    return base._replace(**changes)  # type: ignore[arg-type]


SETTINGS = TelemetryConfig(true_metric="true", malformed_metric="malformed")


def test_step_metrics_leave_failed_episodes_out() -> None:
    row = step_metrics([episode(1.0), episode(0.0), episode(None), episode(1.0)], 4, SETTINGS, "group")
    assert row["proxy_mean"] == pytest.approx(2 / 3)
    assert row["true_mean"] == pytest.approx(1 / 3)
    assert row["gap"] == pytest.approx(1 / 3)
    assert row["failed_fraction"] == 0.25
    assert row["dead_group_fraction"] == 0.0
    assert row["tokens_per_turn"] == 3.0
    assert row["metric/true"] == pytest.approx(1 / 3)
    assert row["reward/signal"] == pytest.approx(2 / 3)


def test_a_step_whose_episodes_all_failed_has_unknown_means() -> None:
    row = step_metrics([episode(None)] * 4, 4, SETTINGS, "group")
    assert row["proxy_mean"] is None
    assert row["gap"] is None
    assert row["failed_fraction"] == 1.0


def test_a_metric_the_environment_does_not_record_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"no metric 'absent'; it records \['malformed', 'true'\]"):
        step_metrics([episode(1.0)] * 2, 2, TelemetryConfig(true_metric="absent"), "group")


def test_outcomes_of_levels_come_by_group() -> None:
    episodes = [episode(1.0, 0), episode(0.0, 0), episode(None, 1), episode(1.0, 1), episode(None, 1), episode(None, 1)]
    assert level_outcomes(episodes, 2) == [(0, 0.5), (1, 1.0)]


def environment(fingerprint: dict[str, str] | None = None) -> ModuleType:
    module = ModuleType("toy")
    if fingerprint is not None:
        module.grader_fingerprint = lambda: fingerprint  # type: ignore[attr-defined]
    return module


def test_a_record_says_how_the_run_went(tmp_path: Path) -> None:
    record = RunRecord(tmp_path)
    record.begin({"seed": 1}, environment({"version": "1"}), None)
    assert json.loads((tmp_path / "run.json").read_text())["status"] == "running"
    record.write_step(0, "train", {"proxy_mean": 0.5, "bad": float("nan"), "gap": None})
    record.write_episodes(0, "train", [episode(1.0), episode(None)])
    record.finish("finished", None)
    run = json.loads((tmp_path / "run.json").read_text())
    assert (run["status"], run["grader_fingerprint"], run["config"]) == ("finished", {"version": "1"}, {"seed": 1})
    expected = {"step": 0, "phase": "train", "proxy_mean": 0.5, "bad": None, "gap": None}
    assert read_rows(tmp_path / "metrics.jsonl") == [expected]
    assert [row["reward"] for row in read_rows(tmp_path / "rollouts.jsonl")] == [1.0, None]


def test_an_environment_without_a_fingerprint_has_none(tmp_path: Path) -> None:
    RunRecord(tmp_path).begin({}, environment(), None)
    assert json.loads((tmp_path / "run.json").read_text())["grader_fingerprint"] is None


@pytest.mark.parametrize(("error", "status"), [(ValueError("x"), "failed"), (KeyboardInterrupt(), "interrupted")])
def test_whatever_ends_a_run_its_record_says_so(error: BaseException, status: str, tmp_path: Path) -> None:
    record = RunRecord(tmp_path)
    record.begin({}, environment(), None)
    assert record.note_exception(type(error), error, None) is False
    assert json.loads((tmp_path / "run.json").read_text())["status"] == status


def test_a_resumed_record_drops_what_its_checkpoint_has_not_seen(tmp_path: Path) -> None:
    record = RunRecord(tmp_path)
    record.begin({}, environment(), None)
    for step in range(5):
        record.write_step(step, "train", {"proxy_mean": 0.0})
    with (tmp_path / "metrics.jsonl").open("a") as file:
        file.write('{"step": 5, "phase": "tra')
    RunRecord(tmp_path).begin({}, environment(), resumed_at=3)
    assert [row["step"] for row in read_rows(tmp_path / "metrics.jsonl")] == [0, 1, 2]


def test_only_a_checkpoint_with_its_marker_counts(tmp_path: Path) -> None:
    assert last_checkpoint(tmp_path) is None
    for step in (9, 10, 11):
        (tmp_path / "checkpoints" / f"checkpoint-{step}").mkdir(parents=True)
    mark_complete(tmp_path / "checkpoints" / "checkpoint-9", None)
    mark_complete(tmp_path / "checkpoints" / "checkpoint-10", None)
    found = last_checkpoint(tmp_path)
    assert found is not None
    assert found.name == "checkpoint-10", "11 was being written when the run was killed"


def test_a_checkpoint_keeps_the_curriculum(tmp_path: Path) -> None:
    config = CurriculumConfig(field="level", values=[1, 2], memory=2, promote_at=0.5)
    first, second = Curriculum(config), Curriculum(config)
    first.record([(0, 1.0), (0, 1.0), (1, 0.25)])
    mark_complete(tmp_path, first)
    assert json.loads((tmp_path / MARKER).read_text())["curriculum"] == {"newest": 1, "recent": [0.25]}
    restore_curriculum(second, tmp_path)
    assert second.save() == first.save()
