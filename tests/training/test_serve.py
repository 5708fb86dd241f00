import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import requests

pytest.importorskip("torch")

from runs import environment


@pytest.fixture(scope="module")
def url(echo_model: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "vf_grpo", "serve", str(echo_model), "--name", "toy", "--port", "0"]
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        ready = server.stdout.readline()
        assert ready.startswith("serving toy at http://127.0.0.1:"), ready
        yield ready.split()[-1]
        server.terminate()


def ask(url: str, **changes: Any) -> requests.Response:
    body = {"model": "toy", "messages": [{"role": "user", "content": "say 7"}], "max_tokens": 5, "seed": 1} | changes
    return requests.post(f"{url}/chat/completions", json=body, timeout=60)


def test_a_checkpoint_answers_like_any_openai_model(url: str) -> None:
    from openai import OpenAI

    client = OpenAI(base_url=url, api_key="none")
    messages: Any = [{"role": "user", "content": "say 7"}]
    reply = client.chat.completions.create(model="toy", messages=messages, max_tokens=5, seed=1)
    assert reply.choices[0].finish_reason in ("stop", "length")
    assert reply.usage is not None
    assert 1 <= reply.usage.completion_tokens <= 5
    chunks = list(client.chat.completions.create(model="toy", messages=messages, max_tokens=5, seed=1, stream=True))
    streamed = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert streamed == reply.choices[0].message.content
    assert [model.id for model in client.models.list()] == ["toy"]


def test_a_seed_repeats_a_reply_whatever_else_is_asked(url: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda seed: ask(url, seed=seed).json(), [1, 2, 3, 4, 1, 2, 3, 4]))
    texts = [reply["choices"][0]["message"]["content"] for reply in replies]
    assert texts[:4] == texts[4:]
    assert len(set(texts)) > 1


@pytest.mark.parametrize(
    ("changes", "status", "message"),
    [
        ({"model": "other"}, 404, "this server has 'toy'"),
        ({"messages": []}, 400, "messages"),
        ({"max_tokens": 0}, 400, "max_tokens"),
        ({"messages": [{"role": "user", "content": "7" * 5000}]}, 400, "leaves no room"),
    ],
)
def test_what_cannot_be_answered_is_refused_by_name(url: str, changes: Any, status: int, message: str) -> None:
    reply = ask(url, **changes)
    assert reply.status_code == status
    assert message in reply.json()["error"]["message"]
