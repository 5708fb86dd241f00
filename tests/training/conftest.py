import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
# The toy environment is found by its module name, as verifiers finds any environment; the other two are this folder's own.
sys.path[:0] = [str(HERE), str(HERE / "environments")]


os.environ |= {"TRL_EXPERIMENTAL_SILENCE": "1", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}


@pytest.fixture(scope="session")
def echo_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random 2-layer model with a character tokenizer and a chat template."""
    pytest.importorskip("torch", reason="needs the training packages: pip install 'vf-grpo[train]'")
    from tiny_models import write_echo_model

    return write_echo_model(tmp_path_factory.mktemp("echo-model"))
