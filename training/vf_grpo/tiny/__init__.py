"""The tiny policies that ship with this package, and how they are trained. Built by `scripts/build_tiny_*.py`."""

from pathlib import Path

FOLDER = Path(__file__).parent

ADD3DIGIT = FOLDER / "add3digit"
"""Policy for assay-add3digit."""

ADD3DIGIT_CONFIG = FOLDER / "add3digit.toml"
"""`vf-grpo train @` this file, with a signal of your choice."""

NEON = FOLDER / "neon"
"""Policy for neon-syndicate, level 1."""

NEON_CONFIG = FOLDER / "neon.toml"
"""`vf-grpo train @` this file."""
