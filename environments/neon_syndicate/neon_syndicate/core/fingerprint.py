"""What identifies the grader of this environment."""

from importlib import metadata

from .._envkit.fingerprint import source_digest, text_digest
from . import balance
from .balance import PENALTY
from .missions import BUILTIN_MISSIONS
from .prompts import SYSTEM_PROMPT

_GRADING_MODULES = (
    "_envkit.reply",
    "core.vocabulary",
    "core.balance",
    "core.mission",
    "core.missions",
    "core.lexicon",
    "core.generator",
    "core.clues",
    "core.codewords",
    "core.actions",
    "core.state",
    "core.rules",
    "core.simulator",
    "core.grader",
    "core.observation",
    "core.prompts",
)


def grader_fingerprint() -> dict[str, object]:
    """Weights, penalties, wording, source and version; equal fingerprints mean equal grades."""
    package = __name__.partition(".")[0]
    return {
        "environment": "neon-syndicate",
        "version": metadata.version("neon-syndicate"),
        "weights": {
            "alliance": balance.WEIGHT_ALLIANCE,
            "resources": balance.WEIGHT_RESOURCES,
            "operation": balance.WEIGHT_OPERATION,
            "message": balance.WEIGHT_MESSAGE,
            "extraction": balance.WEIGHT_EXTRACTION,
            "win_bonus": balance.WIN_BONUS,
        },
        "penalties": {str(kind): value for kind, value in PENALTY.items()},
        "missions_sha256": text_digest(*(repr(mission) for mission in BUILTIN_MISSIONS)),
        "template_sha256": text_digest(SYSTEM_PROMPT),
        "source_sha256": source_digest(*(f"{package}.{module}" for module in _GRADING_MODULES)),
    }
