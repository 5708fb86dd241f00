"""verifiers' own commands, run as a user runs them, against the policy server."""

import asyncio
import json
import os
import subprocess
import sys
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
import verifiers.v1 as vf
from verifiers.v1.serve import EnvClient, env_config_data, serve_env

from .conftest import ROOT, Environment

BIN = Path(sys.executable).parent
V0_BIN = ROOT / ".venvs" / "v0" / "bin"


def run(command: list[str | Path], cwd: Path, **environ: str) -> str:
    """Run a command to its end; returns its output, fails with it otherwise."""
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env={**os.environ, "POLICY_KEY": "none", **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def first_policy(environment: Environment) -> str:
    """The policy of known full marks, or the first one."""
    from vf_grpo.policies import policies_of

    names = list(policies_of(environment.id))
    return f"{environment.id}/{'oracle' if 'oracle' in names else names[0]}"


def eval_command(environment: Environment, url: str, *options: str) -> list[str | Path]:
    client = ["--client.base-url", url, "--client.api-key-var", "POLICY_KEY"]
    return [BIN / "vf-eval", environment.id, "-m", first_policy(environment), *client, "--no-push", *options]


def episodes(run_folder: Path) -> list[vf.WireEpisode]:
    lines = (run_folder / "traces.jsonl").read_text().splitlines()
    return [vf.WireEpisode.model_validate_json(line) for line in lines]


def scores(run_folder: Path) -> list[tuple[Any, ...]]:
    """What each episode earned, in an order that does not depend on which finished first."""
    found = []
    for episode in episodes(run_folder):
        (trace,) = episode.traces
        rewards = {name: reward.score for name, reward in trace.rewards.items() if reward is not None}
        found.append((episode.task.key, json.dumps(rewards), json.dumps(trace.metrics)))
    return sorted(found)


def test_eval_replay_and_resume_agree(environment: Environment, policy_server_url: str, tmp_path: Path) -> None:
    reward = environment.rewards[-1]
    options = ("--env.taskset.reward", reward, "-n", "3", "-r", "2", "-o", str(tmp_path), "--run.name", "run")
    run(eval_command(environment, policy_server_url, *options), tmp_path)
    played = episodes(tmp_path / "run")
    assert len(played) == 6
    assert all(episode.ok for episode in played), [episode.errors for episode in played]
    for episode in played:
        (trace,) = episode.traces
        assert list(trace.rewards) == [reward]
        assert trace.info["grader_fingerprint"] == environment.package.grader_fingerprint()
    full = scores(tmp_path / "run")

    # verifiers 0.4.0 cannot read its own `rich` table back from the run's config, so the flag is needed.
    run([BIN / "vf-replay", tmp_path / "run", "-o", tmp_path / "replayed", "--no-rich"], tmp_path)
    assert scores(tmp_path / "replayed") == full

    traces = tmp_path / "run" / "traces.jsonl"
    traces.write_text("".join(traces.read_text().splitlines(keepends=True)[:4]))
    run([BIN / "vf-eval", "@", tmp_path / "run" / "configs" / "resolved" / "eval.json", "--resume"], tmp_path)
    assert scores(tmp_path / "run") == full


def test_a_dry_run_writes_the_configuration_and_plays_nothing(environment: Environment, tmp_path: Path) -> None:
    command = eval_command(environment, "http://127.0.0.1:9/v1", "--dry-run", "-o", str(tmp_path), "--run.name", "dry")
    run([*command, "--env.taskset.seed", "5"], tmp_path)
    written = json.loads((tmp_path / "dry" / "configs" / "resolved" / "eval.json").read_text())
    assert written["env"]["taskset"]["seed"] == 5
    assert not (tmp_path / "dry" / "traces.jsonl").exists()


def test_validate_finds_every_task_sound(environment: Environment, tmp_path: Path) -> None:
    command = [BIN / "vf-validate", environment.id, "-n", "20", "--runtime.type", "subprocess", "--no-rich"]
    output = run(command, tmp_path)
    assert '"valid": 20' in output


def test_gepa_optimises_the_system_prompt(environment: Environment, policy_server_url: str, tmp_path: Path) -> None:
    """A policy as both player and teacher: what counts is that rollouts are played, scored and recorded."""
    (task,) = vf.load_environment(vf.resolve_env_config({"taskset": {"id": environment.id}})).taskset.take(1)
    seed_prompt = () if task.data.system_prompt else ("--initial-prompt", "Be exact.")
    budget = ("--num-train", "2", "--num-val", "2", "--max-total-rollouts", "8", "--reflection-minibatch-size", "2")
    client = ("--client.base-url", policy_server_url, "--client.api-key-var", "POLICY_KEY")
    command = [BIN / "vf-gepa", environment.id, "-m", first_policy(environment), "-o", tmp_path, "--run.name", "gepa"]
    run([*command, "-n", "4", *budget, *client, *seed_prompt], tmp_path)
    played = episodes(tmp_path / "gepa")
    assert played
    assert all(episode.ok for episode in played), [episode.errors for episode in played]


def test_an_unknown_argument_is_refused_before_any_model_call(environment: Environment, tmp_path: Path) -> None:
    command = eval_command(environment, "http://127.0.0.1:9/v1", "--env.taskset.rewards", "x", "-o", str(tmp_path))
    done = subprocess.run(list(map(str, command)), cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode != 0
    assert "rewards" in done.stdout + done.stderr
    assert not list(tmp_path.rglob("traces.jsonl"))


def test_an_environment_server_plays_the_same_episode(environment: Environment, policy_server_url: str) -> None:
    """A round trip over verifiers' env server: config and task travel as data, the graded episode comes back."""
    reward = environment.rewards[-1]
    config = vf.resolve_env_config({"taskset": {"id": environment.id, "reward": reward}})
    task = next(iter(vf.load_environment(config).taskset.take(1)))
    processes = get_context("spawn")
    addresses = processes.Queue()
    options = {"max_workers": 1, "address": "tcp://127.0.0.1:0", "address_queue": addresses}
    server = processes.Process(target=serve_env, kwargs={**options, "config_data": env_config_data(config)})
    server.start()
    try:

        async def round_trip() -> vf.WireEpisode:
            client = EnvClient(addresses.get(timeout=60))
            await client.wait_for_server_startup(60)
            try:
                endpoint = vf.EvalClientConfig(base_url=policy_server_url, api_key_var="POLICY_KEY")
                data = task.data.model_dump(mode="json")
                return await client.run(endpoint, first_policy(environment), vf.SamplingConfig(), data)
            finally:
                await client.close()

        episode = asyncio.run(round_trip())
    finally:
        server.terminate()
        server.join()
    assert episode.ok, episode.errors
    (trace,) = episode.traces
    assert list(trace.rewards) == [reward]


def test_the_v0_command_scores_the_same(environment: Environment, policy_server_url: str, tmp_path: Path) -> None:
    """verifiers 0.3.1, where `load_environment` is a v0 environment: same policies, same mean rewards and metrics."""
    if not V0_BIN.exists():
        pytest.skip("verifiers 0.3.1 is not installed: run `make setup`")
    reward = environment.rewards[-1]
    arguments = json.dumps({"reward": reward})
    client = ["-m", first_policy(environment), "-b", policy_server_url, "-k", "POLICY_KEY"]
    run(
        [V0_BIN / "vf-eval", environment.id, "-a", arguments, "-n", "4", "-r", "2", *client, "--disable-tui", "-s"],
        tmp_path,
    )
    (results,) = tmp_path.rglob("results.jsonl")
    rows = [json.loads(line) for line in results.read_text().splitlines()]
    assert len(rows) == 8

    options = (
        "--env.taskset.reward",
        reward,
        "--env.taskset.split",
        "eval",
        "-n",
        "4",
        "-r",
        "2",
        "-o",
        str(tmp_path),
        "--run.name",
        "v1",
    )
    run(eval_command(environment, policy_server_url, *options), tmp_path)
    traces = [episode.traces[0] for episode in episodes(tmp_path / "v1")]
    assert sorted(row["reward"] for row in rows) == pytest.approx(sorted(trace.reward for trace in traces))
    for name in traces[0].metrics:
        assert sorted(row[name] for row in rows) == pytest.approx(sorted(trace.metrics[name] for trace in traces)), name


def test_the_v0_loader_refuses_unknown_arguments(environment: Environment, tmp_path: Path) -> None:
    if not V0_BIN.exists():
        pytest.skip("verifiers 0.3.1 is not installed: run `make setup`")
    code = f"import verifiers as vf; vf.load_environment({environment.id!r}, no_such_argument=1)"
    done = subprocess.run([str(V0_BIN / "python"), "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode != 0
    assert "no_such_argument" in done.stderr
