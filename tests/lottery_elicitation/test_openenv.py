"""The OpenEnv server under OpenEnv's own client, both in an environment of their own (`.venvs/openenv`)."""

import json
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".venvs" / "openenv" / "bin" / "python"
CLIENT = Path(__file__).parent / "openenv_client.py"
STARTUP_TIMEOUT_S = 90.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_healthy(url: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + STARTUP_TIMEOUT_S
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=5):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.2)
    raise AssertionError(f"the server is not healthy (exit status {server.poll()})")


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if not PYTHON.exists():
        pytest.skip("openenv is not installed: run `make setup`")
    port = free_port()
    log = tmp_path_factory.mktemp("openenv") / "server.log"
    command = [str(PYTHON), "-m", "lottery_elicitation.openenv_server", "--port", str(port)]
    with log.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=output) as server:
        try:
            wait_until_healthy(f"http://127.0.0.1:{port}", server)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


def client(url: str, *command: str) -> dict[str, Any]:
    done = subprocess.run(
        [str(PYTHON), str(CLIENT), url, *command], capture_output=True, text=True, timeout=240, cwd=CLIENT.parent
    )
    assert done.returncode == 0, done.stderr[-3000:]
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def test_openenvs_client_plays_a_full_episode(url: str) -> None:
    assert client(url, "play")["reward"] > 0.74


def test_malformed_and_oversize_messages_are_answered(url: str) -> None:
    assert client(url, "abuse")["answered"] == 18


def test_64_concurrent_sessions_play_what_the_core_plays(url: str) -> None:
    assert client(url, "load", "64")["episodes"] == 192


def test_http_bodies_without_a_sane_length_are_refused(url: str) -> None:
    request = urllib.request.Request(f"{url}/reset", data=b"x" * 300_000, headers={"content-type": "application/json"})
    with pytest.raises(urllib.error.HTTPError) as refusal:
        urllib.request.urlopen(request, timeout=10)
    with refusal.value:
        assert refusal.value.code == 413


def test_a_reset_over_http_shows_nothing_hidden(url: str) -> None:
    body = json.dumps({"seed": 3, "curriculum_stage": 1}).encode()
    request = urllib.request.Request(f"{url}/reset", data=body, headers={"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as response:
        answer = json.load(response)
    assert answer["observation"]["view"]["episode"] == "train/stage1/seed3/0"
    assert answer["observation"]["result"] is None
    assert "2.25" not in json.dumps(answer)
