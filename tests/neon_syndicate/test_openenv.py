"""The OpenEnv server, in an environment of its own, driven by openenv's own client."""

import json
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from neon_syndicate.core.actions import read_action
from neon_syndicate.core.generator import mission_of
from neon_syndicate.core.grader import step_reward
from neon_syndicate.core.missions import BUILTIN_MISSIONS
from neon_syndicate.core.observation import observe
from neon_syndicate.core.prompts import SYSTEM_PROMPT, turn_text
from neon_syndicate.core.simulator import step
from neon_syndicate.core.state import initial_state

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".venvs" / "openenv" / "bin" / "python"
NUM_SESSIONS = 64
TASKS = [*(mission.key for mission in BUILTIN_MISSIONS), "eval/5/0", "eval/3/1"]

pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason="openenv is not installed: run `make setup`")


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = tmp_path_factory.mktemp("openenv") / "server.log"
    command = [str(PYTHON), "-m", "neon_syndicate.openenv_server", "--port", str(port)]
    with log.open("w") as sink, subprocess.Popen(command, stdout=sink, stderr=sink) as server:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert server.poll() is None, log.read_text()
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
        server.terminate()


@pytest.fixture(scope="module")
def report(url: str) -> Any:
    client = Path(__file__).with_name("openenv_client.py")
    command = [str(PYTHON), str(client), url, str(NUM_SESSIONS), json.dumps(TASKS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def scripted(number: int) -> list[dict[str, Any]]:
    sectors = ("docklands", "data_spire", "undergrid", "citadel_gate")
    resources = ("credits", "intel", "influence", "energy")
    return [
        *({"action_type": "scout_sector", "sector": sectors[(number + turn) % 4]} for turn in range(3)),
        {"action_type": "trade_resources", "resource": resources[number % 4], "amount": 1 + number % 25},
        {"action_type": "noop", "nonce": number},
    ]


def test_sixty_four_sessions_each_play_their_own_episode(report: Any) -> None:
    assert len(report["sessions"]) == NUM_SESSIONS
    for number, session in enumerate(report["sessions"]):
        mission = mission_of(TASKS[number % len(TASKS)])
        state = initial_state(mission)
        assert session["seen"][0]["text"] == turn_text(observe(state))
        assert session["seen"][0]["rules"] == SYSTEM_PROMPT
        for fields, seen, reward in zip(scripted(number), session["seen"][1:], session["rewards"], strict=True):
            before, state = state, step(state, read_action(fields))
            assert seen["text"] == turn_text(observe(state, before))
            assert seen["turn"] == state.ledger.turn
            assert list(seen["resources"].values()) == list(state.world.lanes)
            assert reward == pytest.approx(step_reward(before, state), abs=1e-12)
        assert session["state"]["task"] == mission.key
        assert session["state"]["step_count"] == 5


def test_no_payload_carries_what_is_hidden(report: Any) -> None:
    for session in report["sessions"]:
        mission = mission_of(session["task"])
        state = initial_state(mission)
        for number, seen in enumerate(session["seen"]):
            known = state.world.known
            shown = json.dumps(seen).casefold()
            assert (mission.code.casefold() in shown) == (known.code is not None)
            assert all((word in shown) == (word in known.keywords) for word in mission.keywords)
            assert seen["known_sector"] == known.sector
            if number < 5:
                fields = scripted(report["sessions"].index(session))[number]
                state = step(state, read_action(fields))
        assert mission.code not in json.dumps(session["state"])
        assert set(session["state"]) == {"episode_id", "step_count", "task"}


def test_resets_cycle_easy_to_hard_and_a_seed_names_a_task(report: Any) -> None:
    single = report["single"]
    assert single["cycle"] == [*(mission.key for mission in BUILTIN_MISSIONS), "train/task_easy_docklands_relay/1"]
    assert single["by_seed"][0] == single["by_seed"][1]


def test_odd_payloads_cost_a_turn_and_come_back_short(report: Any) -> None:
    for odd in report["single"]["odd"]:
        assert odd["size"] < 3_000
        assert odd["fault"]
        assert odd["reward"] == pytest.approx(-0.08)


def test_steps_after_the_end_pay_nothing(report: Any) -> None:
    assert report["single"]["end"]["turn"] == 12
    assert report["single"]["after"] == 0.0
