"""Bench of the trainer on CPU: where a step's time goes, how it compares with plain TRL, and whether memory stays flat.

    python scripts/bench_training.py [--steps 20] [--memory-steps 200] [--hidden-size 512]
    python scripts/bench_training.py --engine vllm-colocate|vllm-server      # its rollouts per second, where vLLM is

One process, one core, one model (random weights; its size sets how dear a step is), one single-turn task. `overhead` is
the share of a step outside sampling and forward/backward. `ratio` is our step time over that of TRL's own GRPOTrainer
with a plain reward function on the same model, prompts, batch and reply length.
"""

import argparse
import json
import os
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

os.environ |= {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "TRL_EXPERIMENTAL_SILENCE": "1"}

import torch
from datasets import Dataset
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM, PrinterCallback, TrainerCallback
from transformers.utils.logging import disable_progress_bar
from trl import GRPOTrainer

from vf_grpo.config import TrainConfig
from vf_grpo.run_record import METRICS, read_rows
from vf_grpo.session import make_engine, train, trainer_arguments
from vf_grpo.tiny import ADD3DIGIT

GROUP_SIZE, GROUPS, REPLY_TOKENS = 8, 4, 24
WARM_UP_STEPS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--memory-steps", type=int, default=200)
    parser.add_argument("--hidden-size", type=int, default=512, help="width of the model (default: %(default)s)")
    parser.add_argument("--engine", choices=("transformers", "vllm-colocate", "vllm-server"), default="transformers")
    options = parser.parse_args()
    disable_progress_bar()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        result = measure(options, Path(folder))
    print(json.dumps({name: round(value, 4) for name, value in result.items()}, indent=1))


def measure(options: argparse.Namespace, folder: Path) -> dict[str, float]:
    result = {}
    if options.engine == "transformers":
        # First, since the peak of a larger model would hide what this one adds.
        result = measure_memory(config(ADD3DIGIT, folder / "memory", options.memory_steps))
    model = write_model(folder / "model", options.hidden_size)
    if options.engine == "vllm-server":
        with vllm_server(model, folder / "server.log") as url:
            engine = {"base_url": url, "sync": "disk", "sync_dir": str(folder / "sync")}
            return measure_ours(config(model, folder / "ours", options.steps, type="vllm-server", **engine))
    ours = config(model, folder / "ours", options.steps, type=options.engine, max_context=128)
    result |= measure_ours(ours)
    if options.engine == "transformers":
        result |= measure_trl(config(model, folder / "trl", options.steps))
        result["ratio"] = result["ours_step_s"] / result["trl_step_s"]
    return result


