"""vf-grpo: calibrate, evaluate and train language models on verifiers environments."""
