"""One training run from resolved configuration to finished record: builds the parts, wires them, takes them down."""

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import verifiers.v1 as vf
from accelerate import PartialState
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.trainer_callback import PrinterCallback
from trl import GRPOConfig
from verifiers.v1.utils.loaders import import_taskset

from vf_grpo.callback import RunCallback
from vf_grpo.checkpoints import checkpoint_step, last_checkpoint, restore_curriculum
from vf_grpo.config import TrainConfig, TransformersEngineConfig, VLLMServerEngineConfig
from vf_grpo.engines import Engine
from vf_grpo.episodes import Endpoint, EpisodeRunner
from vf_grpo.evaluation import HeldOut
from vf_grpo.renderer import template_renderer
from vf_grpo.rollout import EpisodePlayer, RolloutFunction, environment_reward
from vf_grpo.run_record import RUN, RunRecord
from vf_grpo.tasks import TaskPlan
from vf_grpo.trainer import EpisodeGRPOTrainer
from vf_grpo.transformers_names import CHECKPOINTING


@dataclass(frozen=True)
class RunOutcome:
    """How a run ended: the reason it stopped early (None when it did not) and where its model lies."""

    stopped: str | None
    model_dir: Path


def train(config: TrainConfig) -> RunOutcome:
    """Run `config` to its end. Raises RunStoppedError, with the record already saying so, when a run cannot go on."""
    state = PartialState(cpu=not torch.cuda.is_available())
    passes = config.batch.accumulation_steps(state.num_processes)
    checkpoint = last_checkpoint(config.output_dir) if config.resume else None
    if state.is_main_process:
        _refuse_to_overwrite(config)
    with ExitStack() as stack:
        record = _open_record(config, checkpoint, stack) if state.is_main_process else None
        env = vf.load_environment(config.env)
        runner = EpisodeRunner(env, config.rollout.max_concurrent, config.rollout.episode_timeout_s)
        plan = TaskPlan(config, env)
        if checkpoint is not None and plan.curriculum is not None:
            restore_curriculum(plan.curriculum, checkpoint)
        engine = make_engine(config)
        engine.start(runner)
        stack.callback(engine.close)
        stack.callback(runner.stop)
        runner.connect(endpoint(config, engine))
        player = EpisodePlayer(config, runner, engine)
        callback = RunCallback(config, plan, record)
        rollouts = RolloutFunction(config, plan, player, engine, callback.take_step)
        trainer = make_trainer(config, plan, engine, rollouts, passes)
        callback.attach(trainer, HeldOut(config, plan, player, trainer))
        trainer.add_callback(callback)
        engine.attach(trainer)
        stack.enter_context(callback.progress())
        trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
        callback.finish()
        model_dir = config.output_dir / "final"
        trainer.save_model(str(model_dir))
        if record is not None:
            record.finish("stopped" if callback.stopped else "finished", callback.stopped, callback.summary())
        return RunOutcome(callback.stopped, model_dir)


def make_engine(config: TrainConfig) -> Engine:
    """The engine that `config.engine` names. Each engine's own dependencies load here and nowhere else."""
    if isinstance(config.engine, TransformersEngineConfig):
        from vf_grpo.engines.transformers_engine import TransformersEngine

        return TransformersEngine(config.engine)
    if isinstance(config.engine, VLLMServerEngineConfig):
        from vf_grpo.engines.vllm_server import VLLMServerEngine

        return VLLMServerEngine(config.engine, config.model)
    from vf_grpo.engines.vllm_colocate import VLLMColocateEngine

    return VLLMColocateEngine(config.engine)


def endpoint(config: TrainConfig, engine: Engine) -> Endpoint:
    """How episodes reach `engine` under `config`."""
    sampling: dict[str, Any] = {"temperature": config.sampling.temperature, "max_tokens": config.sampling.max_tokens}
    if config.sampling.enable_thinking is not None:
        sampling["chat_template_kwargs"] = {"enable_thinking": config.sampling.enable_thinking}
    return Endpoint(
        base_url=engine.base_url,
        model=engine.model,
        tokenizer=config.model,
        renderer=config.renderer or template_renderer(),
        sampling=sampling,
        request_timeout_s=config.rollout.request_timeout_s,
    )


