"""CPU seconds per rollout: this project's in-process chat harness against verifiers' built-in `null` harness.

Both play the same tasks in one run against one local server that answers at once: assay-add3digit (one turn), and a toy
task of ten turns. CPU seconds are those of this process and its children; the server is a process of its own.
"""

import argparse
import asyncio
import importlib.metadata
import json
import multiprocessing
import os
import platform
import resource
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import verifiers.v1 as vf

from assay_add3digit import ChatHarness
from assay_add3digit._envkit.chat_harness import close_session
from vf_grpo.policy_server import PolicyServer, serving

NUM_TURNS = 10


class CountingTask(vf.Task[vf.TaskData]):
    @vf.reward
    async def turns(self, trace: vf.Trace) -> float:
        return float(trace.num_turns)


class CountingTaskset(vf.Taskset[CountingTask, vf.TasksetConfig]):
    def load(self) -> Iterator[CountingTask]:
        for index in range(100_000):
            yield CountingTask(vf.TaskData(id=str(index), prompt=None))


class CountingEnv(vf.SingleAgentEnv, vf.Env[vf.SingleAgentEnvConfig]):
    """Ten exchanges of one line each."""

    async def run(self, task: vf.Task[Any], agents: vf.Agents) -> None:
        async with agents.agent.interaction(task) as chat:
            for turn in range(NUM_TURNS):
                await chat.turn(f"turn {turn}")

    async def stop(self) -> None:
        await close_session()


__all__ = ["ChatHarness", "CountingEnv", "CountingTaskset"]


@dataclass(frozen=True)
class Measurement:
    num_rollouts: int
    cpu_s: float

    @property
    def cpu_s_per_rollout(self) -> float:
        return self.cpu_s / self.num_rollouts


def cpu_s() -> float:
    """CPU seconds of this process and its finished children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


async def measure(taskset_id: str, harness_id: str, url: str, num_rollouts: int) -> Measurement:
    agent = {"harness": {"id": harness_id}, "runtime": {"type": "subprocess"}}
    env = vf.load_environment(vf.resolve_env_config({"taskset": {"id": taskset_id}, "agent": agent}))
    client = vf.EvalClientConfig(base_url=url, api_key_var="NO_KEY")
    context = vf.ModelContext(model="echo", client=client, sampling=vf.SamplingConfig())
    gate = asyncio.Semaphore(2 if harness_id == "null" else 16)
    async with env.serving():
        warm_up, *tasks = env.taskset.take(num_rollouts + 1)
        await env.run_slot(env.slots(warm_up)[0], context, gate)
        start = cpu_s()
        episodes = await asyncio.gather(*(env.run_slot(env.slots(task)[0], context, gate) for task in tasks))
        used = cpu_s() - start
    failed = [episode for episode in episodes if not episode.ok]
    if failed:
        raise RuntimeError(f"{len(failed)} of {num_rollouts} rollouts failed: {failed[0].traces[0].errors[:1]}")
    return Measurement(num_rollouts, used)


def serve(addresses: Any) -> None:
    async def forever() -> None:
        async with serving(PolicyServer({"echo": lambda messages, seed: "<answer>0</answer>"})) as url:
            addresses.put(url)
            await asyncio.Event().wait()

    asyncio.run(forever())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rollouts", type=int, default=400, help="in-process rollouts a row (default: %(default)s)")
    parser.add_argument("--null-rollouts", type=int, default=6, help="null rollouts a row (default: %(default)s)")
    options = parser.parse_args()
    processes = multiprocessing.get_context("spawn")
    addresses = processes.Queue()
    server = processes.Process(target=serve, args=(addresses,), daemon=True)
    server.start()
    url = addresses.get(timeout=60)
    rows = {}
    for label, taskset_id, num_turns in (
        ("single-turn", "assay-add3digit", 1),
        ("ten-turn", "bench_harness", NUM_TURNS),
    ):
        ours = asyncio.run(measure(taskset_id, taskset_id, url, options.rollouts))
        null = asyncio.run(measure(taskset_id, "null", url, options.null_rollouts))
        rows[label] = {
            "in_process_ms_per_turn": round(1000 * ours.cpu_s_per_rollout / num_turns, 2),
            "null_ms_per_turn": round(1000 * null.cpu_s_per_rollout / num_turns, 1),
            "ratio": round(null.cpu_s_per_rollout / ours.cpu_s_per_rollout, 1),
            "rollouts": [ours.num_rollouts, null.num_rollouts],
        }
        print(f"{label:12} {json.dumps(rows[label])}", flush=True)
    server.terminate()
    print(
        f"verifiers {importlib.metadata.version('verifiers')}, Python {platform.python_version()}, "
        f"{os.cpu_count()} cores"
    )


if __name__ == "__main__":
    main()
