"""A chat renderer for any model with a chat template, which keeps a conversation in one piece.

verifiers' default renderer renders the whole chat anew at each turn, so sampled tokens are tokenised again and a
trace may split at every turn. This one derives what the template puts between turns from two renders of a dummy
conversation, and appends that to the tokens as they were sampled. A template that rewrites earlier turns is left to
the default path.
"""

from typing import Any, NamedTuple

from renderers.base import Message, RenderedTokens, ToolSpec, extract_message_tool_names, reject_assistant_in_extension
from renderers.configs import CustomRendererConfig, DefaultRendererConfig
from renderers.default import DefaultRenderer

DUMMY: list[Message] = [{"role": "user", "content": "u"}, {"role": "assistant", "content": "a"}]
OTHER_REPLY: Message = {"role": "assistant", "content": "b"}


class TemplateRendererConfig(DefaultRendererConfig):
    """As the default renderer's: further fields go to the chat template."""


class _TurnEnd(NamedTuple):
    """What the template writes after a reply: the closing token, if it has one, and the separator behind it."""

    close: int | None
    separator: list[int]


class TemplateRenderer(DefaultRenderer):
    config_class = TemplateRendererConfig

    def bridge_to_next_turn(
        self,
        previous_prompt_ids: list[int],
        previous_completion_ids: list[int],
        new_messages: list[Message],
        *,
        tools: list[ToolSpec] | None = None,
    ) -> RenderedTokens | None:
        """The next turn's prompt, beginning with the tokens so far exactly as they are; None to render from scratch."""
        if not previous_prompt_ids or not new_messages or reject_assistant_in_extension(new_messages):
            return None
        end = self._turn_end(tools)
        added = self._scaffold(new_messages, tools)
        if added is None:
            return None
        added_ids, message_indices = added
        kept = previous_prompt_ids + self._closed(previous_completion_ids, end)
        indices = [-1] * (len(kept) + len(end.separator)) + message_indices
        token_ids = kept + end.separator + added_ids
        return RenderedTokens(
            token_ids=token_ids,
            message_indices=indices,
            sampled_mask=[False] * len(token_ids),
            message_roles=[message.get("role") or "" for message in new_messages],
            message_tool_names=extract_message_tool_names(new_messages),
        )

    def _closed(self, completion_ids: list[int], end: _TurnEnd) -> list[int]:
        """The reply up to and including its stop token; one that was cut off gets the template's closing token."""
        stops = set(self.get_stop_token_ids())
        for index, token_id in enumerate(completion_ids):
            if token_id in stops:
                return completion_ids[: index + 1]
        return completion_ids + ([] if end.close is None else [end.close])

    def _turn_end(self, tools: list[ToolSpec] | None) -> _TurnEnd:
        one = self._apply(DUMMY, tools=tools)
        other = self._apply([DUMMY[0], OTHER_REPLY], tools=tools)
        same = 0
        while same < min(len(one), len(other)) and one[-1 - same] == other[-1 - same]:
            same += 1
        tail = one[len(one) - same :]
        if tail and tail[0] in set(self.get_stop_token_ids()):
            return _TurnEnd(tail[0], tail[1:])
        return _TurnEnd(None, tail)

    def _scaffold(
        self, new_messages: list[Message], tools: list[ToolSpec] | None
    ) -> tuple[list[int], list[int]] | None:
        """Tokens the template adds for `new_messages` and the generation prompt, each with its message's index or
        -1.
        """
        before = self._apply(DUMMY, tools=tools)
        token_ids: list[int] = []
        indices: list[int] = []
        for count in range(1, len(new_messages) + 2):
            is_last = count > len(new_messages)
            chat = [*DUMMY, *new_messages[:count]]
            after = self._apply(chat, tools=tools, add_generation_prompt=is_last)
            if after[: len(before)] != before:
                return None
            token_ids += after[len(before) :]
            indices += [-1 if is_last else count - 1] * (len(after) - len(before))
            before = after
        return token_ids, indices


def template_renderer() -> CustomRendererConfig:
    """The configuration that makes verifiers load this renderer."""
    fields: dict[str, Any] = {"name": "custom", "import_path": f"{__name__}:{TemplateRenderer.__name__}"}
    return CustomRendererConfig.model_validate(fields)
