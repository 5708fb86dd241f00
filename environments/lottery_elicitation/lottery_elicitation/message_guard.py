"""ASGI middleware of the OpenEnv server: answers what is no protocol message, so that no client's message ends a
session.
"""

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.responses import JSONResponse

MAX_MESSAGE_BYTES = 262_144
"""Longer messages are answered with an error."""

Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]


class MessageGuard:
    """Stands before the app: messages that are too long or no protocol messages never reach it."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self._app = app

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "POST":
            length = dict(scope["headers"]).get(b"content-length", b"")
            if not length.isdigit() or int(length) > MAX_MESSAGE_BYTES:
                detail = f"send a content-length of at most {MAX_MESSAGE_BYTES} bytes"
                await JSONResponse({"detail": detail}, status_code=413)(scope, receive, send)
                return

        async def checked_receive() -> Event:
            while True:
                event = await receive()
                fault = message_fault(event) if event["type"] == "websocket.receive" else None
                if fault is None:
                    return event
                error = {"type": "error", "data": {"message": fault, "code": "VALIDATION_ERROR"}}
                await send({"type": "websocket.send", "text": json.dumps(error)})

        await self._app(scope, checked_receive if scope["type"] == "websocket" else receive, send)


def message_fault(event: Event) -> str | None:
    """What keeps a WebSocket message from being a protocol message, or None."""
    text = event.get("text")
    if text is None:
        return "binary messages are not read; send a JSON object as text"
    if len(text) > MAX_MESSAGE_BYTES:
        return f"the message has {len(text)} characters; at most {MAX_MESSAGE_BYTES} are read"
    try:
        message = json.loads(text)
    except (ValueError, RecursionError) as fault:
        return f"the message is not valid JSON: {str(fault)[:100]}"
    if not isinstance(message, dict) or not isinstance(message.get("data", {}), dict):
        return 'a message must be an object {"type": ..., "data": {...}}'
    return None
