"""Against the real vLLM, on CPU: `make test-vllm` runs these in an environment of their own. Skipped without vLLM.

Warnings are errors here as everywhere, but not in the servers and trainers that are started: vLLM itself warns.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import requests

pytest.importorskip("vllm", reason="needs vLLM: make test-vllm")

from runs import arguments, environment, rows, run_json, start, wait_for_step

START_S = 600
RUN_S = 600
END_S = 120
"""The record says at once that a run was interrupted; the process then takes 6 CPU seconds to take vLLM and Python down."""
STEPS = {"max_steps": 2, "env__taskset__max_turns": 3, "evaluation__num_tasks": 2}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def vllm_environment() -> dict[str, str]:
    settings = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_SERVER_DEV_MODE": "1", "VLLM_LOGGING_LEVEL": "WARNING"}
    # Compiling the toy model takes as long as all the rest of a run.
    return environment() | settings | {"TORCH_COMPILE_DISABLE": "1"}


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


@pytest.fixture
def colocate(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """Settings of the engine in the trainer's process, which reads vLLM's own from its environment."""
    for name, value in vllm_environment().items():
        monkeypatch.setitem(os.environ, name, value)
    return {"engine__type": "vllm-colocate", "engine__max_context": 512}


def test_colocated_vllm_gets_the_weights_exactly(model: Path, tmp_path: Path, colocate: dict[str, object]) -> None:
    flags = STEPS | colocate | {"optimizer__learning_rate": 1e-2}
    process = start(arguments(model, tmp_path / "run", **flags))
    out, _ = process.communicate(timeout=RUN_S)
    assert process.returncode == 0, out
    assert_synced(tmp_path / "run")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_colocated_run_in_the_middle_of_its_samples(
    number: signal.Signals, echo_model: Path, tmp_path: Path, colocate: dict[str, object]
) -> None:
    flags = colocate | {"max_steps": 10_000, "sampling__max_tokens": 100, "env__taskset__max_turns": 3}
    flags |= {"batch__group_size": 8, "batch__groups_per_step": 8}
    process = start(arguments(echo_model, tmp_path / "run", **flags))
    wait_for_step(tmp_path / "run", 1, RUN_S)
    process.send_signal(number)
    out, _ = process.communicate(timeout=END_S)
    assert process.returncode == 130, out
    assert "go on with --resume" in out
    assert "Task was destroyed" not in out
    assert run_json(tmp_path / "run")["status"] == "interrupted"


def test_colocated_vllm_drops_the_requests_of_episodes_that_ran_out_of_time(
    echo_model: Path, tmp_path: Path, colocate: dict[str, object]
) -> None:
    flags = colocate | {"rollout__episode_timeout_s": 1.0, "rollout__max_failed_fraction": 1.0, "max_steps": 2}
    flags |= {"sampling__max_tokens": 500}
    process = start(arguments(never_ending(echo_model, tmp_path / "model"), tmp_path / "run", **flags))
    out, _ = process.communicate(timeout=RUN_S)
    assert process.returncode == 0, out
    episodes = rows(tmp_path / "run", "rollouts.jsonl")
    assert all("ran longer than 1 s" in str(episode["error"]) for episode in episodes)


def never_ending(model: Path, folder: Path) -> Path:
    """A copy of `model` that hardly ever says its end token, so that replies take seconds."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    weights, tokenizer = AutoModelForCausalLM.from_pretrained(model), AutoTokenizer.from_pretrained(model)
    head = weights.lm_head.weight.data
    head *= 100
    head[tokenizer.eos_token_id] = 0
    weights.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.mark.filterwarnings("ignore:`torch.jit.script_method` is deprecated:DeprecationWarning")  # torch's own
@pytest.mark.parametrize(("mixed", "expected"), [("no", "float32"), ("bf16", "bfloat16"), ("fp16", "float16")])
def test_vllm_computes_in_what_the_trainer_computes_in(mixed: str, expected: str) -> None:
    import torch

    from vf_grpo.engines.vllm_colocate import compute_dtype

    accelerator, model = SimpleNamespace(mixed_precision=mixed), SimpleNamespace(dtype=torch.float32)
    trainer = SimpleNamespace(accelerator=accelerator, model=model)
    assert compute_dtype(trainer) == getattr(torch, expected)
