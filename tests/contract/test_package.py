"""What verifiers' loaders, hubs and users rely on in each package."""

import inspect
import json
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points, version
from typing import Any

import pytest
import verifiers.v1 as vf
from pydantic import ValidationError
from pydantic_core import PydanticUndefined

from .conftest import ROOT, Environment


def test_exactly_one_taskset_env_and_harness_are_exported(environment: Environment) -> None:
    exported = [getattr(environment.package, name) for name in environment.package.__all__]
    assert sorted(
        base.__name__ for cls in exported for base in (vf.Taskset, vf.Env, vf.Harness) if issubclass(cls, base)
    ) == [
        "Env",
        "Harness",
        "Taskset",
    ]
    assert "load_environment" not in environment.package.__all__
    assert issubclass(vf.environment_class(environment.id), vf.SingleAgentEnv)
    assert vf.environment_class(environment.id) is not vf.SingleAgentEnv


def test_every_export_resolves_and_unknown_names_do_not(environment: Environment) -> None:
    for name in environment.package._EXPORTS:
        assert getattr(environment.package, name) is not None
        assert name in dir(environment.package)
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = environment.package.no_such_name


def run_python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def test_importing_the_package_imports_no_framework(environment: Environment) -> None:
    code = f"import sys, {environment.package_name}; print([m for m in ('verifiers', 'numpy', 'pydantic', 'torch') if m in sys.modules])"
    assert run_python(code).strip() == "[]"


def test_the_v1_path_imports_no_training_library(environment: Environment) -> None:
    code = (
        "import sys, verifiers.v1 as vf\n"
        f"env = vf.load_environment(vf.resolve_env_config({{'taskset': {{'id': {environment.id!r}}}}}))\n"
        "next(iter(env.taskset.take(1)))\n"
        "print([m for m in ('torch', 'trl', 'vllm', 'datasets', 'openenv') if m in sys.modules])"
    )
    assert run_python(code).strip() == "[]"


def test_the_framework_defaults_are_local_and_in_process(environment: Environment) -> None:
    config = vf.resolve_env_config({"taskset": {"id": environment.id}})
    assert isinstance(config.agent.runtime, vf.SubprocessConfig)
    assert config.agent_harnesses()["agent"].id == environment.id
    assert vf.load_harness(config.agent_harnesses()["agent"]).EXECUTES_CODE is False


def test_both_apis_have_the_same_arguments_and_defaults(environment: Environment) -> None:
    parameters = inspect.signature(environment.package.load_environment).parameters
    legacy = {name: parameter.default for name, parameter in parameters.items() if name != "system_prompt"}
    fields = environment.arguments.model_fields
    assert legacy == {name: field.default for name, field in fields.items()}
    assert PydanticUndefined not in legacy.values()
    assert all(parameter.kind is not parameter.VAR_KEYWORD for parameter in parameters.values())
    config = vf.taskset_config_type(environment.id)()
    assert {name: getattr(config, name) for name in fields} == legacy


def test_unknown_and_ill_typed_arguments_are_refused_by_name(environment: Environment) -> None:
    load = environment.package.load_environment
    with pytest.raises(TypeError, match="no_such_argument"):
        load(no_such_argument=1)
    for name, bad in (
        ("reward", "no such reward"),
        ("reward", ["binary"]),
        ("seed", "x"),
        ("seed", True),
        ("seed", [1]),
    ):
        with pytest.raises(ValidationError, match=name):
            load(**{name: bad})
        with pytest.raises(ValidationError, match=name):
            vf.resolve_env_config({"taskset": {"id": environment.id, name: bad}})
    with pytest.raises(ValidationError, match="no_such_argument"):
        vf.resolve_env_config({"taskset": {"id": environment.id, "no_such_argument": 1}})
    with pytest.raises((ValidationError, TypeError, AttributeError, ValueError)):
        vf.resolve_env_config({"taskset": [environment.id]})


def test_an_unknown_reward_is_refused_with_what_is_allowed(environment: Environment) -> None:
    with pytest.raises(ValidationError) as refusal:
        environment.package.load_environment(reward="no such reward")
    assert all(name in str(refusal.value) for name in environment.rewards)


def test_digits_in_a_string_count_as_a_whole_number(environment: Environment) -> None:
    assert environment.package.load_environment(seed="7").taskset.config.seed == 7


def test_load_environment_builds_the_v1_environment_with_its_system_prompt(environment: Environment) -> None:
    env = environment.package.load_environment(system_prompt="Be brief.", seed=3)
    task = next(iter(env.taskset.take(1)))
    assert task.data.system_prompt == "Be brief."
    assert env.config.taskset.seed == 3


def test_tasks_are_the_same_in_every_process(environment: Environment) -> None:
    code = (
        "import json, verifiers.v1 as vf\n"
        f"env = vf.load_environment(vf.resolve_env_config({{'taskset': {{'id': {environment.id!r}}}}}))\n"
        "print(json.dumps([[t.key, t.data.model_dump(mode='json')] for t in env.taskset.take(20)]))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
    tasks = json.loads(outputs.pop())
    assert len({key for key, _ in tasks}) == 20
    assert all(key == data["id"] for key, data in tasks)


def test_train_and_eval_share_no_task(environment: Environment) -> None:
    def keys(split: str) -> set[str]:
        config = vf.resolve_env_config({"taskset": {"id": environment.id, "split": split}})
        return {task.key for task in vf.load_environment(config).taskset.take(200)}

    assert not keys("train") & keys("eval")


def test_the_selected_signal_survives_the_wire(environment: Environment) -> None:
    """Env servers rebuild the config from its dump, and tasks from `config.task` alone."""
    for reward in environment.rewards:
        config = vf.resolve_env_config({"taskset": {"id": environment.id, "reward": reward}})
        rebuilt = vf.resolve_env_config(json.loads(config.model_dump_json()))
        assert rebuilt.taskset.reward == reward
        assert rebuilt.taskset.task._reward == reward


def test_the_reference_policies_are_found_by_their_entry_point(environment: Environment) -> None:
    points = [point for point in entry_points(group="vf_grpo.policies") if point.name == environment.id]
    assert len(points) == 1
    policies: dict[str, Any] = points[0].load()
    assert policies
    assert all(callable(policy) for policy in policies.values())


def test_the_metadata_is_what_the_hub_reads(environment: Environment) -> None:
    project = tomllib.loads((environment.folder / "pyproject.toml").read_text())
    metadata = project["project"]
    assert metadata["name"] == environment.id
    assert metadata["license"] == "Apache-2.0"
    assert metadata["version"] == version(environment.id)
    assert metadata["tags"]
    assert metadata["readme"] == "README.md"
    assert any(requirement.startswith("verifiers>=0.2.1") for requirement in metadata["dependencies"])
    assert project["tool"]["verifiers"]["eval"]["num_examples"] > 0
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert included == {"pyproject.toml": f"{environment.package_name}/pyproject.toml"}


def test_the_fingerprint_is_pinned_to_the_version(environment: Environment) -> None:
    pinned = json.loads((ROOT / "tests/contract/fingerprints.json").read_text())[environment.id]
    fingerprint = environment.package.grader_fingerprint()
    current = {"version": fingerprint["version"], "source_sha256": fingerprint["source_sha256"]}
    assert current == pinned, (
        f"the grading code of {environment.id} changed: bump its version, add a line to CHANGELOG.md, "
        f"and pin {json.dumps(current)} in tests/contract/fingerprints.json"
    )
    assert json.loads(json.dumps(fingerprint)) == fingerprint
    assert f"{environment.id} {fingerprint['version']}" in (ROOT / "CHANGELOG.md").read_text()
