"""The rules of the code base that a reader would otherwise have to trust."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts import vendor

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = vendor.package_folders()
CORE_FILES = [path for package in PACKAGES for path in sorted(package.glob("core/**/*.py"))]
ADAPTER_FILES = [path for package in PACKAGES for path in sorted(package.glob("*.py"))]
TRAINING_FILES = sorted((ROOT / "training").rglob("*.py"))
ENVKIT_FILES = sorted((ROOT / "envkit").glob("*.py"))
SOURCE_FILES = [*CORE_FILES, *ADAPTER_FILES, *TRAINING_FILES, *ENVKIT_FILES]

IMPURE = {
    "asyncio",
    "io",
    "os",
    "pathlib",
    "secrets",
    "shutil",
    "socket",
    "subprocess",
    "tempfile",
    "threading",
    "time",
}
IMPURE_CALLS = {"open", "print", "input", "eval", "exec", "__import__"}


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """(absolute dotted module, line) of every import in a file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module or "", node.lineno
        elif isinstance(node, ast.ImportFrom):
            base = path.relative_to(ROOT).with_suffix("").parts[: -node.level]
            package = next((i for i, part in enumerate(base) if part == "environments"), -2) + 2
            yield ".".join((*base[package:], node.module or "")).rstrip("."), node.lineno


@pytest.mark.parametrize("path", CORE_FILES, ids=relative)
def test_core_is_pure(path: Path) -> None:
    package = next(package.name for package in PACKAGES if package in path.parents)
    allowed = (f"{package}.core", f"{package}._envkit.reply", f"{package}._envkit.fingerprint", f"{package}._envkit")
    for module, line in imports(path):
        top = module.partition(".")[0]
        is_ours = module == package or module.startswith(f"{package}.")
        is_fine = module.startswith(allowed) if is_ours else top == "numpy" or top in sys.stdlib_module_names - IMPURE
        assert is_fine, (
            f"{relative(path)}:{line} imports {module}: core may import the standard library, numpy and core"
        )
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in IMPURE_CALLS, f"{relative(path)}:{node.lineno} calls {node.func.id}"
        if isinstance(node, ast.AsyncFunctionDef):
            raise AssertionError(f"{relative(path)}:{node.lineno} is asynchronous")


@pytest.mark.parametrize("path", CORE_FILES, ids=relative)
def test_core_draws_from_named_streams_alone(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "random":
            assert node.attr == "Random", f"{relative(path)}:{node.lineno} uses the global random.{node.attr}"
        if isinstance(node, ast.ImportFrom) and node.module == "random":
            names = {alias.name for alias in node.names}
            assert names == {"Random"}, f"{relative(path)}:{node.lineno} imports {names} from random"


@pytest.mark.parametrize("path", [*CORE_FILES, *ADAPTER_FILES], ids=relative)
def test_an_environment_imports_no_other_and_no_trainer(path: Path) -> None:
    others = {package.name for package in PACKAGES if package not in path.parents} | {"vf_grpo", "envkit"}
    for module, line in imports(path):
        assert module.partition(".")[0] not in others, f"{relative(path)}:{line} imports {module}"


@pytest.mark.parametrize("path", TRAINING_FILES, ids=relative)
def test_training_reaches_environments_by_id_alone(path: Path) -> None:
    for module, line in imports(path):
        assert module.partition(".")[0] not in {package.name for package in PACKAGES}, f"{relative(path)}:{line}"


@pytest.mark.parametrize("path", SOURCE_FILES, ids=relative)
def test_errors_are_neither_swallowed_nor_probed(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        where = f"{relative(path)}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.ExceptHandler):
            caught = {n.id for n in ast.walk(node.type) if isinstance(n, ast.Name)} if node.type else {"everything"}
            assert not caught & {"everything", "Exception", "BaseException", "ImportError"}, f"{where} catches {caught}"
        assert not isinstance(node, ast.Pass), f"{where} passes"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id != "hasattr", f"{where} probes with hasattr"


@pytest.mark.parametrize("path", SOURCE_FILES, ids=relative)
def test_files_and_functions_keep_their_budgets(path: Path) -> None:
    source = path.read_text()
    budget = 260 if path in TRAINING_FILES else 220 if path in CORE_FILES else 160
    assert len(source.splitlines()) <= budget, f"{relative(path)} has grown past {budget} lines: find the missing idea"
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or 0) - node.lineno + 1
            assert length <= 60, f"{relative(path)}:{node.lineno} {node.name} has {length} lines"


def test_the_vendored_code_stays_small() -> None:
    assert sum(len(path.read_text().splitlines()) for path in ENVKIT_FILES) <= 250


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_vendored_copies_equal_their_source(package: Path) -> None:
    assert vendor.drift(package / "_envkit") == []


def test_drift_is_seen(tmp_path: Path) -> None:
    vendor.write(tmp_path)
    assert vendor.drift(tmp_path) == []
    (tmp_path / "reply.py").write_text("# edited in place\n")
    (tmp_path / "stray.py").write_text("")
    assert any("edited in place" in line for line in vendor.drift(tmp_path))
    vendor.write(tmp_path)
    assert vendor.drift(tmp_path) == []
    assert not (tmp_path / "stray.py").exists()


@pytest.mark.parametrize("path", SOURCE_FILES, ids=relative)
def test_no_file_is_a_drawer(path: Path) -> None:
    assert path.stem not in {"utils", "util", "helpers", "helper", "common", "misc", "manager"}
