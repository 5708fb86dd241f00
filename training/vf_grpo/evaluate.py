"""`vf-grpo evaluate`: policies and models on one environment, through verifiers, as a table or one JSON object."""

import asyncio
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

import verifiers.v1 as vf
from pydantic import AliasChoices, Field, SerializeAsAny, model_validator
from pydantic_config import BaseConfig
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from verifiers.v1.cli.resolve import extract_id, with_positional_taskset
from verifiers.v1.configs.cli.env import narrowed_env_annotation, resolve_env_field

from vf_grpo.command_line import parse_environment_config
from vf_grpo.estimates import Estimate, estimate, pass_at_k
from vf_grpo.policies import ChatPolicy, policies_of
from vf_grpo.policy_server import PolicyServer, serving

USAGE = (
    "usage: vf-grpo evaluate ENV [--policies a,b] [--model M,M@URL --client.base-url URL] [-n N] [-r R]\n"
    "                        [--env.taskset.KEY VALUE] [--json]"
)
PASS_METRICS = ("success", "success5", "r_binary")
"""The first of these that an environment records tells whether an episode passed."""


class EvaluateConfig(BaseConfig):
    env: SerializeAsAny[vf.EnvConfig] = vf.SingleAgentEnvConfig()
    """The environment, as verifiers' own commands take it."""
    policies: str | None = None
    """Reference policies to play, comma-separated (default: all of the environment's, unless a model is given)."""
    model: str | None = Field(None, validation_alias=AliasChoices("model", "m"))
    """Models to evaluate, comma-separated, each at the endpoint `client` or, as `MODEL@URL`, at one of its own."""
    client: vf.EvalClientConfig = vf.EvalClientConfig()
    """The models' endpoint: client.base_url, client.api_key_var."""
    sampling: vf.SamplingConfig = vf.SamplingConfig()
    num_tasks: int = Field(100, ge=1, validation_alias=AliasChoices("num_tasks", "n"))
    """The first tasks of the taskset."""
    num_rollouts: int = Field(1, ge=1, validation_alias=AliasChoices("num_rollouts", "r"))
    """Episodes per task, each with a seed of its own."""
    seed: int = 0
    """Names the streams of sampling seeds."""
    max_concurrent: int = Field(64, ge=1, validation_alias=AliasChoices("max_concurrent", "c"))
    """Episodes in flight at once."""
    as_json: bool = Field(False, validation_alias=AliasChoices("json", "as_json"))
    """Print one JSON object instead of a table."""

    @model_validator(mode="before")
    @classmethod
    def _resolve_env(cls, data: Any) -> Any:
        return resolve_env_field(data, narrowed_env_annotation(cls))


@dataclass(frozen=True)
class Score:
    """How one policy or model did; failed episodes count in `num_errors` alone."""

    reward: Estimate
    metrics: Mapping[str, Estimate]
    pass_at: Mapping[int, Estimate]
    """k -> pass@k for k = 1, 2, 4, ... up to the rollouts a task; empty without a metric that tells."""
    num_episodes: int
    num_errors: int
    first_error: str | None


class Player(NamedTuple):
    """Who answers: a model at an endpoint."""

    model: str
    client: vf.EvalClientConfig


async def play(
    env: vf.Env[Any],
    tasks: Sequence[vf.Task[Any, Any, Any]],
    player: Player,
    config: EvaluateConfig,
    on_episode: Callable[[], None],
) -> Score:
    """Play every task `num_rollouts` times. `env` must be serving."""
    gate = asyncio.Semaphore(config.max_concurrent)

    async def episode(task: vf.Task[Any, Any, Any], rollout: int) -> vf.Episode:
        seed = Random(f"vf-grpo/evaluate/{config.seed}/{task.key}/{rollout}").getrandbits(31)
        sampling = config.sampling.model_copy(update={"seed": seed})
        context = vf.ModelContext(model=player.model, client=player.client, sampling=sampling)
        played = await env.run_slot(env.slots(task)[0], context, gate)
        on_episode()
        return played

    groups = await asyncio.gather(
        *(asyncio.gather(*(episode(task, rollout) for rollout in range(config.num_rollouts))) for task in tasks)
    )
    return score(groups)


def score(groups: Sequence[Sequence[vf.Episode]]) -> Score:
    """Summarise the episodes of each task."""
    finished = [[episode.traces[0] for episode in group if episode.ok] for group in groups]
    names = dict.fromkeys(name for traces in finished for trace in traces for name in trace.metrics)
    metrics = {
        name: estimate([[v for t in traces if (v := t.metrics.get(name)) is not None] for traces in finished])
        for name in names
    }
    errors = [
        error
        for group in groups
        for episode in group
        if not episode.ok
        for error in (*episode.errors, *(e for trace in episode.traces for e in trace.errors))
    ]
    num_episodes = sum(map(len, groups))
    return Score(
        reward=estimate([[trace.reward for trace in traces] for traces in finished]),
        metrics=metrics,
        pass_at=_pass_at(finished),
        num_episodes=num_episodes,
        num_errors=num_episodes - sum(map(len, finished)),
        first_error=f"{errors[0].type}: {errors[0].message[:300]}" if errors else None,
    )


