"""Runs that end badly: killed, interrupted; and how they go on."""

import signal
from pathlib import Path

import pytest

pytest.importorskip("trl")

from runs import START_S, arguments, launch, rows, run_json, start, wait_for_step

LOST_SIGNAL = """
import gc, os, signal, sys, threading
from pathlib import Path
from vf_grpo.train import main

def interrupt(phase, info):
    if threading.current_thread() is threading.main_thread() and Path(sys.argv[1]).exists():
        gc.callbacks.remove(interrupt)
        os.kill(os.getpid(), signal.SIGINT)
        sum(range(3))

gc.callbacks.append(interrupt)
sys.exit(main(sys.argv[2:]))
"""
"""Is interrupted within a callback of the garbage collector, whose exceptions Python drops."""


def played(output_dir: Path) -> list[tuple[int, str, tuple[str, ...]]]:
    return [(e["step"], e["task"], tuple(e["replies"])) for e in rows(output_dir, "rollouts.jsonl")]


def test_a_run_killed_and_resumed_plays_the_same_episodes_as_one_that_ran_through(
    echo_model: Path, tmp_path: Path
) -> None:
    flags = {"checkpoint__every": 2, "max_steps": 6, "env__taskset__max_turns": 2}
    through = start(arguments(echo_model, tmp_path / "through", **flags))
    killed = start(arguments(echo_model, tmp_path / "killed", **flags, env__taskset__slow_s=0.3))
    wait_for_step(tmp_path / "killed", 3)
    killed.kill()
    killed.communicate(timeout=START_S)
    assert len(rows(tmp_path / "killed", "metrics.jsonl")) >= 4, "what was finished is on disk"
    assert run_json(tmp_path / "killed")["status"] == "running"
    resumed = start([*arguments(echo_model, tmp_path / "killed", **flags), "--resume"])
    out, _ = resumed.communicate(timeout=START_S)
    assert resumed.returncode == 0, out
    out, _ = through.communicate(timeout=START_S)
    assert through.returncode == 0, out
    assert run_json(tmp_path / "killed")["resumed_at"] in (2, 4)
    assert [row["step"] for row in rows(tmp_path / "killed", "metrics.jsonl")] == list(range(6))
    assert played(tmp_path / "killed") == played(tmp_path / "through")


def test_ctrl_c_ends_a_run_cleanly_and_keeps_its_steps(echo_model: Path, tmp_path: Path) -> None:
    process = start(arguments(echo_model, tmp_path / "run", max_steps=500, env__taskset__slow_s=0.1))
    wait_for_step(tmp_path / "run", 1)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130, out
    assert "go on with --resume" in out
    assert run_json(tmp_path / "run")["status"] == "interrupted"
    assert len(rows(tmp_path / "run", "metrics.jsonl")) >= 2


def test_an_interrupt_that_python_drops_ends_the_run_at_the_next_step(echo_model: Path, tmp_path: Path) -> None:
    argv = arguments(echo_model, tmp_path / "run", max_steps=500, env__taskset__slow_s=0.1)
    process = launch(LOST_SIGNAL, [str(tmp_path / "now"), *argv])
    wait_for_step(tmp_path / "run", 0)
    (tmp_path / "now").touch()
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130, out
    assert "Exception ignored in" in out
    assert run_json(tmp_path / "run")["status"] == "interrupted"
