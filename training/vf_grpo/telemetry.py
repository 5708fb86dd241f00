"""What one episode did and what one step of episodes adds up to, from raw rewards and metrics.

`EpisodeRecord` is the row of `rollouts.jsonl`; `step_metrics` is our part of a row of `metrics.jsonl`.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import verifiers.v1 as vf

from vf_grpo.advantages import dead_groups, group_advantages, mean_or_none, split_groups
from vf_grpo.config import TelemetryConfig


class EpisodeRecord(NamedTuple):
    """One finished episode. `reward` is None where it failed: it is then in no mean and trains nothing."""

    task: str
    level: int | None
    reward: float | None
    rewards: dict[str, float]
    metrics: dict[str, float]
    replies: list[str]
    num_turns: int
    num_tokens: int
    """Sampled tokens."""
    num_branches: int
    is_truncated: bool
    at_turn_limit: bool
    error: str | None


def episode_record(
    episode: vf.Episode, trace: vf.Trace | None, num_branches: int, is_cut: bool, level: int | None
) -> EpisodeRecord:
    """The record of `episode`, of which `trace` is the trainable one (None when it never began)."""
    errors = [*episode.errors, *(error for t in episode.traces for error in t.errors)]
    is_scored = episode.ok and trace is not None and num_branches > 0
    failure = f"{errors[0].type}: {errors[0].message}" if errors else "the episode holds no trainable token"
    return EpisodeRecord(
        task=str(episode.task.key),
        level=level,
        reward=float(trace.reward) if is_scored and trace is not None else None,
        rewards={} if trace is None else {n: float(r.score) for n, r in trace.rewards.items() if r is not None},
        metrics={} if trace is None else {n: float(v) for n, v in trace.metrics.items() if v is not None},
        replies=[] if trace is None else [str(message.content or "") for message in trace.assistant_messages],
        num_turns=0 if trace is None else trace.num_turns,
        num_tokens=0 if trace is None else sum(sum(node.mask) for node in trace.nodes if node.sampled),
        num_branches=num_branches,
        is_truncated=is_cut or (trace is not None and trace.is_truncated and trace.stop_condition != "max_turns"),
        at_turn_limit=trace is not None and trace.stop_condition == "max_turns",
        error=None if is_scored else failure,
    )


def step_metrics(
    episodes: Sequence[EpisodeRecord], group_size: int, config: TelemetryConfig, scale: Literal["group", "none"]
) -> dict[str, float | None]:
    """Every number of one step, by name; None where nothing could be measured. `episodes` are in group order."""
    rewards = [episode.reward for episode in episodes]
    scored = [episode for episode in episodes if episode.reward is not None]
    dead = dead_groups(rewards, group_size, config.solved_at)
    advantages = [a for group in split_groups(rewards, group_size) for a in group_advantages(group, scale)]
    proxy = mean_or_none(rewards)
    true = None if config.true_metric is None else mean_or_none(_column(scored, config.true_metric))
    row: dict[str, float | None] = {
        "proxy_mean": proxy,
        "true_mean": true,
        "gap": None if proxy is None or true is None else proxy - true,
        "dead_group_fraction": dead.dead,
        "dead_all_solved_fraction": dead.all_solved,
        "dead_all_failed_fraction": dead.all_failed,
        "advantage_abs_mean": mean_or_none([abs(a) for a in advantages]),
        "failed_fraction": 1 - len(scored) / len(episodes),
        "truncated_fraction": mean_or_none([float(e.is_truncated) for e in scored]),
        "turn_limit_fraction": mean_or_none([float(e.at_turn_limit) for e in scored]),
        "turns_mean": mean_or_none([float(e.num_turns) for e in scored]),
        "tokens_mean": mean_or_none([float(e.num_tokens) for e in scored]),
        "tokens_per_turn": mean_or_none([e.num_tokens / e.num_turns for e in scored if e.num_turns]),
        "branches_mean": mean_or_none([float(e.num_branches) for e in scored]),
    }
    if config.malformed_metric is not None:
        row["malformed_fraction"] = mean_or_none(_column(scored, config.malformed_metric))
    levels = [float(e.level) for e in scored if e.level is not None]
    if levels:
        row["level_mean"] = mean_or_none(levels)
    for name in sorted({name for episode in scored for name in episode.metrics}):
        row[f"metric/{name}"] = mean_or_none([e.metrics[name] for e in scored if name in e.metrics])
    for name in sorted({name for episode in scored for name in episode.rewards}):
        row[f"reward/{name}"] = mean_or_none([e.rewards[name] for e in scored if name in e.rewards])
    return row


def level_outcomes(episodes: Sequence[EpisodeRecord], group_size: int) -> list[tuple[int, float]]:
    """(level, mean reward) of each group that has a level and at least one scored episode, in group order."""
    outcomes = []
    for start in range(0, len(episodes), group_size):
        group = episodes[start : start + group_size]
        mean = mean_or_none([episode.reward for episode in group])
        if group[0].level is not None and mean is not None:
            outcomes.append((group[0].level, mean))
    return outcomes


def _column(episodes: Sequence[EpisodeRecord], metric: str) -> list[float]:
    known = sorted({name for episode in episodes for name in episode.metrics})
    if episodes and metric not in known:
        raise ValueError(
            f"the environment records no metric {metric!r}; it records {known}: fix the telemetry settings"
        )
    return [episode.metrics[metric] for episode in episodes if metric in episode.metrics]
