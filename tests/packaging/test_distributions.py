"""Each distribution builds, and works alone outside the workspace."""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = sorted(path.parent for path in ROOT.glob("environments/*/pyproject.toml"))


def run(command: list[str | Path], cwd: Path, **environ: str) -> str:
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env={**os.environ, **environ}, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(folder: Path, out: Path, kind: str) -> Path:
    run([sys.executable, "-m", "build", "--no-isolation", f"--{kind}", "--outdir", out, folder], out)
    (built,) = out.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return built


def unpack(sdist: Path, into: Path) -> Path:
    with tarfile.open(sdist) as archive:
        archive.extractall(into, filter="data")
    (folder,) = (path for path in into.iterdir() if path.is_dir())
    return folder


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_wheel_from_the_sdist_works_alone(folder: Path, tmp_path: Path) -> None:
    """sdist -> wheel -> installed without the workspace -> tasks load, and a reply is graded as in the workspace."""
    for name in ("sdist", "source", "wheel", "site"):
        (tmp_path / name).mkdir()
    source = unpack(build(folder, tmp_path / "sdist", "sdist"), tmp_path / "source")
    assert {"README.md", "pyproject.toml", folder.name} <= {path.name for path in source.iterdir()}
    wheel = build(source, tmp_path / "wheel", "wheel")
    names = zipfile.ZipFile(wheel).namelist()
    assert {f"{folder.name}/pyproject.toml", f"{folder.name}/py.typed", f"{folder.name}/_envkit/reply.py"} <= set(names)
    assert not [name for name in names if name.startswith(("envkit/", "tests/", "vf_grpo/"))]

    run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", tmp_path / "site", wheel], tmp_path
    )
    env_id = folder.name.replace("_", "-")
    code = (
        f"import {folder.name} as package, verifiers.v1 as vf\n"
        f"env = vf.load_environment(vf.resolve_env_config({{'taskset': {{'id': {env_id!r}}}}}))\n"
        "print(package.__file__, next(iter(env.taskset.take(1))).key, package.grader_fingerprint()['source_sha256'], sep='\\n')"
    )
    alone = run([sys.executable, "-c", code], tmp_path, PYTHONPATH=str(tmp_path / "site")).splitlines()
    here = run([sys.executable, "-c", code], tmp_path).splitlines()
    assert alone[0].startswith(str(tmp_path))
    assert here[0].startswith(str(ROOT))
    assert alone[1:] == here[1:]


def test_the_harness_builds_and_holds_itself_alone(tmp_path: Path) -> None:
    names = zipfile.ZipFile(build(ROOT, tmp_path, "wheel")).namelist()
    tiny = {f"vf_grpo/tiny/{name}" for name in ("add3digit/model.safetensors", "neon/model.safetensors", "neon.toml")}
    assert {"vf_grpo/cli.py", *tiny} <= set(names)
    assert not [name for name in names if not name.startswith(("vf_grpo/", "vf_grpo-"))]
