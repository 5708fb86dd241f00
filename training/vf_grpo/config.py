"""The configuration of a training run: one tree, read from TOML files and flags, with every default in one place."""

from pathlib import Path
from typing import Annotated, Literal

import verifiers.v1 as vf
from pydantic import Field, JsonValue, SerializeAsAny, model_validator
from pydantic_config import BaseConfig
from renderers import RendererConfig
from verifiers.v1.envs.single_agent import SingleAgentEnvConfig


class TransformersEngineConfig(BaseConfig):
    """Batched sampling from the training model itself, in the trainer's own process. No vLLM."""

    type: Literal["transformers"] = "transformers"
    max_context: int = Field(1024, ge=2)
    """Longest prompt plus reply, in tokens."""
    max_batch: int = Field(512, ge=1)
    """Most requests sampled in one batch."""
    max_wait_s: float = Field(0.5, ge=0)
    """How long a batch waits for episodes that are busy in their environment."""


class VLLMServerEngineConfig(BaseConfig):
    """A vLLM server that runs beside the trainer and gets the new weights after every step."""

    type: Literal["vllm-server"] = "vllm-server"
    base_url: str = "http://127.0.0.1:8000"
    sync: Literal["nccl", "disk"] = "nccl"
    """How weights travel: TRL's NCCL broadcast (GPU only), or a safetensors file that the server reads (anywhere)."""
    sync_dir: Path = Path("outputs/weight-sync")
    """Folder that trainer and server both see, for `sync = "disk"`."""
    served_model: str | None = None
    """Name the server knows the model by; the trainer's model path when unset."""
    sync_timeout_s: float = Field(600.0, gt=0)


class VLLMColocateEngineConfig(BaseConfig):
    """vLLM inside the trainer's process, stepped by the trainer's thread (tensor parallel size 1)."""

    type: Literal["vllm-colocate"] = "vllm-colocate"
    max_context: int = Field(4096, ge=2)
    """vLLM's `max_model_len`: longest prompt plus reply, in tokens."""
    gpu_memory_fraction: float = Field(0.3, gt=0, le=1)
    """Share of GPU memory that vLLM takes; the rest is the trainer's."""


EngineConfig = Annotated[
    TransformersEngineConfig | VLLMServerEngineConfig | VLLMColocateEngineConfig, Field(discriminator="type")
]


class BatchConfig(BaseConfig):
    """How many episodes a step plays and how the optimiser cuts them up."""

    group_size: int = Field(8, ge=2)
    """Episodes of one task; advantages are relative to their mean."""
    groups_per_step: int = Field(8, ge=1)
    """Tasks per optimiser step, over all ranks."""
    micro_batch_size: int | None = Field(None, ge=1)
    """Rows per forward and backward pass on one device; all of a rank's episodes at once when unset."""

    @property
    def episodes_per_step(self) -> int:
        return self.group_size * self.groups_per_step

    def accumulation_steps(self, num_ranks: int) -> tuple[int, int]:
        """(rows per device pass, passes per optimiser step); raises ValueError with the sum when it does not divide."""
        micro = self.micro_batch_size or self.episodes_per_step // num_ranks
        total = self.episodes_per_step
        if micro == 0 or total % (micro * num_ranks):
            raise ValueError(
                f"group_size {self.group_size} x groups_per_step {self.groups_per_step} = {total} episodes a step "
                f"do not divide into {num_ranks} rank(s) x micro_batch_size {micro} = {max(micro, 1) * num_ranks}; "
                "change one of the three so that the second product divides the first"
            )
        return micro, total // (micro * num_ranks)


class SamplingConfig(BaseConfig):
    temperature: float = Field(1.0, gt=0)
    max_tokens: int = Field(256, ge=1)
    """Most tokens of one reply (one turn)."""
    enable_thinking: bool | None = None
    """Passed to the chat template where set; `false` for models that would think aloud."""


class OptimizerConfig(BaseConfig):
    learning_rate: float = Field(1e-6, gt=0)
    schedule: Literal["constant", "linear", "cosine"] = "constant"
    warmup_steps: int = Field(0, ge=0)
    weight_decay: float = Field(0.0, ge=0)
    max_grad_norm: float = Field(1.0, gt=0)
    adam_epsilon: float = Field(1e-8, gt=0)
    """Added to AdamW's denominator; a larger one keeps directions that hold only noise from being amplified."""
    beta: float = Field(0.0, ge=0)
    """KL leash to the starting policy; 0 keeps no reference model. The leash study uses 0.04."""
    loss: Literal["dapo", "grpo", "dr_grpo", "bnpo"] = "dapo"
    scale_rewards: Literal["group", "none"] = "group"
    activation_checkpointing: bool = False
    """Recompute activations in the backward pass: less memory, about a fifth more time."""
    num_iterations: int = Field(1, ge=1)
    """Optimiser passes over one batch of episodes."""
    importance_cap: float = Field(3.0, gt=0)
    """Token-level importance ratios of trainer over vLLM sampler are truncated here."""


