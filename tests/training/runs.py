"""Running `vf-grpo train` in tests: in this process, or as a program that can be killed."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
LAUNCH = "import sys; from vf_grpo.train import main; sys.exit(main(sys.argv[1:]))"


START_S = 180

SMALL: dict[str, object] = {
    "max_steps": 3,
    "num_tasks": 32,
    "sampling__max_tokens": 4,
    "batch__group_size": 4,
    "batch__groups_per_step": 4,
    "optimizer__learning_rate": 1e-3,
    "telemetry__progress": False,
    "telemetry__logprob_check_every": 1,
}
OF_TOY_ECHO: dict[str, object] = {"telemetry__true_metric": "right", "telemetry__malformed_metric": "malformed"}


def arguments(model: Path, output_dir: Path, **flags: object) -> list[str]:
    """A small run on the toy environment; `flags` are configuration paths with `__` for the dots."""
    settings = {"model": model, "output_dir": output_dir, **SMALL, **OF_TOY_ECHO, **flags}
    return ["toy-echo", *_flags(settings)]


def recipe_arguments(recipe: Path, model: Path, output_dir: Path, **flags: object) -> list[str]:
    """A small run on the environment that the TOML file `recipe` names."""
    return ["@", str(recipe), *_flags({"model": model, "output_dir": output_dir, **SMALL, **flags})]


def environment() -> dict[str, str]:
    """Process environment in which the toy environment is importable and nothing reaches the network."""
    paths = [str(HERE / "environments"), *sys.path]
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
        "TRL_EXPERIMENTAL_SILENCE": "1",
    }


def start(argv: list[str]) -> "subprocess.Popen[str]":
    return launch(LAUNCH, argv)


def launch(program: str, argv: list[str]) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", program, *argv]
    return subprocess.Popen(command, env=environment(), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def start_ranks(argv: list[str], num_ranks: int, port: int, launch: str = LAUNCH) -> "list[subprocess.Popen[str]]":
    """One process per rank, joined by gloo."""
    processes = []
    for rank in range(num_ranks):
        ranks = {
            "RANK": rank,
            "LOCAL_RANK": rank,
            "WORLD_SIZE": num_ranks,
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": port,
        }
        env = environment() | {name: str(value) for name, value in ranks.items()} | {"ACCELERATE_USE_CPU": "true"}
        command = [sys.executable, "-c", launch, *argv]
        processes.append(
            subprocess.Popen(command, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        )
    return processes


def wait_for_step(output_dir: Path, step: int, timeout_s: float = START_S) -> None:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if (output_dir / "metrics.jsonl").exists() and any(
            f'"step": {step},' in line for line in (output_dir / "metrics.jsonl").read_text().splitlines()
        ):
            return
        time.sleep(0.2)
    raise AssertionError(f"step {step} did not come within {timeout_s} s")


def rows(output_dir: Path, name: str, phase: str = "train") -> list[dict[str, Any]]:
    lines = (output_dir / name).read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["phase"] == phase]


def run_json(output_dir: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((output_dir / "run.json").read_text(encoding="utf-8"))
    return found


def _flags(settings: dict[str, object]) -> list[str]:
    return [
        part
        for name, value in settings.items()
        for part in ("--" + name.replace("__", ".").replace("_", "-"), str(value))
    ]
