"""The environments under contract; every test here runs for each of them."""

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]


class Environment(NamedTuple):
    """An environment as its folder names it."""

    id: str

    @property
    def package_name(self) -> str:
        return self.id.replace("-", "_")

    @property
    def package(self) -> ModuleType:
        return import_module(self.package_name)

    @property
    def folder(self) -> Path:
        return ROOT / "environments" / self.package_name

    @property
    def arguments(self) -> Any:
        """The pydantic model of the environment's arguments."""
        module = import_module(f"{self.package_name}.arguments")
        return next(value for name, value in vars(module).items() if name.endswith("Arguments"))

    @property
    def rewards(self) -> tuple[str, ...]:
        """The names of the training signals."""
        return tuple(self.arguments.model_fields["reward"].annotation.__args__)


ENVIRONMENTS = [
    Environment(path.parent.name.replace("_", "-")) for path in sorted(ROOT.glob("environments/*/pyproject.toml"))
]


@pytest.fixture(params=ENVIRONMENTS, ids=lambda environment: environment.id)
def environment(request: pytest.FixtureRequest) -> Environment:
    found: Environment = request.param
    return found
