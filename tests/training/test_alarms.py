from vf_grpo.alarms import Alarms
from vf_grpo.config import AlarmConfig


def feed(alarms: Alarms, rows: list[dict[str, float | None]]) -> list[str]:
    return [alarm.name for row in rows for alarm in alarms.check(row)]


def test_collapse_needs_a_whole_window_of_dead_groups() -> None:
    alarms = Alarms(AlarmConfig(window=3))
    dead: dict[str, float | None] = {"dead_group_fraction": 1.0}
    assert feed(alarms, [dead, dead]) == []
    assert feed(alarms, [dead]) == ["collapse"]


def test_an_alarm_sounds_once_until_its_condition_has_cleared() -> None:
    alarms = Alarms(AlarmConfig(window=2))
    dead: dict[str, float | None] = {"dead_group_fraction": 1.0}
    assert feed(alarms, [dead] * 5) == ["collapse"]
    assert feed(alarms, [{"dead_group_fraction": 0.1}, dead, dead]) == ["collapse"]


def test_hack_sounds_when_the_gap_grows_while_the_truth_falls() -> None:
    alarms = Alarms(AlarmConfig(window=2, hack_slope=0.1))
    rows: list[dict[str, float | None]] = [
        {"gap": g, "true_mean": t} for g, t in ((0, 0.5), (0, 0.5), (0.4, 0.3), (0.5, 0.2))
    ]
    assert feed(alarms, rows) == ["hack"]


def test_a_gap_that_grows_while_the_truth_holds_is_no_hack() -> None:
    alarms = Alarms(AlarmConfig(window=2, hack_slope=0.1))
    rows: list[dict[str, float | None]] = [{"gap": g, "true_mean": 0.45} for g in (0, 0, 0.4, 0.5)]
    assert feed(alarms, rows) == []


def test_sync_sounds_when_sampler_and_trainer_disagree() -> None:
    assert feed(Alarms(AlarmConfig()), [{"logprob_difference": 0.01}, {"logprob_difference": 0.5}]) == ["sync"]


def test_runs_without_a_true_reward_raise_no_hack_alarm() -> None:
    assert feed(Alarms(AlarmConfig(window=2)), [{"gap": None, "true_mean": None}] * 8) == []
