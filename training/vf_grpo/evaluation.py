"""Held-out episodes during a run: one per task, spread over the ranks, with the weights of the moment."""

from typing import Any

from accelerate.utils import gather_object

from vf_grpo.config import TrainConfig
from vf_grpo.rollout import EpisodePlayer, StepResult, episode_seed
from vf_grpo.tasks import PlannedTask, TaskPlan
from vf_grpo.telemetry import step_metrics

OF_GROUPS = ("dead_", "advantage_")
"""Metrics that mean nothing for single episodes."""


class HeldOut:
    def __init__(self, config: TrainConfig, plan: TaskPlan, player: EpisodePlayer, trainer: Any) -> None:
        self._config = config
        self._tasks = plan.held_out
        self._player = player
        self._trainer = trainer

    def is_due(self, step: int) -> bool:
        every = self._config.evaluation.every
        return bool(self._tasks) and (step == 0 or bool(every and step % every == 0))

    def play(self, step: int) -> StepResult:
        """Every held-out task once; collective, so all ranks call it together."""
        trainer, accelerator = self._trainer, self._trainer.accelerator
        if trainer.use_vllm and trainer._last_loaded_step != step:
            trainer.vllm_generation.sync_weights()
            trainer._last_loaded_step = step
        accelerator.wait_for_everyone()
        rank, num_ranks = accelerator.process_index, accelerator.num_processes
        mine = [PlannedTask(task, None) for task in self._tasks[rank::num_ranks]]
        # The seeds do not depend on the step: evaluations of one run differ by their weights alone.
        seeds = [episode_seed(self._config.seed, -1, rank, index) for index in range(len(mine))]
        episodes = gather_object(self._player.play(mine, seeds).records)
        metrics = step_metrics(episodes, 1, self._config.telemetry, self._config.optimizer.scale_rewards)
        return StepResult(step, episodes, {n: v for n, v in metrics.items() if not n.startswith(OF_GROUPS)})
