"""Training on what verifiers itself ships: its `nemo-gym` and `openenv` tasksets, whose servers run beside the test.

Both play through the toy harness: verifiers' own ones install their programs from the network.
"""

import json
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

pytest.importorskip("trl")

from runs import recipe_arguments, rows, run_json, start

from vf_grpo.train import parse

ROOT = Path(__file__).resolve().parents[2]
OPENENV_PYTHON = ROOT / ".venvs" / "openenv" / "bin" / "python"
RUN_S = 300


class Resources(BaseHTTPRequestHandler):
    """A NeMo Gym resource server: 1 for a reply that begins with the digit asked for."""

    def do_POST(self) -> None:  # the name that http.server calls
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = {} if self.path == "/seed_session" else self.verify(body)
        payload = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def verify(self, body: dict) -> dict:
        messages = [item for item in body["response"]["output"] if item["type"] == "message"]
        reply = "".join(part["text"] for message in messages for part in message["content"])
        echoed = {name: body[name] for name in ("responses_create_params", "response")}
        return {**echoed, "reward": float(reply.startswith(body["digit"])), "num_characters": len(reply)}

    def log_message(self, *_: object) -> None:
        """Say nothing on stderr."""


class ResourceServer(ThreadingHTTPServer):
    request_queue_size = 128
    """All episodes of a step knock at once; the default of 5 turns some away."""


@pytest.fixture
def resources_url() -> Iterator[str]:
    with ResourceServer(("127.0.0.1", 0), Resources) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def openenv_url(tmp_path: Path) -> Iterator[str]:
    """Our own OpenEnv server, in the environment that `make setup` keeps for it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(OPENENV_PYTHON), "-m", "neon_syndicate.openenv_server", "--port", str(port)]
    log = tmp_path / "server.log"
    with log.open("w") as sink, subprocess.Popen(command, stdout=sink, stderr=sink) as server:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert server.poll() is None, log.read_text()
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
        server.terminate()


def finished(argv: list[str], output_dir: Path) -> None:
    process = start(argv)
    out, _ = process.communicate(timeout=RUN_S)
    assert process.returncode == 0, out
    assert run_json(output_dir)["status"] == "finished"
    steps = rows(output_dir, "metrics.jsonl")
    assert [row["step"] for row in steps] == [0, 1]
    assert [row["failed_fraction"] for row in steps] == [0, 0], rows(output_dir, "rollouts.jsonl")
    assert all(row["logprob_difference_max"] < 1e-4 for row in steps)


def test_a_run_on_the_nemo_gym_taskset(resources_url: str, echo_model: Path, tmp_path: Path) -> None:
    tasks = [
        {"responses_create_params": {"input": [{"role": "user", "content": f"say {digit}"}]}, "digit": str(digit)}
        for digit in range(8)
    ]
    (tmp_path / "tasks.jsonl").write_text("\n".join(map(json.dumps, tasks)))
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(f"""
        [env.taskset]
        id = "nemo-gym"
        dataset = "{tmp_path}/tasks.jsonl"
        task.resources_url = "{resources_url}"
        [env.agent]
        harness.id = "toy-echo"
        runtime.type = "subprocess"
    """)
    finished(recipe_arguments(recipe, echo_model, tmp_path / "run", max_steps=2, num_tasks=8), tmp_path / "run")
    episodes = rows(tmp_path / "run", "rollouts.jsonl")
    assert {episode["reward"] for episode in episodes} == {0.0, 1.0}
    assert all(episode["rewards"] == {"nemo_gym": episode["reward"]} for episode in episodes)
    assert all(episode["metrics"]["num_characters"] == len(episode["replies"][0]) for episode in episodes)


@pytest.mark.skipif(not OPENENV_PYTHON.exists(), reason="openenv is not installed: run `make setup`")
def test_a_run_against_our_own_openenv_server(openenv_url: str, echo_model: Path, tmp_path: Path) -> None:
    pytest.importorskip("openenv", reason="needs pip install 'verifiers[openenv]'")
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(f"""
        [env.taskset]
        id = "openenv"
        base_url = "{openenv_url}"
        resets = [{{seed = 0}}, {{seed = 1}}]
        [env.player]
        harness.id = "toy-echo"
        runtime.type = "subprocess"
        max_turns = 2
    """)
    # The prompts are long for a model that reads characters: JSON with the rules of the game in it.
    flags = {"max_steps": 2, "num_tasks": 2, "batch__groups_per_step": 2, "batch__group_size": 2}
    flags |= {"engine__max_context": 16384, "rollout__max_row_tokens": 16384}
    finished(recipe_arguments(recipe, echo_model, tmp_path / "run", **flags), tmp_path / "run")
    for episode in rows(tmp_path / "run", "rollouts.jsonl"):
        # Digits and blanks are no action: the rules of the game take 0.08 and a turn; an empty reply ends the episode.
        num_played = sum(bool(reply.strip()) for reply in episode["replies"])
        assert episode["rewards"] == {"openenv_reward": pytest.approx(-0.08 * num_played)}


def test_the_recipe_of_the_readme_is_one(tmp_path: Path) -> None:
    (block,) = re.findall(r"```toml\n(.*?)```", (ROOT / "training" / "README.md").read_text(), re.DOTALL)
    (tmp_path / "recipe.toml").write_text(block)
    config = parse(["@", str(tmp_path / "recipe.toml")])
    assert len(config.env.taskset.resets) == config.num_tasks
    assert config.env.player.harness.id == "neon-syndicate"
