# Generated from envkit/fingerprint.py by scripts/vendor.py: edit there.
"""What identifies a grader: digests of the source that grades and of the texts it relies on."""

import hashlib
import importlib
import inspect


def source_digest(*modules: str) -> str:
    """`text_digest` of the source of importable modules, in the order given.

    Raises ModuleNotFoundError for an unknown module and OSError where the source is not shipped.
    """
    return text_digest(*(inspect.getsource(importlib.import_module(name)) for name in modules))


def text_digest(*texts: str) -> str:
    """sha256 (hex) over texts; each is prefixed with its length, so that no two lists of texts look alike."""
    digest = hashlib.sha256()
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(data) + data)
    return digest.hexdigest()
