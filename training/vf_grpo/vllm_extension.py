"""Runs inside vLLM's workers (`--worker-extension-cls vf_grpo.vllm_extension.ReloadFromDisk`): reads weights from disk.

Imports nothing of ours, so that the server's environment needs only this distribution, not the trainer's packages.
"""

import os
from typing import Any


class ReloadFromDisk:
    """Mixed into vLLM's worker class, whose attributes it uses."""

    reload_weights: Any
    model_runner: Any

    def reload_from_disk(self, folder: str) -> None:
        """Load a Hugging Face checkpoint folder in place."""
        # vLLM would leave half its layers without weights and die on a folder that is not there.
        if not os.path.isdir(folder):
            raise FileNotFoundError(f"{folder}: the server does not see the trainer's engine.sync_dir")
        self.reload_weights(weights_path=folder)
        repack_tied_head(self.model_runner.get_model())


def repack_tied_head(model: Any) -> None:
    """On CPU a head tied to the embedding keeps a packed copy of the old weights; pack it again."""
    from vllm.platforms import current_platform

    head = getattr(model, "lm_head", None)
    if current_platform.is_cpu() and head is not None and model.config.tie_word_embeddings:
        head.quant_method.process_weights_after_loading(head)
