"""Getting new weights to vLLM without NCCL, and timing whichever sync is in use.

TRL decides when to sync (once per optimiser step, before the rollouts) and knows how to walk parameters under FSDP,
DeepSpeed and PEFT; both are reused. Walking is a collective operation, so every rank walks and rank 0 writes.
"""

import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import requests
import torch
from safetensors.torch import save_file
from trl.distributed import DistributedBackend
from trl.generation.vllm_generation import VLLMGeneration

if TYPE_CHECKING:
    from trl import GRPOTrainer


class SyncTimed(Protocol):
    sync_s: float


class DiskSync:
    """Takes the place of TRL's vLLM client in a trainer; `sync_weights` writes a checkpoint and has the server read
    it.
    """

    def __init__(self, base_url: str, folder: Path, timeout_s: float) -> None:
        self._base_url = base_url
        self._folder = folder
        self._timeout_s = timeout_s

    def install(self, trainer: "GRPOTrainer") -> None:
        self._trainer = trainer
        trainer.vllm_generation = self
        trainer.use_vllm = True
        # The server started from the same weights, but a resumed trainer has newer ones: sync before the first rollout.
        trainer._last_loaded_step = -1

    def sync_weights(self) -> None:
        """Collective. After it the server samples from the trainer's weights; raises when the server refuses them."""
        accelerator = self._trainer.accelerator
        weights = dict(self._walk())
        if accelerator.is_main_process:
            folder = self._folder.absolute() / f"step-{self._trainer.state.global_step}"
            folder.mkdir(parents=True, exist_ok=True)
            accelerator.unwrap_model(self._trainer.model).config.save_pretrained(folder)
            save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
            self._post("/collective_rpc", {"method": "reload_from_disk", "args": [str(folder)]})
            self._post("/reset_prefix_cache", None)
            shutil.rmtree(folder)

    def _walk(self) -> Iterator[tuple[str, torch.Tensor]]:
        # Only TRL's parameter walk is wanted, not the client its constructor would open.
        walker = object.__new__(VLLMGeneration)
        walker.model, walker.accelerator = self._trainer.model, self._trainer.accelerator
        walker._dist = DistributedBackend(self._trainer.accelerator)
        is_main = self._trainer.accelerator.is_main_process
        for name, parameter in walker._iter_named_params():
            if is_main:
                yield name, parameter.detach().to("cpu", copy=True).contiguous()

    def _post(self, path: str, body: dict[str, Any] | None) -> None:
        reply = requests.post(self._base_url + path, json=body, timeout=self._timeout_s)
        if reply.status_code != 200:
            raise RuntimeError(f"weight sync failed: {path} answered {reply.status_code}: {reply.text[:300]}")


def timed_sync(trainer: "GRPOTrainer", engine: SyncTimed) -> None:
    """Have `engine.sync_s` hold the seconds of the latest sync."""
    sync = trainer.vllm_generation.sync_weights

    def timed() -> None:
        started = time.perf_counter()
        sync()
        engine.sync_s = time.perf_counter() - started

    trainer.vllm_generation.sync_weights = timed
