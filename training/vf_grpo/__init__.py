"""vf-grpo: GRPO for any verifiers environment, on vLLM or on a laptop."""