def make_trainer(
    config: TrainConfig, plan: TaskPlan, engine: Engine, rollouts: RolloutFunction, passes: tuple[int, int]
) -> EpisodeGRPOTrainer:
    model = AutoModelForCausalLM.from_pretrained(config.model, dtype=config.dtype)
    trainer = EpisodeGRPOTrainer(
        model=model,
        reward_funcs=environment_reward,
        args=trainer_arguments(config, engine, passes),
        train_dataset=Dataset.from_dict({"prompt": plan.identities()}),
        processing_class=AutoTokenizer.from_pretrained(config.model, padding_side="left"),
        rollouts=rollouts,
        logprob_check_every=config.telemetry.logprob_check_every,
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


def trainer_arguments(config: TrainConfig, engine: Engine, passes: tuple[int, int]) -> GRPOConfig:
    """`passes` is (rows per device pass, passes per optimiser step)."""
    micro_batch_size, num_passes = passes
    on_gpu = torch.cuda.is_available()
    arguments: dict[str, Any] = {
        "output_dir": str(config.output_dir / "checkpoints"),
        "per_device_train_batch_size": micro_batch_size,
        "steps_per_generation": num_passes,
        "gradient_accumulation_steps": num_passes,
        "num_generations": config.batch.group_size,
        "num_iterations": config.optimizer.num_iterations,
        "max_completion_length": config.rollout.max_row_tokens,
        "max_steps": config.max_steps,
        "seed": config.seed,
        "temperature": config.sampling.temperature,
        "learning_rate": config.optimizer.learning_rate,
        "lr_scheduler_type": config.optimizer.schedule,
        "warmup_steps": config.optimizer.warmup_steps,
        "weight_decay": config.optimizer.weight_decay,
        "max_grad_norm": config.optimizer.max_grad_norm,
        "adam_epsilon": config.optimizer.adam_epsilon,
        "beta": config.optimizer.beta,
        "loss_type": config.optimizer.loss,
        "scale_rewards": config.optimizer.scale_rewards,
        "vllm_importance_sampling_mode": "token_truncate",
        "vllm_importance_sampling_clip_max": config.optimizer.importance_cap,
        "save_strategy": "steps" if config.checkpoint.every else "no",
        "save_steps": config.checkpoint.every or 1,
        "save_total_limit": config.checkpoint.keep,
        "logging_steps": 1,
        "report_to": list(config.telemetry.report_to) or "none",
        "disable_tqdm": True,
        "use_cpu": not on_gpu,
        "bf16": False,
        CHECKPOINTING: config.optimizer.activation_checkpointing,
        "dataloader_pin_memory": on_gpu,
        **engine.trainer_arguments(),
    }
    clash = sorted(set(arguments) & set(config.trl))
    settable = {"bf16", "dataloader_pin_memory"}
    if set(clash) - settable:
        raise ValueError(f"trl.{sorted(set(clash) - settable)} are set by this configuration's own fields: use those")
    return GRPOConfig(**{**arguments, **config.trl})


def _open_record(config: TrainConfig, checkpoint: Path | None, stack: ExitStack) -> RunRecord:
    record = RunRecord(config.output_dir)
    resumed_at = None if checkpoint is None else checkpoint_step(checkpoint)
    record.begin(config.model_dump(mode="json"), import_taskset(config.env.taskset.id), resumed_at)
    stack.push(record.note_exception)
    return record


def _refuse_to_overwrite(config: TrainConfig) -> None:
    if not config.resume and (config.output_dir / RUN).exists():
        raise FileExistsError(
            f"{config.output_dir} already holds a run: go on with --resume, or choose another --output-dir"
        )
