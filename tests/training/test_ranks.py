"""Two ranks joined by gloo: episodes of different length, and weights that are still on their way."""

import json
import socket
from pathlib import Path

import pytest

pytest.importorskip("trl")

from runs import arguments, environment, rows, run_json, start_ranks  # noqa: F401

TIMEOUT_S = 300


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_episodes_of_one_to_ten_turns_do_not_desynchronise_two_ranks(echo_model: Path, tmp_path: Path) -> None:
    argv = arguments(
        echo_model,
        tmp_path / "run",
        env__taskset__max_turns=10,
        max_steps=3,
        evaluation__num_tasks=5,
        rollout__allow_branches=True,
        renderer__name="default",
        batch__micro_batch_size=4,
    )
    for process in start_ranks(argv, 2, free_port()):
        out, _ = process.communicate(timeout=TIMEOUT_S)
        assert process.returncode == 0, out
    assert run_json(tmp_path / "run")["status"] == "finished"
    episodes = rows(tmp_path / "run", "rollouts.jsonl")
    assert len(episodes) == 3 * 16
    assert max(e["num_turns"] for e in episodes) - min(e["num_turns"] for e in episodes) >= 5
    groups = [episodes[start : start + 4] for start in range(0, len(episodes), 4)]
    assert all(len({episode["task"] for episode in group}) == 1 for group in groups)
    assert all(row["logprob_difference_max"] < 1e-4 for row in rows(tmp_path / "run", "metrics.jsonl"))
    assert len(rows(tmp_path / "run", "rollouts.jsonl", "evaluation")) == 10


def test_a_batch_that_does_not_divide_over_the_ranks_is_refused_with_the_sum(echo_model: Path, tmp_path: Path) -> None:
    argv = arguments(echo_model, tmp_path / "run", batch__micro_batch_size=3)
    for process in start_ranks(argv, 2, free_port()):
        out, _ = process.communicate(timeout=TIMEOUT_S)
        assert process.returncode != 0
        assert "4 x groups_per_step 4 = 16 episodes" in out
        assert "2 rank(s) x micro_batch_size 3 = 6" in out


SLOW_SYNC = """
import json, sys, time
import torch
from accelerate import Accelerator
from types import SimpleNamespace
from vf_grpo.rollout import RolloutFunction

# Rank 0 pushes weights for a second; whoever samples before that is done samples the old version.
accelerator = Accelerator(cpu=True)
with_barrier, version_file = sys.argv[1] == "with", sys.argv[2]
seen = []

class Player:
    def play(self, planned, seeds):
        seen.append(int(open(version_file).read()))
        raise KeyboardInterrupt

class Plan:
    curriculum = None
    def resolve(self, prompt, step):
        return prompt

barrier = accelerator.wait_for_everyone if with_barrier else lambda: None
trainer = SimpleNamespace(
    accelerator=SimpleNamespace(wait_for_everyone=barrier, process_index=accelerator.process_index),
    state=SimpleNamespace(global_step=1),
)
config = SimpleNamespace(seed=0)
accelerator.wait_for_everyone()
if accelerator.is_main_process:
    time.sleep(1.0)
    open(version_file, "w").write("1")
try:
    RolloutFunction(config, Plan(), Player(), None, None)(["train[0]"], trainer)
except KeyboardInterrupt:
    print(json.dumps({"rank": accelerator.process_index, "version": seen[0]}), flush=True)
accelerator.wait_for_everyone()
"""


@pytest.mark.parametrize(("barrier", "versions"), [("with", [1, 1]), ("without", [1, 0])])
def test_no_rank_samples_until_the_weights_have_arrived(barrier: str, versions: list[int], tmp_path: Path) -> None:
    """Rank 0 is still pushing weights when rank 1 is ready to play; only the barrier keeps rank 1 from stale ones."""
    version_file = tmp_path / "version"
    version_file.write_text("0")
    found = []
    for process in start_ranks([barrier, str(version_file)], 2, free_port(), SLOW_SYNC):
        out, _ = process.communicate(timeout=TIMEOUT_S)
        assert process.returncode == 0, out
        line = next(line for line in out.splitlines() if line.startswith("{"))
        found.append(json.loads(line)["version"])
    assert found == versions
