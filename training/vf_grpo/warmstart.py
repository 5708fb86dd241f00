"""`vf-grpo warmstart ENV --policies NAME -n N`: fine-tune a model on what reference policies play, before GRPO.

The policies play the environment through verifiers, like any model; each of their turns becomes one example, a
conversation up to there and the reply, and TRL's SFTTrainer learns the replies alone.
"""

import asyncio
import itertools
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import verifiers.v1 as vf
from pydantic import AliasChoices, Field, JsonValue, SerializeAsAny, model_validator
from pydantic_config import BaseConfig
from verifiers.v1.clients import ModelContext
from verifiers.v1.dialects.chat import message_to_wire

from vf_grpo.command_line import parse_environment_config
from vf_grpo.policies import policies_of
from vf_grpo.policy_server import PolicyServer, serving

Example = dict[str, list[dict[str, Any]]]


class WarmstartConfig(BaseConfig):
    model: str
    """Local folder or hub id of the model to fine-tune."""
    output_dir: Path = Path("outputs/warmstart")
    env: SerializeAsAny[vf.EnvConfig] = vf.SingleAgentEnvConfig()
    policies: str
    """Reference policies to imitate, comma-separated; tasks go to them in turn."""
    num_episodes: Annotated[int, Field(ge=1, validation_alias=AliasChoices("num_episodes", "n"))] = 500
    min_reward: float | None = None
    """Leave out episodes below this reward."""
    max_steps: int = Field(100, ge=1)
    batch_size: int = Field(16, ge=1)
    learning_rate: float = Field(1e-5, gt=0)
    max_length: int = Field(2048, ge=2)
    """Longest example, in tokens."""
    seed: int = 0
    max_concurrent: int = Field(64, ge=1)
    sft: dict[str, JsonValue] = Field(default_factory=dict)
    """Further `SFTConfig` arguments by TRL's own names."""

    @model_validator(mode="before")
    @classmethod
    def _resolve_env(cls, data: object) -> object:
        return vf.resolve_env_field(data, vf.narrowed_env_annotation(cls)) if isinstance(data, dict) else data


def main(argv: list[str]) -> int:
    config = parse_environment_config(WarmstartConfig, argv, "warmstart")
    try:
        episodes = asyncio.run(play(config))
    except LookupError as error:
        print(f"vf-grpo warmstart: {error.args[0]}", file=sys.stderr)
        return 1
    examples = [example for episode in episodes for example in episode_examples(episode, config.min_reward)]
    if not examples:
        print("vf-grpo warmstart: no episode qualifies: lower --min-reward or choose other policies", file=sys.stderr)
        return 1
    print(f"{len(examples)} turns of {len(episodes)} episodes")
    fine_tune(config, examples)
    print(f"model: {config.output_dir}")
    return 0


async def play(config: WarmstartConfig) -> list[vf.Episode]:
    """The episodes of the policies, in task order; raises RuntimeError when one failed, LookupError by policy name."""
    env_id = config.env.taskset.id
    table = policies_of(env_id)
    names = config.policies.split(",")
    if unknown := sorted(set(names) - set(table)):
        raise LookupError(f"{env_id} has no policies {unknown}: it has {sorted(table)}")
    env = vf.load_environment(config.env)
    tasks = list(itertools.islice(env.taskset, config.num_episodes))
    gate = asyncio.Semaphore(config.max_concurrent)
    async with serving(PolicyServer(table)) as url, env.serving():
        client = vf.EvalClientConfig(base_url=url, api_key_var="VF_GRPO_NO_KEY")
        episodes = await asyncio.gather(
            *(
                env.run_slot(env.slots(task)[0], _context(names[index % len(names)], client, config.seed + index), gate)
                for index, task in enumerate(tasks)
            )
        )
    failed = [episode for episode in episodes if not episode.ok]
    if failed:
        errors = [*failed[0].errors, *(error for trace in failed[0].traces for error in trace.errors)]
        raise RuntimeError(f"{len(failed)} of {len(episodes)} episodes failed, e.g. {errors[0].message}")
    return list(episodes)


def episode_examples(episode: vf.Episode, min_reward: float | None) -> list[Example]:
    """One example per turn of the trainable agent: the messages before a reply, and the reply."""
    traces = [t for t in episode.traces if t.agent.trainable and (min_reward is None or t.reward >= min_reward)]
    examples: list[Example] = []
    for trace in traces:
        messages = [message_to_wire(message) for message in trace.messages]
        turns = [index for index, message in enumerate(messages) if message["role"] == "assistant"]
        examples += [{"prompt": messages[:index], "completion": [messages[index]]} for index in turns]
    return examples


def fine_tune(config: WarmstartConfig, examples: Sequence[Example]) -> None:
    """Train on the replies of `examples` and save model and tokenizer to `config.output_dir`."""
    import torch
    from datasets import Dataset
    from trl import SFTConfig, SFTTrainer

    from vf_grpo.transformers_names import CHECKPOINTING

    on_gpu = torch.cuda.is_available()
    settings: dict[str, Any] = {
        "output_dir": str(config.output_dir),
        "max_steps": config.max_steps,
        "per_device_train_batch_size": config.batch_size,
        "learning_rate": config.learning_rate,
        "max_length": config.max_length,
        "completion_only_loss": True,
        "seed": config.seed,
        "save_strategy": "no",
        "report_to": "none",
        "use_cpu": not on_gpu,
        "bf16": False,
        CHECKPOINTING: False,
        "dataloader_pin_memory": on_gpu,
        **config.sft,
    }
    trainer = SFTTrainer(
        model=config.model, args=SFTConfig(**settings), train_dataset=Dataset.from_list(list(examples))
    )
    trainer.train()
    trainer.save_model(str(config.output_dir))


def _context(policy: str, client: vf.EvalClientConfig, seed: int) -> ModelContext:
    return ModelContext(model=policy, client=client, sampling=vf.SamplingConfig(seed=seed))