def _pass_at(finished: Sequence[Sequence[vf.Trace[Any, Any, Any]]]) -> dict[int, Estimate]:
    recorded = {name for traces in finished for trace in traces for name in trace.metrics}
    metric = next((name for name in PASS_METRICS if name in recorded), None)
    if metric is None:
        return {}
    passes = [[trace.metrics.get(metric) == 1.0 for trace in traces] for traces in finished]
    most = max(map(len, passes))
    return {k: pass_at_k(passes, k) for k in (2**power for power in range(most.bit_length())) if k <= most}


async def evaluate(config: EvaluateConfig, progress: Progress) -> dict[str, Score]:
    """Play the configured policies and models; returns name -> score in the order asked for."""
    env = vf.load_environment(config.env)
    tasks = list(env.taskset.take(config.num_tasks))
    policies = _chosen_policies(config)
    async with AsyncExitStack() as stack:
        players: dict[str, Player] = {}
        if policies:
            url = await stack.enter_async_context(serving(PolicyServer(policies)))
            loopback = vf.EvalClientConfig(base_url=url, api_key_var="VF_GRPO_POLICIES_NEED_NO_KEY")
            players |= {name: Player(name, loopback) for name in policies}
        for name in config.model.split(",") if config.model else ():
            model, _, url = name.partition("@")
            players[model] = Player(model, config.client.model_copy(update={"base_url": url} if url else {}))
        await stack.enter_async_context(env.serving())
        scores = {}
        for name, player in players.items():
            bar = progress.add_task(name, total=len(tasks) * config.num_rollouts)
            scores[name] = await play(env, tasks, player, config, lambda bar=bar: progress.advance(bar))  # type: ignore[misc]
        return scores


def _chosen_policies(config: EvaluateConfig) -> dict[str, ChatPolicy]:
    if config.policies is None and config.model is not None:
        return {}
    available = policies_of(config.env.taskset.id)
    names = list(available) if config.policies is None else [name.strip() for name in config.policies.split(",")]
    if unknown := [name for name in names if name not in available]:
        raise LookupError(
            f"no policy {', '.join(map(repr, unknown))} for {config.env.taskset.id}: choose from {', '.join(available)}"
        )
    return {name: available[name] for name in names}


def as_json(config: EvaluateConfig, scores: Mapping[str, Score]) -> dict[str, Any]:
    """The result as plain data: `args` are the arguments that were set; a reward is None where no episode finished."""
    args = config.env.taskset.model_dump(mode="json", exclude={"id", "task"}, exclude_unset=True)
    policies = {
        name: {
            "reward": None if math.isnan(result.reward.mean) else result.reward.mean,
            "reward_se": result.reward.standard_error,
            "metrics": {metric: value.mean for metric, value in result.metrics.items()},
            "metrics_se": {metric: value.standard_error for metric, value in result.metrics.items()},
            "pass_at_k": {str(k): value.mean for k, value in result.pass_at.items()},
            "num_episodes": result.num_episodes,
            "num_errors": result.num_errors,
        }
        for name, result in scores.items()
    }
    return {"environment": config.env.taskset.id, "args": args, "n": config.num_tasks, "policies": policies}


def as_table(config: EvaluateConfig, scores: Mapping[str, Score]) -> Table:
    """The result as a table: one column a policy; its reward, pass@k and metrics, each with its interval."""
    title = (
        f"{config.env.taskset.id}: means over {config.num_tasks} tasks x {config.num_rollouts} rollouts "
        "(± half a 95 % interval)"
    )
    table = Table("", *scores, title=title, title_justify="left")
    table.add_row("reward", *(str(result.reward) for result in scores.values()))
    for k in dict.fromkeys(k for result in scores.values() for k in result.pass_at):
        table.add_row(f"pass@{k}", *(str(result.pass_at.get(k, "-")) for result in scores.values()))
    table.add_section()
    for metric in dict.fromkeys(name for result in scores.values() for name in result.metrics):
        cells = (result.metrics.get(metric) for result in scores.values())
        table.add_row(metric, *(str(cell) if cell else "-" for cell in cells))
    table.add_row("failed episodes", *(str(result.num_errors) for result in scores.values()))
    for column in table.columns:
        column.no_wrap = True
    return table


def main(argv: list[str]) -> int:
    if not argv or not (set(argv) & {"-h", "--help"} or extract_id(with_positional_taskset(argv), "env.taskset")):
        print(USAGE, file=sys.stderr)
        return 2
    config = parse_environment_config(EvaluateConfig, argv, "evaluate")
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    try:
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            scores = asyncio.run(evaluate(config, progress))
    except (LookupError, ValueError) as error:
        print(f"vf-grpo evaluate: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    if config.as_json:
        print(json.dumps(as_json(config, scores)))
    else:
        table = as_table(config, scores)
        Console(width=max(80, Console(width=1000).measure(table).maximum)).print(table)
    for name, result in scores.items():
        if result.first_error:
            print(
                f"{name}: {result.num_errors} of {result.num_episodes} episodes failed, e.g. {result.first_error}",
                file=sys.stderr,
            )
    return int(any(result.num_errors == result.num_episodes for result in scores.values()))
