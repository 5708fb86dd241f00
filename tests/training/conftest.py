import sys
from pathlib import Path

import pytest
from tiny_models import write_echo_model

sys.path.insert(0, str(Path(__file__).parent / "environments"))


@pytest.fixture(scope="session")
def echo_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random 2-layer model with a character tokenizer and a chat template."""
    return write_echo_model(tmp_path_factory.mktemp("echo-model"))
