"""What a package's README states is what its code does."""

import asyncio
import json
import re
import tomllib
from importlib import import_module
from typing import Any

import pytest
import verifiers.v1 as vf

from vf_grpo.policies import policies_of
from vf_grpo.policy_server import PolicyServer, serving

from .conftest import Environment

SECTIONS = (
    "Overview",
    "Example",
    "Task",
    "Reward",
    "Metrics",
    "Environment arguments",
    "Quickstart",
    "Baselines",
    "Validation",
    "Version",
    "Changelog",
)


def section(environment: Environment, title: str) -> str:
    text = (environment.folder / "README.md").read_text()
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"the README of {environment.id} has no section {title}"
    return found[1]


def table_rows(text: str) -> list[list[str]]:
    """The cells of every table row but the headings."""
    rows = [line.strip("| ").split("|") for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows if "`" in row[0]]


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_the_sections_stand_in_order(environment: Environment) -> None:
    headings = re.findall(r"^## (.+)$", (environment.folder / "README.md").read_text(), re.MULTILINE)
    assert [heading for heading in headings if heading in SECTIONS] == list(SECTIONS)


def test_the_argument_table_is_the_code(environment: Environment) -> None:
    stated = {names(row[0])[0]: row[1] for row in table_rows(section(environment, "Environment arguments"))}
    fields = environment.arguments.model_fields
    assert list(stated) == list(fields)
    for name, default in stated.items():
        if names(default):
            assert json.loads(names(default)[0]) == json.loads(json.dumps(fields[name].default)), name


def test_the_reward_table_is_the_code(environment: Environment) -> None:
    stated = [names(row[0])[0] for row in table_rows(section(environment, "Reward"))]
    assert [name for name in stated if name in environment.rewards] == list(dict.fromkeys(stated))
    assert set(stated) == set(environment.rewards)
    default = environment.arguments.model_fields["reward"].default
    assert f"`{default}` (default)" in section(environment, "Reward")


def play_once(environment: Environment) -> vf.Trace[Any, Any, Any]:
    policies = {f"{environment.id}/{name}": policy for name, policy in policies_of(environment.id).items()}

    async def play() -> vf.Episode:
        env = vf.load_environment(vf.resolve_env_config({"taskset": {"id": environment.id}}))
        async with serving(PolicyServer(policies)) as url, env.serving():
            client = vf.EvalClientConfig(base_url=url, api_key_var="NO_KEY")
            context = vf.ModelContext(model=next(iter(policies)), client=client, sampling=vf.SamplingConfig())
            (task,) = env.taskset.take(1)
            return await env.run_slot(env.slots(task)[0], context)

    episode = asyncio.run(play())
    assert episode.ok, episode.errors
    return episode.traces[0]


def test_the_metric_table_is_what_a_trace_records(environment: Environment) -> None:
    stated = [name for row in table_rows(section(environment, "Metrics")) for name in names(row[0])]
    assert len(set(stated)) == len(stated)
    assert set(stated) == set(play_once(environment).metrics)


def test_the_version_and_fingerprint_are_the_current_ones(environment: Environment) -> None:
    fingerprint = environment.package.grader_fingerprint()
    stated = section(environment, "Version")
    assert stated.strip().startswith(fingerprint["version"])
    assert names(stated)[0] == fingerprint["source_sha256"]
    assert f"- {fingerprint['version']}:" in section(environment, "Changelog")


def test_the_overview_is_what_the_hub_reads(environment: Environment) -> None:
    metadata = tomllib.loads((environment.folder / "pyproject.toml").read_text())["project"]
    overview = section(environment, "Overview")
    assert f"`{environment.id}`" in overview
    stated = re.search(r"\*\*Tags\*\*: (.+)", overview)
    assert stated
    assert set(stated[1].split(", ")) <= set(metadata["tags"])


def test_the_prime_rl_block_has_the_shape_it_reads(environment: Environment) -> None:
    blocks = re.findall(r"```toml\n(.*?)```", section(environment, "Quickstart"), re.DOTALL)
    (config,) = [block for block in map(tomllib.loads, blocks) if "orchestrator" in block]
    orchestrator = config["orchestrator"]
    assert orchestrator["renderer"]["name"]
    for stage in ("train", "eval"):
        for source in orchestrator[stage]["source"]:
            assert source["env"]["taskset"]["id"] == environment.id
            vf.resolve_env_config(source["env"])


def test_the_commands_name_this_environment_and_real_arguments(environment: Environment) -> None:
    quickstart = section(environment, "Quickstart")
    for command in ("vf-eval", "prime eval run"):
        assert f"{command} {environment.id}" in quickstart
    for name in re.findall(r"--env\.taskset\.([\w-]+)", quickstart):
        assert name.replace("-", "_") in environment.arguments.model_fields
    for arguments in re.findall(r"-a '(\{.*?\})'", quickstart):
        environment.arguments.model_validate(json.loads(arguments))


def test_the_baseline_table_names_real_policies(environment: Environment) -> None:
    policies = import_module(f"{environment.package_name}.policies").POLICIES
    stated = {names(row[0])[0] for row in table_rows(section(environment, "Baselines"))}
    assert stated
    assert stated <= set(policies), stated - set(policies)


@pytest.mark.parametrize("word", ["TODO", "TBD", "FIXME"])
def test_nothing_is_left_open(environment: Environment, word: str) -> None:
    assert word not in (environment.folder / "README.md").read_text()
