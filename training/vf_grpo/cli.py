"""The console script: `vf-grpo COMMAND ...`. A command is a module with `main(argv) -> exit code`, imported on use."""

import sys
from importlib import import_module

COMMANDS = {
    "train": "train a policy with GRPO on an environment",
    "demo": "the positive control: three signals on a tiny policy, on CPU, beside the published effects",
    "report": "compare training runs in a PNG and one HTML page",
    "warmstart": "fine-tune a model on what reference policies play, before GRPO",
    "serve": "serve a checkpoint as an OpenAI-compatible API, without vLLM",
    "evaluate": "compare policies and models on an environment",
    "serve-policies": "serve the environments' reference policies as an OpenAI-compatible API",
}
_MODULES = {"serve-policies": "policy_server"}


def usage() -> str:
    lines = [f"  {name:<16}{summary}" for name, summary in COMMANDS.items()]
    return "usage: vf-grpo COMMAND [options]   (vf-grpo COMMAND --help for its options)\n\n" + "\n".join(lines)


def main(argv: list[str] | None = None) -> int:
    """Run a command; returns the exit code (2 for an unknown command)."""
    arguments = sys.argv[1:] if argv is None else argv
    if not arguments or arguments[0] in ("-h", "--help"):
        print(usage())
        return 0
    command, *rest = arguments
    if command not in COMMANDS:
        print(f"vf-grpo: unknown command {command!r}\n\n{usage()}", file=sys.stderr)
        return 2
    module = import_module(f"vf_grpo.{_MODULES.get(command, command)}")
    code: int = module.main(rest)
    return code
