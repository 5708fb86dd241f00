"""What several test folders need: the reference data, and a running policy server."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHARED_DATA = ROOT.parent / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], Any]:
    """Reads a reference data file that lies beside the checkout; skips where it is missing."""

    def read(name: str) -> Any:
        path = SHARED_DATA / name
        if not path.exists():
            pytest.skip(f"reference data ../shared/data/{name} is not beside this checkout")
        return json.loads(path.read_text())

    return read


@pytest.fixture(scope="session")
def policy_server_url() -> Iterator[str]:
    """The base URL of `vf-grpo serve-policies`, run as a user runs it."""
    command = [sys.executable, "-m", "vf_grpo", "serve-policies", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        ready = server.stdout.readline()
        assert ready.startswith("serving "), f"the policy server did not start: {ready!r}"
        yield ready.split()[-1]
        server.terminate()
        server.stdout.read()
