"""Drives a running OpenEnv server from 64 sessions at once; run by `test_openenv` where openenv is installed.

Prints one JSON object of what it saw. argv: base URL, number of sessions, task keys as JSON.
"""

import asyncio
import json
import sys

from openenv import GenericEnvClient


def scripted(number: int) -> list[dict]:
    """A different play for each session."""
    sectors = ("docklands", "data_spire", "undergrid", "citadel_gate")
    resources = ("credits", "intel", "influence", "energy")
    plays = [{"action_type": "scout_sector", "sector": sectors[(number + turn) % 4]} for turn in range(3)]
    plays.append({"action_type": "trade_resources", "resource": resources[number % 4], "amount": 1 + number % 25})
    plays.append({"action_type": "noop", "nonce": number})
    return plays


async def session(url: str, number: int, task: str) -> dict:
    async with GenericEnvClient(base_url=url) as client:
        seen = [(await client.reset(task=task)).observation]
        rewards = []
        for action in scripted(number):
            result = await client.step(action)
            seen.append(result.observation)
            rewards.append(result.reward)
            await asyncio.sleep(0)
        return {"task": task, "seen": seen, "rewards": rewards, "state": await client.state()}


async def single(url: str) -> dict:
    """One session: what resets give, odd payloads, and steps after the end."""
    async with GenericEnvClient(base_url=url) as client:
        cycle = [(await client.reset()).observation["task"] for _ in range(7)]
        by_seed = [(await client.reset(seed=7)).observation for _ in range(2)]
        odd = []
        for payload in (
            {"action_type": "trade_resources", "resource": "credits", "amount": float("nan")},
            {"action_type": "trade_resources", "resource": "credits", "amount": True},
            {"action_type": "x" * 300_000, "metadata": 3},
            {"foo": ["bar"] * 1000},
            {},
        ):
            result = await client.step(payload)
            odd.append(
                {
                    "size": len(json.dumps(result.observation)),
                    "fault": result.observation["fault"],
                    "reward": result.reward,
                }
            )
        while not result.done:
            result = await client.step({"action_type": "noop"})
        after = await client.step({"action_type": "noop"})
        return {"cycle": cycle, "by_seed": by_seed, "odd": odd, "end": result.observation, "after": after.reward}


async def main() -> None:
    url, num_sessions, tasks = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
    sessions = await asyncio.gather(*(session(url, n, tasks[n % len(tasks)]) for n in range(num_sessions)))
    print(json.dumps({"sessions": sessions, "single": await single(url)}))


asyncio.run(main())