@contextmanager
def vllm_server(model: Path, log: Path) -> Iterator[str]:
    """vLLM's CPU build, as training/README.md starts it; yields its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        *(sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(model), "--port", str(port)),
        *("--enable-scale-out", "--logprobs-mode", "processed_logprobs", "--enforce-eager", "--dtype", "float32"),
        *("--max-model-len", "128", "--worker-extension-cls", "vf_grpo.vllm_extension.ReloadFromDisk"),
    ]
    environment = os.environ | {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_SERVER_DEV_MODE": "1"}
    with log.open("w") as sink, subprocess.Popen(command, env=environment, stdout=sink, stderr=sink) as server:
        try:
            while not _accepts(port):
                if server.poll() is not None:
                    raise RuntimeError(f"the server did not start:\n{log.read_text()[-3000:]}")
                time.sleep(1)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


def _accepts(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def write_model(folder: Path, hidden_size: int) -> Path:
    tokenizer = AutoTokenizer.from_pretrained(ADD3DIGIT)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    shape = {"hidden_size": hidden_size, "intermediate_size": 3 * hidden_size, "num_hidden_layers": 6}
    heads = {"num_attention_heads": hidden_size // 64, "num_key_value_heads": hidden_size // 64}
    ids = {"pad_token_id": tokenizer.pad_token_id, "eos_token_id": tokenizer.eos_token_id, "bos_token_id": None}
    model = LlamaForCausalLM(
        LlamaConfig(vocab_size=len(tokenizer), max_position_embeddings=256, **shape, **heads, **ids)
    )
    # Replies rarely end before their limit, so both trainers sample about the same number of tokens.
    with torch.no_grad():
        model.lm_head.weight[tokenizer.eos_token_id] = 0.0
    model.generation_config.update(eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id)
    model.save_pretrained(folder)
    return folder


def config(model: Path, folder: Path, num_steps: int, **engine: object) -> TrainConfig:
    run: TrainConfig = TrainConfig.model_validate(
        {
            "model": str(model),
            "output_dir": str(folder),
            "max_steps": num_steps,
            "env": {"taskset": {"id": "assay-add3digit"}},
            "engine": engine or {"type": "transformers", "max_context": 128},
            "batch": {"group_size": GROUP_SIZE, "groups_per_step": GROUPS},
            "sampling": {"max_tokens": REPLY_TOKENS},
            "telemetry": {"progress": False, "logprob_check_every": 0},
        }
    )
    return run


def measure_ours(run: TrainConfig) -> dict[str, float]:
    train(run)
    steps = read_rows(run.output_dir / METRICS)[WARM_UP_STEPS:]
    whole = [float(str(row["training_step_s"])) for row in steps]
    rollout = [float(str(row["rollout_s"])) for row in steps]
    sampling = [float(str(row["sampling_s"])) for row in steps]
    rate = [float(str(row["rollouts_per_s"])) for row in steps]
    result = {"ours_step_s": statistics.median(whole), "ours_rollouts_per_s": statistics.median(rate)}
    if run.engine.type != "vllm-server":  # whose sampling is its own affair, and not timed
        overhead = [(r - s) / w for r, s, w in zip(rollout, sampling, whole, strict=True)]
        result |= {
            "ours_sampling_s": statistics.median(sampling),
            "ours_overhead_fraction": statistics.median(overhead),
        }
    return result


class StepClock(TrainerCallback):
    def __init__(self) -> None:
        self.seconds: list[float] = []

    def on_step_begin(self, *_: Any, **__: Any) -> None:
        self._started = time.perf_counter()

    def on_step_end(self, *_: Any, **__: Any) -> None:
        self.seconds.append(time.perf_counter() - self._started)


def measure_trl(run: TrainConfig) -> dict[str, float]:
    """TRL alone: the same prompts through its own generation, rewarded by a plain function."""
    tokenizer = AutoTokenizer.from_pretrained(run.model, padding_side="left")
    import verifiers.v1 as vf

    tasks = list(vf.load_environment(run.env).taskset.take(200))
    prompts = [[{"role": "user", "content": str(task.data.prompt)}] for task in tasks]
    answers = [str(task.data.answer) for task in tasks]

    def reward(completions: list[Any], answer: list[str], **_: Any) -> list[float]:
        return [float(c[0]["content"].endswith(a)) for c, a in zip(completions, answer, strict=True)]

    arguments = trainer_arguments(run, make_engine(run), run.batch.accumulation_steps(1))
    arguments.max_completion_length = REPLY_TOKENS
    clock = StepClock()
    trainer = GRPOTrainer(
        model=LlamaForCausalLM.from_pretrained(run.model),
        reward_funcs=reward,
        args=arguments,
        train_dataset=Dataset.from_dict({"prompt": prompts, "answer": answers}),
        processing_class=tokenizer,
        callbacks=[clock],
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    return {"trl_step_s": statistics.median(clock.seconds[WARM_UP_STEPS:])}


def measure_memory(run: TrainConfig) -> dict[str, float]:
    """Peak resident memory after a short run and how much a long one adds, in MiB."""
    short = run.model_copy(update={"max_steps": 20, "output_dir": run.output_dir / "short"})
    train(short)
    before = peak_mib()
    train(run.model_copy(update={"output_dir": run.output_dir / "long"}))
    return {"memory_after_20_steps_mib": before, f"memory_growth_over_{run.max_steps}_steps_mib": peak_mib() - before}


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
