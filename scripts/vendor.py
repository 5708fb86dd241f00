"""Copy `envkit/` into every environment package as `_envkit/`; with `--check`, print how the copies differ instead.

A hub push archives only the environment's own folder, so the shared code is committed there, generated.
"""

import argparse
import difflib
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADER = "# Generated from envkit/{name} by scripts/vendor.py: edit there.\n"


def sources() -> dict[str, str]:
    """File name -> text of each vendored copy."""
    return {path.name: HEADER.format(name=path.name) + path.read_text() for path in sorted(ROOT.glob("envkit/*.py"))}


def package_folders() -> list[Path]:
    """The importable package of each environment."""
    return [path.parent / path.parent.name for path in sorted(ROOT.glob("environments/*/pyproject.toml"))]


def drift(folder: Path) -> list[str]:
    """Unified diff lines from what `folder` holds to what it should hold; empty when it is up to date."""
    wanted = sources()
    held = {path.name: path.read_text() for path in folder.glob("*.py")}
    lines: list[str] = []
    for name in sorted(wanted.keys() | held.keys()):
        before, after = held.get(name, ""), wanted.get(name, "")
        lines += difflib.unified_diff(
            before.splitlines(), after.splitlines(), f"{folder}/{name}", f"envkit/{name}", lineterm=""
        )
    return lines


def write(folder: Path) -> None:
    """Make `folder` hold exactly the vendored copies."""
    folder.mkdir(exist_ok=True)
    for stale in set(folder.glob("*.py")) - {folder / name for name in sources()}:
        stale.unlink()
    for name, text in sources().items():
        (folder / name).write_text(text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="print the differences, change nothing, exit 1 if any")
    is_check = parser.parse_args().check
    folders = [package / "_envkit" for package in package_folders()]
    if is_check:
        lines = [line for folder in folders for line in drift(folder)]
        print("\n".join(lines) if lines else f"{len(folders)} vendored copies equal envkit/")
        return int(bool(lines))
    for folder in folders:
        write(folder)
        print(f"wrote {folder.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
