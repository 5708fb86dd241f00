"""Reading a command's configuration: what is wrong with it ends the program in one message, not in a traceback."""

from typing import TypeVar

from pydantic import BaseModel
from pydantic_config import ConfigFileError, cli
from verifiers.v1.cli.resolve import narrow_config, plugin_errors, with_positional_taskset

ConfigT = TypeVar("ConfigT", bound=BaseModel)


def parse_config(kind: type[ConfigT], argv: list[str], command: str) -> ConfigT:
    """`argv` (`@ file.toml`, `--a.b value`) as a `kind`; exits naming what it refuses."""
    try:
        config: ConfigT = cli(kind, args=argv, prog=f"vf-grpo {command}")
    except ConfigFileError as error:
        raise SystemExit(f"vf-grpo {command}: {error}") from None
    return config


def parse_environment_config(kind: type[ConfigT], argv: list[str], command: str) -> ConfigT:
    """As `parse_config`, for a configuration with an `env` field; a leading bare word is the environment's id."""
    arguments = with_positional_taskset(list(argv))
    with plugin_errors():
        narrowed: type[ConfigT] = narrow_config(kind, arguments)
        return parse_config(narrowed, arguments, command)
