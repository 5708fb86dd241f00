"""Pin the installed graders' fingerprints in tests/contract/fingerprints.json and each README's Version section.

Run it after bumping the version of an environment whose grading code changed; the contract tests hold both to the code.
"""

import json
import re
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PINNED = ROOT / "tests" / "contract" / "fingerprints.json"


def main() -> None:
    pinned = {}
    for folder in sorted(path.parent for path in ROOT.glob("environments/*/pyproject.toml")):
        fingerprint = import_module(folder.name).grader_fingerprint()
        version, digest = fingerprint["version"], fingerprint["source_sha256"]
        pinned[folder.name.replace("_", "-")] = {"version": version, "source_sha256": digest}
        readme = folder / "README.md"
        stated = re.compile(r"(## Version\n+)\S+( grader source sha256 `)\w+`")
        readme.write_text(stated.sub(rf"\g<1>{version},\g<2>{digest}`", readme.read_text()))
    PINNED.write_text(json.dumps(pinned, indent=4) + "\n")
    print(f"pinned {', '.join(pinned)}")


if __name__ == "__main__":
    main()
