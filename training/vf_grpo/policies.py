"""Find the reference policies of installed environments: the entry point group `vf_grpo.policies`."""

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import entry_points

ChatPolicy = Callable[[Sequence[Mapping[str, object]], int], str]
"""(chat messages, seed) -> reply; deterministic."""

ENTRY_POINT_GROUP = "vf_grpo.policies"


def installed_policies() -> dict[str, Mapping[str, ChatPolicy]]:
    """Environment id -> policy name -> policy, sorted by environment id."""
    points = sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda point: point.name)
    return {point.name: point.load() for point in points}


def canonical_id(env_id: str) -> str:
    """A hub id `owner/name@version`, or a name with underscores, as the plain id of the environment."""
    return env_id.strip().rsplit("/", 1)[-1].split("@", 1)[0].replace("_", "-").lower()


def policies_of(env_id: str) -> Mapping[str, ChatPolicy]:
    """One environment's policies; a hub id `owner/name@version` names the same environment as `name`.

    Raises LookupError where the environment has none or is not installed.
    """
    name = canonical_id(env_id)
    installed = installed_policies()
    if name not in installed:
        raise LookupError(
            f"no reference policies for {env_id!r}: installed are {', '.join(installed) or 'none'}; "
            f"pip install the environment, or evaluate a model with --model and --client.base-url"
        )
    return installed[name]
