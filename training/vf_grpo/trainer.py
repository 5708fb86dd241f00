"""TRL's GRPOTrainer, taught to train every branch of an episode and to compare sampler and trainer.

TRL computes advantages over one row per episode; that row is the episode's first branch. The other branches join the
batch afterwards with their episode's advantage. All ranks get the same number of rows: fully masked ones fill up.
"""

import time
from collections.abc import Mapping
from typing import Any

import torch
from torch.nn.functional import pad
from trl import GRPOTrainer

from vf_grpo.rollout import RolloutFunction
from vf_grpo.rows import Row

Batch = dict[str, Any]


class EpisodeGRPOTrainer(GRPOTrainer):
    """`step_measures` holds what this trainer measured since it was last cleared, by metric name."""

    def __init__(self, *args: Any, rollouts: RolloutFunction, logprob_check_every: int, **kwargs: Any) -> None:
        super().__init__(*args, rollout_func=rollouts, **kwargs)
        self._rollouts = rollouts
        self._check_every = logprob_check_every
        self.step_measures: dict[str, float] = {}

    def _generate_and_score_completions(self, inputs: Any) -> Batch:
        batch: Batch = super()._generate_and_score_completions(inputs)
        extra = self._rollouts.extra_rows
        most = int(self.accelerator.gather(torch.tensor([len(extra)], device=self.accelerator.device)).max())
        if most:
            batch = self._append(batch, extra, most)
        if self._check_every and self.state.global_step % self._check_every == 0:
            self._compare_logprobs(batch)
        return batch

    def training_step(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        started = time.perf_counter()
        loss: torch.Tensor = super().training_step(*args, **kwargs)
        elapsed = time.perf_counter() - started
        self.step_measures["training_step_s"] = self.step_measures.get("training_step_s", 0.0) + elapsed
        return loss

    @torch.no_grad()
    def _compare_logprobs(self, batch: Batch) -> None:
        """Mean and largest |sampler - trainer| log-probability over the trained tokens of all ranks, in nats."""
        recomputed = self._logprobs(self.model, batch)
        mask = (batch["completion_mask"] * batch["tool_mask"]).bool()
        difference = (recomputed - batch["sampling_per_token_logps"]).abs()[mask]
        largest = difference.max() if difference.numel() else torch.zeros((), device=recomputed.device)
        total = torch.stack([difference.sum(), mask.sum().float(), largest])
        gathered = self.accelerator.gather(total[None])
        self.step_measures["logprob_difference"] = float(gathered[:, 0].sum() / gathered[:, 1].sum().clamp(min=1))
        self.step_measures["logprob_difference_max"] = float(gathered[:, 2].max())

    def _logprobs(self, model: Any, batch: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """(rows, completion length) log-probabilities of the batch under `model`."""
        token_ids = torch.cat([batch["prompt_ids"], batch["completion_ids"]], dim=1)
        attention = torch.cat([batch["prompt_mask"], batch["completion_mask"]], dim=1)
        logprobs: torch.Tensor
        logprobs, _, _ = self._get_per_token_logps_and_entropies(
            model,
            token_ids,
            attention,
            batch["completion_ids"].size(1),
            batch_size=self.args.per_device_train_batch_size,
        )
        return logprobs

    def _append(self, batch: Batch, extra: list[tuple[int, Row]], most: int) -> Batch:
        """`batch` with `extra` rows, filled up so that every rank's row count is equal and divides into passes."""
        num_rows = batch["advantages"].size(0)
        passes = self.args.steps_per_generation
        num_new = -(-(num_rows + most) // passes) * passes - num_rows
        new = row_tensors([row for _, row in extra], num_new, self._tokenizer.pad_token_id, batch["prompt_ids"].device)
        advantages = torch.zeros(num_new, device=batch["advantages"].device)
        for index, (episode, _) in enumerate(extra):
            advantages[index] = batch["advantages"][episode]
        for name, other in (("old_per_token_logps", self.model), ("ref_per_token_logps", self.ref_model)):
            if name in batch:
                with torch.no_grad():
                    new[name] = self._logprobs(other, new)
        if "importance_sampling_ratio" in batch:
            new["importance_sampling_ratio"] = self._importance(new)
        merged = merge_rows(batch, new, self._tokenizer.pad_token_id)
        merged["advantages"] = torch.cat([batch["advantages"], advantages])
        trained = (merged["completion_mask"] * merged["tool_mask"]).sum()
        merged["num_items_in_batch"] = self.accelerator.gather(trained).sum()
        return merged

    def _importance(self, rows: Mapping[str, torch.Tensor]) -> torch.Tensor:
        mask = rows["completion_mask"] * rows["tool_mask"]
        ratio = torch.exp((rows["old_per_token_logps"] - rows["sampling_per_token_logps"]) * mask)
        capped: torch.Tensor = ratio.clamp(max=self.vllm_importance_sampling_clip_max)
        return capped


def row_tensors(rows: list[Row], count: int, pad_token_id: int, device: torch.device) -> dict[str, torch.Tensor]:
    """`count` rows as TRL's padded tensors: prompts to the left, completions to the right; missing rows train
    nothing.
    """
    width_prompt = max((len(row.prompt_ids) for row in rows), default=1)
    width_completion = max((len(row.completion_ids) for row in rows), default=1)
    dummy = Row([pad_token_id], [pad_token_id], [0], [0.0])
    filled = rows + [dummy] * (count - len(rows))

    def left(values: list[int], filler: int) -> list[int]:
        return [filler] * (width_prompt - len(values)) + values

    def right(values: list[Any], filler: float) -> list[Any]:
        return values + [filler] * (width_completion - len(values))

    return {
        "prompt_ids": torch.tensor([left(row.prompt_ids, pad_token_id) for row in filled], device=device),
        "prompt_mask": torch.tensor([left([1] * len(row.prompt_ids), 0) for row in filled], device=device),
        "completion_ids": torch.tensor([right(row.completion_ids, pad_token_id) for row in filled], device=device),
        "completion_mask": torch.tensor([right([1] * len(row.completion_ids), 0) for row in filled], device=device),
        "tool_mask": torch.tensor([right(row.action_mask, 0) for row in filled], device=device),
        "sampling_per_token_logps": torch.tensor([right(row.logprobs, 0.0) for row in filled], device=device),
    }


def merge_rows(batch: Batch, new: Mapping[str, torch.Tensor], pad_token_id: int) -> Batch:
    """`batch` and `new` one above the other, each tensor padded to the wider of the two."""
    merged = dict(batch)
    for name, rows in new.items():
        old, filler = batch[name], pad_token_id if name.endswith("_ids") else 0
        width = max(old.size(1), rows.size(1))
        sides = [
            pad(t, (width - t.size(1), 0) if name.startswith("prompt") else (0, width - t.size(1)), value=filler)
            for t in (old, rows.to(old.dtype))
        ]
        merged[name] = torch.cat(sides)
    return merged
