"""What happens around the optimiser's steps: records, alarms, held-out evaluation, progress.

Every rank runs it with the same gathered numbers and so decides alike; only the rank with a record writes. A write that
fails (disk full) is remembered and stops all ranks at the next step, so that none waits for another.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import JsonValue
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments
from verifiers.v1.utils.interrupt import cleaning_up

from vf_grpo.alarms import Alarms
from vf_grpo.checkpoints import mark_complete
from vf_grpo.config import TrainConfig
from vf_grpo.evaluation import HeldOut
from vf_grpo.rollout import RunStoppedError, StepResult
from vf_grpo.run_record import RunRecord
from vf_grpo.tasks import TaskPlan
from vf_grpo.trainer import EpisodeGRPOTrainer

log = logging.getLogger(__name__)

OF_TRL = ("loss", "grad_norm", "learning_rate", "entropy", "kl", "step_time", "clip_ratio/region_mean")
"""What we take over from TRL's own log; everything about rewards and episodes is measured by us."""

SHOWN = ("proxy_mean", "true_mean", "gap", "dead_group_fraction")


class RunCallback(TrainerCallback):
    """`stopped` is the reason an alarm ended the run, else None."""

    def __init__(self, config: TrainConfig, plan: TaskPlan, record: RunRecord | None) -> None:
        self._config = config
        self._plan = plan
        self._record = record
        self._alarms = Alarms(config.alarms)
        self._metrics: dict[str, float | None] = {}
        self._write_error: str | None = None
        self._evaluations: dict[int, dict[str, float | None]] = {}
        self._bar: Progress | None = None
        self.stopped: str | None = None

    def attach(self, trainer: EpisodeGRPOTrainer, held_out: HeldOut) -> None:
        self._trainer = trainer
        self._held_out = held_out

    def take_step(self, result: StepResult) -> str | None:
        """Record a step's episodes; returns why the run cannot go on, or None."""
        self._metrics = dict(result.metrics)
        self._write(lambda record: record.write_episodes(result.step, "train", result.episodes))
        return self._write_error

    def finish(self) -> None:
        """The last held-out evaluation; raises RunStoppedError when the record could not be written."""
        step = self._trainer.state.global_step
        if self._config.evaluation.num_tasks and step not in self._evaluations:
            self._evaluate(step)
        if self._write_error is not None:
            raise RunStoppedError(self._write_error)

    def summary(self) -> dict[str, JsonValue]:
        """First and last held-out evaluation, and the last step's numbers."""
        steps = sorted(self._evaluations)
        evaluations: dict[str, JsonValue] = {str(step): dict(self._evaluations[step]) for step in steps}
        return {"num_steps": self._trainer.state.global_step, "evaluations": evaluations, "last": dict(self._metrics)}

    @contextmanager
    def progress(self) -> Iterator[None]:
        if self._record is None or not self._config.telemetry.progress:
            yield
            return
        columns = (
            TextColumn("step"),
            MofNCompleteColumn(),
            BarColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[shown]}"),
        )
        with Progress(*columns, transient=False) as self._bar:
            self._bar.add_task("train", total=self._config.max_steps, shown="")
            yield

    def on_step_begin(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        if cleaning_up():
            # Python drops what a signal raises inside a finaliser, and verifiers' handler raises only once.
            raise KeyboardInterrupt
        self._trainer.step_measures.clear()
        if self._held_out.is_due(state.global_step) and state.global_step not in self._evaluations:
            self._evaluate(state.global_step)

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: dict[str, Any] | None = None,
        **_: Any,
    ) -> None:
        if logs is None or "train_runtime" in logs:
            return
        step = state.global_step - 1
        row = self._metrics | self._trainer.step_measures | {name: logs[name] for name in OF_TRL if name in logs}
        self._metrics = row
        self._write(lambda record: record.write_step(step, "train", row))
        self._show(state.global_step, row)
        for alarm in self._alarms.check(row):
            log.warning("step %d, alarm %s: %s", step, alarm.name, alarm.message)
            if self._config.alarms.action == "stop":
                self.stopped = f"alarm {alarm.name}: {alarm.message}"
                control.should_training_stop = True

    def on_save(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        self._trainer.accelerator.wait_for_everyone()
        folder = Path(str(args.output_dir)) / f"checkpoint-{state.global_step}"
        self._write(lambda record: mark_complete(folder, self._plan.curriculum))

    def _evaluate(self, step: int) -> None:
        result = self._held_out.play(step)
        self._evaluations[step] = result.metrics
        self._write(lambda record: record.write_step(step, "evaluation", result.metrics))
        self._write(lambda record: record.write_episodes(step, "evaluation", result.episodes))

    def _write(self, write: Callable[[RunRecord], None]) -> None:
        if self._record is None or self._write_error is not None:
            return
        try:
            write(self._record)
        except OSError as error:
            self._write_error = f"the run record cannot be written: {error}; free the disk and go on with --resume"

    def _show(self, num_done: int, row: dict[str, Any]) -> None:
        if self._bar is None:
            return
        shown = "  ".join(f"{n.removesuffix('_mean')} {row[n]:.3f}" for n in SHOWN if row.get(n) is not None)
        self._bar.update(self._bar.task_ids[0], completed=num_done, shown=shown)