class RolloutConfig(BaseConfig):
    max_concurrent: int = Field(256, ge=1)
    """Episodes in flight on one rank."""
    max_row_tokens: int = Field(4096, ge=2)
    """Longest training row; a longer conversation trains on its first tokens and counts as truncated."""
    request_timeout_s: float = Field(300.0, gt=0)
    """Longest silence of the engine within one model call."""
    episode_timeout_s: float = Field(1800.0, gt=0)
    """Longest episode; a later one counts as failed."""
    max_failed_fraction: float = Field(0.5, ge=0, le=1)
    """The run stops when more than this share of a step's episodes failed."""
    allow_branches: bool = False
    """Accept conversations that split into several rows. Off, the first step refuses them: the usual cause is a
    renderer that re-tokenises earlier turns.
    """


class TelemetryConfig(BaseConfig):
    true_metric: str | None = None
    """Environment metric that holds the true reward; gap = training signal minus this."""
    malformed_metric: str | None = None
    """Environment metric that is 1 where a reply did not parse (or the fraction of such turns)."""
    solved_at: float = 1.0
    """A group whose rewards are all equal and at least this is all-solved, else all-failed."""
    logprob_check_every: int = Field(10, ge=0)
    """Steps between comparisons of sampler and trainer log-probabilities; 0 never."""
    report_to: list[Literal["wandb", "trackio", "tensorboard"]] = Field(default_factory=list)
    progress: bool = True


class AlarmConfig(BaseConfig):
    action: Literal["warn", "stop"] = "warn"
    window: int = Field(10, ge=2)
    """Steps that a condition must hold (collapse) or is judged over (hack)."""
    collapse_dead_fraction: float = Field(0.95, gt=0, le=1)
    """Dead groups above this for a whole window: nothing is learnt any more."""
    hack_slope: float = Field(0.05, gt=0)
    """The gap grew and the true reward fell by more than this from one window to the next."""
    max_logprob_difference: float = Field(0.2, gt=0)
    """Mean |sampler - trainer| log-probability above this: the sampler has other weights."""


class CheckpointConfig(BaseConfig):
    every: int = Field(0, ge=0)
    """Steps between checkpoints; 0 keeps the last state only."""
    keep: int = Field(2, ge=1)


class EvaluationConfig(BaseConfig):
    num_tasks: int = Field(0, ge=0)
    """Held-out tasks, one episode each, before the first and after the last step; 0 evaluates nothing."""
    every: int = Field(0, ge=0)
    """Also every so many steps; 0 never."""
    taskset: dict[str, JsonValue] = Field(default_factory=dict)
    """Taskset settings that differ from training, for example `{split = "eval"}`; empty takes the tasks after the
    training ones.
    """


class CurriculumConfig(BaseConfig):
    field: str
    """Taskset setting that names the level, for example `level` or `stage`."""
    values: list[JsonValue] = Field(min_length=2)
    """Levels from easy to hard."""
    promote_at: float = Field(0.7, gt=0)
    """Mean reward of the newest level over the last `memory` groups that opens the next one."""
    memory: int = Field(32, ge=1)
    review_fraction: float = Field(0.25, ge=0, lt=1)
    """Share of groups that replay an earlier level."""


class TrainConfig(BaseConfig):
    model: str
    """Local folder or hub id of the policy to train."""
    dtype: Literal["float32", "bfloat16", "auto"] = "float32"
    output_dir: Path = Path("outputs/train")
    env: SerializeAsAny[vf.EnvConfig] = SingleAgentEnvConfig()
    """The environment, written as verifiers writes it: `[env.taskset] id = "..."`."""
    num_tasks: int = Field(1000, ge=1)
    """Training tasks, taken from the head of the taskset."""
    max_steps: int = Field(100, ge=1)
    seed: int = 0
    engine: EngineConfig = TransformersEngineConfig()
    renderer: RendererConfig | None = None
    """Chat renderer by name; unset derives the turn scaffold from the model's own chat template."""
    batch: BatchConfig = BatchConfig()
    sampling: SamplingConfig = SamplingConfig()
    optimizer: OptimizerConfig = OptimizerConfig()
    rollout: RolloutConfig = RolloutConfig()
    telemetry: TelemetryConfig = TelemetryConfig()
    alarms: AlarmConfig = AlarmConfig()
    checkpoint: CheckpointConfig = CheckpointConfig()
    evaluation: EvaluationConfig = EvaluationConfig()
    curriculum: CurriculumConfig | None = None
    trl: dict[str, JsonValue] = Field(default_factory=dict)
    """Further `GRPOConfig` arguments by TRL's own names, for what this tree does not name."""
    resume: bool = Field(False, exclude=True)
    """Go on from the last checkpoint in `output_dir`."""
    dry_run: bool = Field(False, exclude=True)
    """Print the resolved configuration and stop."""

    @model_validator(mode="before")
    @classmethod
    def _resolve_env(cls, data: object) -> object:
        return vf.resolve_env_field(data, vf.narrowed_env_annotation(cls)) if isinstance(data, dict) else data

    @model_validator(mode="after")
    def _refuse_what_cannot_run(self) -> "TrainConfig":
        if not self.env.taskset.id:
            raise ValueError("env.taskset.id is empty: name an installed verifiers environment, e.g. assay-add3digit")
        if self.evaluation.every and not self.evaluation.num_tasks:
            raise ValueError(
                "evaluation.every is set but evaluation.num_tasks is 0: set how many held-out tasks to play"
            )
        if not self.batch.episodes_per_step or self.batch.groups_per_step > self.num_tasks:
            raise ValueError(
                f"batch.groups_per_step {self.batch.groups_per_step} exceeds num_tasks {self.num_tasks}: "
                "a step needs that many different tasks"
            )
        return self
