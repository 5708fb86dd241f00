"""Argument names that transformers 5.24 changed; vLLM needs an older release, plain training may use a newer one."""

import transformers
from packaging.version import Version

_HAS_NEW_NAMES = Version(transformers.__version__) >= Version("5.24")

CACHE = "cache" if _HAS_NEW_NAMES else "past_key_values"
"""The key-value cache in a model's forward."""

CHECKPOINTING = "activation_checkpointing" if _HAS_NEW_NAMES else "gradient_checkpointing"
"""Recomputing activations in the backward pass, in the training arguments."""
