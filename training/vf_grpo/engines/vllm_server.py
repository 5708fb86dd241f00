"""The engine for a vLLM server that runs beside the trainer, on other GPUs or other machines.

Weights travel in one of two ways. `nccl` is TRL's own broadcast; the server must be started with its development
endpoints and a weight-transfer backend. `disk` writes one safetensors file that the server's workers read back
through our worker extension: slower, but exact on any device. Either way the prefix cache is dropped, since it holds
the old weights' keys.
"""

import concurrent.futures
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import requests

from vf_grpo.config import VLLMServerEngineConfig
from vf_grpo.weight_sync import DiskSync, timed_sync

if TYPE_CHECKING:
    from trl import GRPOTrainer

    from vf_grpo.episodes import EpisodeRunner

T = TypeVar("T")

PROBE_TIMEOUT_S = 60.0
FIRST_GENERATION_TIMEOUT_S = 300.0
"""A server compiles and warms up within its first generation, half a minute on CPU."""
NCCL_COMMAND = (
    "VLLM_SERVER_DEV_MODE=1 vllm serve MODEL --enable-scale-out --logprobs-mode processed_logprobs "
    """--weight-transfer-config '{"backend": "nccl"}'"""
)
DISK_COMMAND = (
    "VLLM_SERVER_DEV_MODE=1 vllm serve MODEL --enable-scale-out --logprobs-mode processed_logprobs "
    "--worker-extension-cls vf_grpo.vllm_extension.ReloadFromDisk"
)


class VLLMServerEngine:
    def __init__(self, config: VLLMServerEngineConfig, model: str) -> None:
        self.config = config
        self.base_url = config.base_url.rstrip("/")
        self.model = config.served_model or model
        self.sampling_s = 0.0
        self.sync_s = 0.0

    def trainer_arguments(self) -> Mapping[str, Any]:
        if self.config.sync == "disk":
            return {}
        return {"use_vllm": True, "vllm_mode": "server", "vllm_server_base_url": self.base_url}

    def start(self, runner: "EpisodeRunner") -> None:
        self._need("GET", "/v1/models", "is the server running?")
        served = [card["id"] for card in self._get("/v1/models")["data"]]
        if self.model not in served:
            raise ValueError(
                f"{self.base_url} serves {served}, not {self.model!r}: set engine.served_model to one of them"
            )
        probe = {"model": self.model, "token_ids": [0], "sampling_params": {"max_tokens": 1, "logprobs": 1}}
        remedy = "start it with --enable-scale-out"
        self._need("POST", "/inference/v1/generate", remedy, timeout=FIRST_GENERATION_TIMEOUT_S, json=probe)
        self._need("GET", "/server_info", "start it with VLLM_SERVER_DEV_MODE=1", params={"config_format": "json"})
        mode = self._get("/server_info", config_format="json")["vllm_config"]["model_config"]["logprobs_mode"]
        if mode != "processed_logprobs":
            raise ValueError(f"the server reports logprobs of mode {mode!r}; start it with: {self._command}")

    def attach(self, trainer: "GRPOTrainer") -> None:
        if self.config.sync == "disk":
            DiskSync(self.base_url, self.config.sync_dir, self.config.sync_timeout_s).install(trainer)
        timed_sync(trainer, self)

    def serve(self, episodes: concurrent.futures.Future[T]) -> T:
        return episodes.result()

    def close(self) -> None:
        """Nothing to release: the server is not ours."""

    @property
    def _command(self) -> str:
        return NCCL_COMMAND if self.config.sync == "nccl" else DISK_COMMAND

    def _need(self, method: str, path: str, remedy: str, timeout: float = PROBE_TIMEOUT_S, **arguments: Any) -> None:
        """Raise with the command to start the server by, unless `path` answers 200."""
        try:
            status = requests.request(method, self.base_url + path, timeout=timeout, **arguments).status_code
        except requests.RequestException as error:
            raise ConnectionError(
                f"no answer from {self.base_url}{path} ({error}): start it with: {self._command}"
            ) from error
        if status != 200:
            raise ConnectionError(f"{self.base_url}{path} answered {status}: {remedy}, i.e. {self._command}")

    def _get(self, path: str, **query: str) -> Any:
        return requests.get(self.base_url + path, params=query, timeout=PROBE_TIMEOUT_S).json()
