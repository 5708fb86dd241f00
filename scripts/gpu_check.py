"""Check on a machine with a GPU what cannot be checked without one: the smallest run of every engine.

    python scripts/gpu_check.py [--model Qwen/Qwen2.5-0.5B-Instruct] [--only colocate,nccl,disk,transformers]

Each check trains two steps on assay-add3digit and demands that sampler and trainer agree in both (within 0.05 on
average), so that the second step samples from the weights that the first one left. The server checks need two GPUs: the
server takes the second.
Exit code 0 when all passed, 1 otherwise, 2 without CUDA.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

PORT = 8011
START_S = 600
RUN_S = 1800
MAX_DIFFERENCE = 0.05
CHECKS = ("transformers", "colocate", "disk", "nccl")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="Qwen/Qwen2.5-0.5B-Instruct")
    parser.add_argument("--only", default=",".join(CHECKS), help="checks to run (default: %(default)s)")
    options = parser.parse_args()
    import torch

    if not torch.cuda.is_available():
        print("no CUDA device: nothing was checked")
        return 2
    results = {}
    for name in options.only.split(","):
        needs_two = name in ("disk", "nccl")
        if needs_two and torch.cuda.device_count() < 2:
            results[name] = "skipped: needs two GPUs"
            continue
        with tempfile.TemporaryDirectory() as folder:
            results[name] = check(name, options.model, Path(folder))
        print(f"{name}: {results[name]}", flush=True)
    return int(any(result.startswith("FAILED") for result in results.values()))


def check(name: str, model: str, folder: Path) -> str:
    """ "passed ..." or "FAILED ..."."""
    engine = {
        "transformers": ["--engine.type", "transformers", "--engine.max-context", "512"],
        "colocate": ["--engine.type", "vllm-colocate", "--engine.max-context", "512"],
        "disk": ["--engine.type", "vllm-server", "--engine.sync", "disk", "--engine.sync-dir", str(folder / "sync")],
        "nccl": ["--engine.type", "vllm-server", "--engine.sync", "nccl"],
    }[name]
    server = start_server(name, model, folder) if name in ("disk", "nccl") else None
    if server is not None:
        engine += ["--engine.base-url", f"http://127.0.0.1:{PORT}"]
    command = [
        *(sys.executable, "-m", "vf_grpo", "train", "assay-add3digit", "--model", model, "--max-steps", "2"),
        *("--batch.groups-per-step", "2", "--batch.group-size", "4", "--sampling.max-tokens", "64"),
        *("--optimizer.learning-rate", "1e-5", "--telemetry.logprob-check-every", "1"),
        *("--output-dir", str(folder / "run"), *engine),
    ]
    try:
        result = subprocess.run(command, env=os.environ | {"CUDA_VISIBLE_DEVICES": "0"}, timeout=RUN_S, check=False)
    finally:
        if server is not None:
            server.terminate()
            server.wait(60)
    if result.returncode:
        return f"FAILED: vf-grpo train ended with {result.returncode}"
    steps = [json.loads(line) for line in (folder / "run" / "metrics.jsonl").read_text().splitlines()]
    worst = max(step["logprob_difference"] for step in steps)
    return f"{'passed' if worst <= MAX_DIFFERENCE else 'FAILED'}: mean log-probability difference {worst:.4f}"


def start_server(name: str, model: str, folder: Path) -> subprocess.Popen[bytes]:
    extra = {
        "disk": ["--worker-extension-cls", "vf_grpo.vllm_extension.ReloadFromDisk"],
        "nccl": ["--weight-transfer-config", '{"backend": "nccl"}'],
    }[name]
    command = ["vllm", "serve", model, "--port", str(PORT), "--enable-scale-out", "--max-model-len", "512"]
    command += ["--logprobs-mode", "processed_logprobs", *extra]
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": "1", "VLLM_SERVER_DEV_MODE": "1"}
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
    deadline = time.monotonic() + START_S
    while not is_up():
        if server.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"the server did not start:\n{(folder / 'server.log').read_text()[-3000:]}")
        time.sleep(2)
    return server


def is_up() -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{PORT}/health", timeout=5) as reply:
            return bool(reply.status == 200)
    except (URLError, ConnectionError, TimeoutError):
        return False


if __name__ == "__main__":
    sys.exit(main())
