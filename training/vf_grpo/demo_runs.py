"""The training runs of `vf-grpo demo`: each a `vf-grpo train` process on one core, several at once."""

import os
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def train_command(recipe: Path, flags: Mapping[str, object]) -> list[str]:
    """`vf-grpo train` on a recipe with some flags changed."""
    changed = [str(part) for flag in flags.items() for part in flag]
    return [sys.executable, "-m", "vf_grpo", "train", "@", str(recipe), *changed]


def train_all(commands: Mapping[str, list[str]], processes: int) -> list[str]:
    """Run the commands, by name, `processes` at once; returns what went wrong in those that failed."""
    with ThreadPoolExecutor(processes) as pool:
        return [failure for failure in pool.map(_failure, commands, commands.values()) if failure]


def _failure(name: str, command: list[str]) -> str | None:
    environment = os.environ | {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1"}
    result = subprocess.run(  # noqa: S603
        command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    return None if result.returncode == 0 else f"{name}: exit code {result.returncode}\n{result.stdout[-2000:]}"
