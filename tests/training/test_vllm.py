"""Against the real vLLM, on CPU: `make test-vllm` runs these in an environment of their own. Skipped without vLLM."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

pytest.importorskip("vllm", reason="needs vLLM: make test-vllm")

from runs import arguments, environment, rows, run_json, start

START_S = 600
RUN_S = 600
STEPS = {"max_steps": 2, "env__taskset__max_turns": 3, "evaluation__num_tasks": 2}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def vllm_environment() -> dict[str, str]:
    return environment() | {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_SERVER_DEV_MODE": "1", "VLLM_LOGGING_LEVEL": "WARNING"}


@pytest.fixture(params=[False, True], ids=["untied", "tied"])
def model(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    from tiny_models import write_echo_model

    return write_echo_model(tmp_path / "model", tie_word_embeddings=request.param)


@pytest.fixture
def server(model: Path, tmp_path: Path) -> Iterator[str]:
    """`vllm serve` as the README tells to start it, on the toy model."""
    port = free_port()
    command = [
        *(sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(model), "--port", str(port)),
        *("--enable-scale-out", "--logprobs-mode", "processed_logprobs", "--enforce-eager", "--dtype", "float32"),
        *("--max-model-len", "512", "--worker-extension-cls", "vf_grpo.vllm_extension.ReloadFromDisk"),
    ]
    log = (tmp_path / "server.log").open("w")
    process = subprocess.Popen(command, env=vllm_environment(), stdout=log, stderr=subprocess.STDOUT)
    url = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + START_S
        while not is_up(url):
            has_time = process.poll() is None and time.monotonic() < deadline
            assert has_time, (tmp_path / "server.log").read_text()[-3000:]
            time.sleep(1.0)
        yield url
    finally:
        process.terminate()
        process.wait(60)
        log.close()


def is_up(url: str) -> bool:
    try:
        return requests.get(url + "/health", timeout=2).status_code == 200
    except requests.RequestException:
        return False


def assert_synced(output_dir: Path) -> None:
    """Two steps ran and in both the sampler had the trainer's weights: stale ones would differ by far more in step 1."""
    assert run_json(output_dir)["status"] == "finished"
    steps = rows(output_dir, "metrics.jsonl")
    assert len(steps) == 2
    assert all(row["logprob_difference_max"] < 1e-4 for row in steps), steps
    assert steps[0]["grad_norm"] > 0
    assert steps[1]["sync_s"] > 0
    assert max(episode["num_turns"] for episode in rows(output_dir, "rollouts.jsonl")) == 3


def test_a_server_gets_the_weights_from_disk_exactly(server: str, model: Path, tmp_path: Path) -> None:
    flags = STEPS | {
        "engine__type": "vllm-server",
        "engine__base_url": server,
        "engine__sync": "disk",
        "engine__sync_dir": tmp_path / "sync",
        "optimizer__learning_rate": 1e-2,
    }
    process = start(arguments(model, tmp_path / "run", **flags))
    out, _ = process.communicate(timeout=RUN_S)
    assert process.returncode == 0, out
    assert_synced(tmp_path / "run")
    assert list((tmp_path / "sync").iterdir()) == [], "weight files are removed once they are read"


def test_colocated_vllm_gets_the_weights_exactly(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in vllm_environment().items():
        monkeypatch.setitem(os.environ, name, value)
    flags = STEPS | {"engine__type": "vllm-colocate", "engine__max_context": 512, "optimizer__learning_rate": 1e-2}
    process = start(arguments(model, tmp_path / "run", **flags))
    out, _ = process.communicate(timeout=RUN_S)
    assert process.returncode == 0, out
    assert_synced(tmp_path / "run")
