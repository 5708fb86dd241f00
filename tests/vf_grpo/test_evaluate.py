"""`vf-grpo evaluate`, run as a user runs it, and its statistics."""

import json
import subprocess
import sys

import pytest

from vf_grpo.cli import COMMANDS, main, usage


def vf_grpo(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "vf_grpo", *arguments], capture_output=True, text=True, timeout=120)


def test_policies_are_compared_as_one_json_object() -> None:
    options = (
        "--policies",
        "oracle,constant_tag,noisy",
        "-n",
        "30",
        "-r",
        "2",
        "--env.taskset.reward",
        "format",
        "--json",
    )
    done = vf_grpo("evaluate", "assay-add3digit", *options)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["environment"] == "assay-add3digit"
    assert result["args"] == {"reward": "format"}
    assert result["n"] == 30
    assert list(result["policies"]) == ["oracle", "constant_tag", "noisy"]
    constant = result["policies"]["constant_tag"]
    assert (constant["reward"], constant["reward_se"], constant["metrics"]["r_binary"]) == (1.0, 0.0, 0.0)
    noisy = result["policies"]["noisy"]
    assert 0 < noisy["reward"] < 1
    assert 0 < noisy["reward_se"] < 0.1
    assert noisy["num_episodes"] == 60
    assert list(noisy["pass_at_k"]) == ["1", "2"]
    assert noisy["pass_at_k"]["1"] == pytest.approx(noisy["metrics"]["r_binary"])
    assert noisy["pass_at_k"]["1"] < noisy["pass_at_k"]["2"]


def test_the_same_seed_gives_the_same_result() -> None:
    options = ("--policies", "noisy", "-n", "10", "-r", "3", "--json")
    runs = [vf_grpo("evaluate", "assay-add3digit", *options, "--seed", seed).stdout for seed in ("1", "1", "2")]
    assert runs[0] == runs[1] != runs[2]


def test_a_model_at_an_endpoint_is_compared_beside_the_policies(policy_server_url: str) -> None:
    model = "assay-add3digit/tag_wrong"
    options = ("--policies", "oracle", "--model", f"{model},assay-add3digit/noisy@{policy_server_url}")
    options += ("--client.base-url", policy_server_url)
    done = vf_grpo("evaluate", "assay-add3digit", *options, "-n", "5", "--json")
    assert done.returncode == 0, done.stderr
    rewards = {name: row["reward"] for name, row in json.loads(done.stdout)["policies"].items()}
    assert list(rewards) == ["oracle", model, "assay-add3digit/noisy"]
    assert (rewards["oracle"], rewards[model]) == (1.0, 0.0)


def test_failed_episodes_are_counted_and_never_scored_zero() -> None:
    options = ("--model", "m", "--client.base-url", "http://127.0.0.1:9/v1")
    options += ("--env.agent.harness.id", "assay-add3digit", "--env.agent.harness.max-attempts", "1")
    done = vf_grpo("evaluate", "assay-add3digit", *options, "-n", "2", "--json")
    assert done.returncode == 1
    row = json.loads(done.stdout)["policies"]["m"]
    assert row["num_errors"] == row["num_episodes"] == 2
    assert row["reward"] is None
    assert "2 of 2 episodes failed" in done.stderr


def test_the_table_names_every_policy_and_metric() -> None:
    done = vf_grpo("evaluate", "assay-add3digit", "-n", "3")
    assert done.returncode == 0, done.stderr
    for name in ("oracle", "constant_tag", "shortlist", "r_binary", "r_format", "r_tiebreak", "gap", "parse_failure"):
        assert name in done.stdout


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("assay-add3digit", "--policies", "oracle,clairvoyant"), "clairvoyant"),
        (("assay-add3digit", "--env.taskset.reward", "best"), "binary"),
        (("assay-add3digit", "--env.taskset.rewards", "binary"), "rewards"),
        (("assay-add3digit", "-n", "0"), "n"),
        (("assay-add3digit", "--policies", "oracle,"), "''"),
        (("assay-add3digit", "--env.taskset.n-train", "100.0"), "100.0"),
        (("no-such-env",), "no-such-env"),
        ((), "usage"),
    ],
)
def test_what_is_wrong_is_named_without_a_traceback(arguments: tuple[str, ...], named: str) -> None:
    done = vf_grpo("evaluate", *arguments)
    assert done.returncode != 0
    assert named in done.stderr
    assert "Traceback" not in done.stderr


def test_every_command_is_listed_and_unknown_ones_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert all(command in usage() for command in COMMANDS)
    assert main(["no-such-command"]) == 2
    assert "no-such-command" in capsys.readouterr().err
