"""One step's episodes: the bridge between TRL's `rollout_func` and verifiers.

Order matters. First a barrier: without it a rank may sample while another still pushes weights, from the old policy.
Then every rank plays its own episodes without any collective call, so ranks whose episodes differ in length cannot
desynchronise. Only afterwards are outcomes gathered, and every rank decides alike whether the run goes on.
"""

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import verifiers.v1 as vf
from accelerate.utils import gather_object

from vf_grpo.config import TrainConfig
from vf_grpo.engines import Engine
from vf_grpo.episodes import EpisodeRequest, EpisodeRunner
from vf_grpo.rows import Row, masked_row, trace_rows
from vf_grpo.tasks import PlannedTask, TaskPlan
from vf_grpo.telemetry import EpisodeRecord, episode_record, level_outcomes, step_metrics


class RunStoppedError(RuntimeError):
    """The run ends here, on every rank, for the stated reason; what was finished is on disk."""


class Played(NamedTuple):
    """This rank's episodes: their records and, for each, its training rows (none where the episode failed)."""

    records: list[EpisodeRecord]
    rows: list[list[Row]]
    seconds: float


class StepResult(NamedTuple):
    """One step over all ranks, in group order, as every rank sees it."""

    step: int
    episodes: list[EpisodeRecord]
    metrics: dict[str, float | None]


class EpisodePlayer:
    """Plays tasks through an engine and turns the episodes into rows."""

    def __init__(self, config: TrainConfig, runner: EpisodeRunner, engine: Engine) -> None:
        self._config = config
        self._runner = runner
        self._engine = engine

    def play(self, planned: Sequence[PlannedTask], seeds: Sequence[int]) -> Played:
        started = time.perf_counter()
        requests = [EpisodeRequest(item.task, seed) for item, seed in zip(planned, seeds, strict=True)]
        episodes = self._engine.serve(self._runner.play(requests))
        records, rows = [], []
        for episode, item in zip(episodes, planned, strict=True):
            trace = _trainable_trace(episode)
            cut = trace_rows(trace, self._config.rollout.max_row_tokens) if trace is not None else None
            record = episode_record(episode, trace, len(cut.rows) if cut else 0, bool(cut and cut.is_cut), item.level)
            records.append(record)
            rows.append(cut.rows if cut and record.reward is not None else [])
        return Played(records, rows, time.perf_counter() - started)


class RolloutFunction:
    """Callable with TRL's signature `(prompts, trainer) -> dict`; hands each step to `on_step`.

    `extra_rows` holds, after a call, the rows beyond the first of each local episode as (episode index, row).
    """

    def __init__(
        self,
        config: TrainConfig,
        plan: TaskPlan,
        player: EpisodePlayer,
        engine: Engine,
        on_step: Callable[[StepResult], str | None],
    ) -> None:
        self._config = config
        self._plan = plan
        self._player = player
        self._engine = engine
        self._on_step = on_step
        self._has_played = False
        self.extra_rows: list[tuple[int, Row]] = []

    def __call__(self, prompts: list[str], trainer: Any) -> dict[str, list[Any]]:
        waited = time.perf_counter()
        trainer.accelerator.wait_for_everyone()
        waited = time.perf_counter() - waited
        step, rank = trainer.state.global_step, trainer.accelerator.process_index
        planned = [self._plan.resolve(prompt, step) for prompt in prompts]
        seeds = [episode_seed(self._config.seed, step, rank, index) for index in range(len(prompts))]
        played = self._player.play(planned, seeds)
        episodes = gather_object(played.records)
        self._refuse(episodes)
        metrics = step_metrics(
            episodes, self._config.batch.group_size, self._config.telemetry, self._config.optimizer.scale_rewards
        )
        metrics |= self._timing(played, waited, len(episodes))
        if self._plan.curriculum is not None:
            self._plan.curriculum.record(level_outcomes(episodes, self._config.batch.group_size))
        self._tell(StepResult(step, episodes, metrics), trainer)
        return self._rows(played, trainer.processing_class.pad_token_id)

    def _refuse(self, episodes: Sequence[EpisodeRecord]) -> None:
        errors = Counter(episode.error for episode in episodes if episode.error is not None)
        num_failed = sum(errors.values())
        if num_failed > self._config.rollout.max_failed_fraction * len(episodes):
            cause, count = errors.most_common(1)[0]
            raise RunStoppedError(
                f"{num_failed} of {len(episodes)} episodes failed, more than rollout.max_failed_fraction "
                f"{self._config.rollout.max_failed_fraction:g} allows; {count} of them with: {cause}"
            )
        num_split = sum(episode.num_branches > 1 for episode in episodes)
        if num_split and not self._has_played and not self._config.rollout.allow_branches:
            raise RunStoppedError(
                f"{num_split} of {len(episodes)} conversations split into several rows, so earlier turns were "
                "tokenised again: set `renderer` to the one made for this model, or rollout.allow_branches = true "
                "to train every row"
            )
        self._has_played = True

    def _timing(self, played: Played, waited_s: float, num_episodes: int) -> dict[str, float | None]:
        return {
            "rollout_s": played.seconds,
            "sampling_s": self._engine.sampling_s,
            "barrier_s": waited_s,
            "sync_s": self._engine.sync_s,
            "rollouts_per_s": num_episodes / played.seconds,
        }

    def _tell(self, result: StepResult, trainer: Any) -> None:
        reason = self._on_step(result)
        reasons = [found for found in gather_object([reason]) if found is not None]
        if reasons:
            raise RunStoppedError(reasons[0])

    def _rows(self, played: Played, pad_token_id: int) -> dict[str, list[Any]]:
        self.extra_rows = [(i, row) for i, rows in enumerate(played.rows) for row in rows[1:]]
        first = [rows[0] if rows else masked_row(pad_token_id) for rows in played.rows]
        return {
            "prompt_ids": [row.prompt_ids for row in first],
            "completion_ids": [row.completion_ids for row in first],
            "env_mask": [row.action_mask for row in first],
            "logprobs": [row.logprobs for row in first],
            "episode_reward": [record.reward for record in played.records],
        }


def environment_reward(prompts: list[str], completions: list[str], **columns: Any) -> list[float | None]:
    """TRL's reward function: the environment has scored the episodes; None leaves one out of its group."""
    rewards: list[float | None] = columns["episode_reward"]
    return rewards


def episode_seed(seed: int, step: int, rank: int, index: int) -> int:
    """31-bit seed of one episode: different within a group, the same when a resumed run plays it again."""
    digest = hashlib.sha256(f"episode/{seed}/{step}/{rank}/{index}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def _trainable_trace(episode: vf.Episode) -> vf.Trace | None:
    traces = [trace for trace in episode.traces if trace.agent.trainable]
    if len(traces) > 1:
        names = sorted(trace.agent.name for trace in traces)
        raise ValueError(f"{len(traces)} trainable agents {names} in one episode: mark all but one as not trainable")
    return traces[0] if traces else None
