"""The strategies as chat policies: pure functions from (chat messages, seed) to a reply."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType

from ._envkit.reply import content_text
from .core.actions import Action, Malformed
from .core.prompts import find_observation
from .strategies import STRATEGIES

ChatPolicy = Callable[[Sequence[Mapping[str, object]], int], str]

NO_OBSERVATION = "There is no observation to act on."


def write_reply(action: Action) -> str:
    """A reply text that parses to the action."""
    return action.reason if isinstance(action, Malformed) else json.dumps(action.to_json())


def chat_reply(strategy: str, messages: Sequence[Mapping[str, object]], seed: int) -> str:
    """A strategy's reply to a conversation, of which it reads the last user message; it plays nothing without one."""
    texts = [content_text(message.get("content")) for message in messages if message.get("role") == "user"]
    observation = find_observation(texts[-1]) if texts else None
    if observation is None:
        return NO_OBSERVATION
    return write_reply(STRATEGIES[strategy](observation, seed, None))


POLICIES: Mapping[str, ChatPolicy] = MappingProxyType({name: partial(chat_reply, name) for name in STRATEGIES})
