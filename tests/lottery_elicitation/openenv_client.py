"""Plays the OpenEnv server with OpenEnv's own client; run in an environment that has openenv. Prints one JSON line.

python openenv_client.py URL play      one full episode, hidden parameters watched for on the wire
python openenv_client.py URL load N    N concurrent sessions, each episode checked against an in-process replay
python openenv_client.py URL abuse     malformed and oversize messages, all of which must be answered
"""

import asyncio
import json
import sys
import time
from typing import Any

from openenv import GenericEnvClient
from websockets.asyncio.client import connect

from lottery_elicitation.core.actions import Malformed
from lottery_elicitation.core.grader import grade
from lottery_elicitation.core.prompts import observation_from_json
from lottery_elicitation.core.settings import Settings
from lottery_elicitation.core.simulator import initial_state, replay, step, transcript
from lottery_elicitation.strategies import STRATEGIES

SESSION_STRATEGIES = ("ceiling", "holt_laury", "random", "malformed_spam")


def written(action: Any) -> dict[str, Any]:
    return {"reply": action.reason} if isinstance(action, Malformed) else action.to_json()


async def episode(url: str, strategy: str, seed: int, stage: int) -> tuple[Any, list[str], int]:
    """The last observation of one episode, everything received before it, and the number of steps."""
    received = []
    async with GenericEnvClient(base_url=url) as client:
        result = await client.reset(seed=seed, curriculum_stage=stage, noise_seed=seed)
        steps = 0
        while not result.done:
            received.append(json.dumps(result.observation))
            action = STRATEGIES[strategy](observation_from_json(result.observation["view"]), seed, None)
            result = await client.step(written(action))
            steps += 1
        assert (await client.state())["step_count"] == steps
    return result, received, steps


def check(result: Any, received: list[str], strategy: str, seed: int, stage: int) -> None:
    """The episode over the wire is the one that the core plays, and nothing hidden came before its end."""
    settings = Settings(stage=stage, seed=seed)
    state = initial_state(settings, 0, noise_seed=seed)
    views = iter(received)
    while not state.is_over:
        view = observation_from_json(json.loads(next(views))["view"])
        state = step(state, STRATEGIES[strategy](view, seed, None))
    played = result.observation["result"]["transcript"]
    assert len(played["turns"]) == state.num_turns
    if strategy != "malformed_spam":
        assert played == json.loads(json.dumps(transcript(state)))
    replayed = replay(settings, played)
    assert result.reward == grade(replayed).reward == grade(state).reward
    hidden = result.observation["result"]["hidden"]
    assert hidden == {"gamma": state.world.preferences.gamma, "lambda": state.world.preferences.loss_aversion}
    for text in received:
        assert '"result": null' in text or '"result"' not in text
        assert not any(f"{value:.6f}"[:-1] in text for value in hidden.values())


async def play(url: str) -> dict[str, Any]:
    result, received, steps = await episode(url, "ceiling", seed=7, stage=2)
    check(result, received, "ceiling", 7, 2)
    again, _, _ = await episode(url, "ceiling", seed=7, stage=2)
    assert again.observation["result"] == result.observation["result"]
    return {"reward": result.reward, "steps": steps}


async def load(url: str, num_sessions: int) -> dict[str, Any]:
    async def session(number: int) -> int:
        total = 0
        for round_number in range(3):
            strategy = SESSION_STRATEGIES[(number + round_number) % len(SESSION_STRATEGIES)]
            seed, stage = 1000 * round_number + number, 1 + (number + round_number) % 3
            result, received, steps = await episode(url, strategy, seed, stage)
            check(result, received, strategy, seed, stage)
            total += steps
        return total

    start = time.perf_counter()
    steps = await asyncio.gather(*(session(number) for number in range(num_sessions)))
    seconds = time.perf_counter() - start
    return {
        "sessions": num_sessions,
        "episodes": 3 * num_sessions,
        "steps": sum(steps),
        "steps_per_s": sum(steps) / seconds,
    }


async def abuse(url: str) -> dict[str, Any]:
    bad: list[str | bytes] = [
        "hello",
        "",
        "[1, 2]",
        "null",
        "{}",
        '{"type": "dance"}',
        '{"type": "step"}',
        '{"type": "step", "data": 7}',
        '{"type": "step", "data": {"terminate_early": true}}',
        '{"type": ["step"], "data": {}}',
        '{"type": "reset", "data": {"seed": "x"}}',
        '{"type": "reset", "data": {"seed": -1}}',
        '{"type": "reset", "data": {"curriculum_stage": 9}}',
        "[" * 100_000,
        '{"a":' * 100_000,
        b"\x00\xff",
        json.dumps({"type": "step", "data": {"reply": "x" * 1_000_000}}),
        '{"type": "step", "data": {"reply": ' + "9" * 10_000 + "}}",
    ]
    async with connect(url.replace("http", "ws") + "/ws", max_size=None) as socket:
        answers = []
        for message in bad:
            await socket.send(message)
            answers.append(json.loads(await asyncio.wait_for(socket.recv(), 20)))
        assert all(answer["type"] == "error" for answer in answers), [a for a in answers if a["type"] != "error"]

        async def ask(message_type: str, **data: Any) -> dict[str, Any]:
            await socket.send(json.dumps({"type": message_type, "data": data}))
            answer: dict[str, Any] = json.loads(await asyncio.wait_for(socket.recv(), 20))
            return answer["data"]

        await ask("reset", seed=1)
        lost = [{"lottery_a": float("nan")}, {"theta_estimate": None}, {"reply": "hello"}, {}, {"reasoning": "x"}]
        for turn, action in enumerate(lost, start=1):
            told = await ask("step", **action)
            assert told["observation"]["view"]["turn"] == turn + 1
            assert "The turn was lost" in told["observation"]["prompt"]
        truth = await ask("step", theta_estimate={"gamma": 0.8, "lambda": 2.0}, terminate_early=True)
        assert truth["done"]
        after = await ask("step", terminate_early=True)
        assert "episode ended" in after["message"]
    return {"answered": len(bad)}


async def main() -> None:
    url, command, *rest = sys.argv[1:]
    calls = {"play": lambda: play(url), "load": lambda: load(url, int(rest[0])), "abuse": lambda: abuse(url)}
    print(json.dumps(await calls[command]()))


if __name__ == "__main__":
    asyncio.run(main())
