import json
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError
from runs import environment

from vf_grpo.config import BatchConfig, TrainConfig
from vf_grpo.train import main, parse

RECIPES = sorted((Path(__file__).resolve().parents[2] / "training" / "configs").glob("*.toml"))
RUN = {"model": "m", "env": {"taskset": {"id": "toy-echo"}}}


def test_batch_sizes_multiply_out() -> None:
    batch = BatchConfig(group_size=8, groups_per_step=16, micro_batch_size=4)
    assert batch.accumulation_steps(num_ranks=2) == (4, 16)
    assert BatchConfig(group_size=8, groups_per_step=8).accumulation_steps(1) == (64, 1)


def test_batch_sizes_that_do_not_divide_are_refused_with_the_sum() -> None:
    with pytest.raises(
        ValueError, match=r"8 x groups_per_step 2 = 16 episodes .* 3 rank\(s\) x micro_batch_size 4 = 12"
    ):
        BatchConfig(group_size=8, groups_per_step=2, micro_batch_size=4).accumulation_steps(3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"env": {}}, "env.taskset.id is empty"),
        ({"learning_rate": 1}, "learning_rate"),
        ({"batch": {"group_size": 1}}, "greater than or equal to 2"),
        ({"evaluation": {"every": 5}}, "num_tasks is 0"),
        ({"num_tasks": 2}, "groups_per_step 8 exceeds num_tasks 2"),
        ({"env": {"taskset": {"id": "toy-echo", "wrong": 1}}}, "wrong"),
    ],
)
def test_what_cannot_run_is_refused_by_name(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        TrainConfig.model_validate(RUN | changes)


def test_flags_and_files_resolve_to_one_configuration(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text('model = "m"\nmax_steps = 7\n[env.taskset]\nid = "toy-echo"\nmax_turns = 2\n')
    config = parse(["@", str(tmp_path / "run.toml"), "--env.taskset.max-turns", "3", "--engine.type", "vllm-server"])
    assert (config.max_steps, config.env.taskset.max_turns, config.engine.type) == (7, 3, "vllm-server")


def test_a_dry_run_prints_the_resolved_configuration_and_loads_no_torch(tmp_path: Path) -> None:
    script = "import sys; from vf_grpo.train import main; main(sys.argv[1:]); assert 'torch' not in sys.modules"
    command = [sys.executable, "-c", script, "toy-echo", "--model", "m", "--dry-run"]
    result = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
    assert json.loads(result.stdout)["env"]["taskset"]["id"] == "toy-echo"


def test_an_unknown_environment_ends_in_one_line() -> None:
    with pytest.raises(SystemExit, match=r"no-such-env"):
        main(["no-such-env", "--model", "m", "--dry-run"])


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.stem)
def test_recipes_parse_and_resolve(recipe: Path) -> None:
    import tomllib

    text = recipe.read_text()
    environment_id = tomllib.loads(text)["env"]["taskset"]["id"].replace("-", "_")
    pytest.importorskip(environment_id, reason=f"{environment_id} is not installed")
    config = parse(["@", str(recipe)])
    assert config.batch.accumulation_steps(1)


@pytest.mark.parametrize("command", ["train", "warmstart", "demo"])
def test_a_wrong_flag_ends_in_one_message_that_names_it(command: str) -> None:
    from vf_grpo.cli import main as run

    with pytest.raises(SystemExit, match="wrong-flag"):
        run([command, "--wrong-flag", "1"])
