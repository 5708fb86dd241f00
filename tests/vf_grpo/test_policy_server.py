"""The policy server through OpenAI's own client, and what it says to bad requests."""

import json
import subprocess
import sys
import urllib.error
import urllib.request

import openai
import pytest

from vf_grpo.policy_server import main, policy_models

MESSAGES = [{"role": "user", "content": "What is 875 + 812?"}]


@pytest.fixture
def client(policy_server_url: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=policy_server_url, api_key="none", max_retries=0)


def test_every_policy_of_every_environment_is_a_model(client: openai.OpenAI) -> None:
    names = [model.id for model in client.models.list()]
    assert {"assay-add3digit/oracle", "assay-add3digit/constant_tag", "assay-add3digit/noisy"} <= set(names)


def test_a_policy_answers_a_chat(client: openai.OpenAI) -> None:
    reply = client.chat.completions.create(model="assay-add3digit/oracle", messages=MESSAGES)  # type: ignore[arg-type]
    assert reply.choices[0].message.content == "<answer>1687</answer>"
    assert reply.choices[0].finish_reason == "stop"
    assert reply.usage is not None
    assert reply.usage.completion_tokens == 1


def test_streaming_gives_the_same_text_and_usage(client: openai.OpenAI) -> None:
    model = "assay-add3digit/noisy"
    whole = client.chat.completions.create(model=model, messages=MESSAGES, seed=3)  # type: ignore[arg-type]
    chunks = list(client.chat.completions.create(model=model, messages=MESSAGES, seed=3, stream=True))  # type: ignore[call-overload]
    text = "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)
    assert text == whole.choices[0].message.content
    assert chunks[-1].usage == whole.usage
    assert {chunk.id for chunk in chunks} == {whole.id}


def test_a_reply_depends_on_seed_and_conversation_alone(client: openai.OpenAI) -> None:
    def reply(seed: int | None) -> str | None:
        given = {} if seed is None else {"seed": seed}
        done = client.chat.completions.create(model="assay-add3digit/noisy", messages=MESSAGES, **given)  # type: ignore[call-overload]
        text: str | None = done.choices[0].message.content
        return text

    assert reply(None) == reply(0) == reply(0)
    assert len({reply(seed) for seed in range(30)}) > 2


def post(url: str, body: bytes) -> tuple[int, str]:
    request = urllib.request.Request(f"{url}/chat/completions", data=body, method="POST")
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())["error"]["message"]


@pytest.mark.parametrize(
    ("body", "status", "named"),
    [
        (b"", 400, "JSON"),
        (b"[]", 400, "object"),
        (b'{"model": "assay-add3digit/oracle"}', 400, "messages"),
        (b'{"model": "assay-add3digit/oracle", "messages": []}', 400, "messages"),
        (b'{"model": "assay-add3digit/oracle", "messages": ["hi"]}', 400, "messages"),
        (b'{"model": "assay-add3digit/oracle", "messages": [{}], "n": 3}', 400, "n: "),
        (b'{"model": "no-such-model", "messages": [{"role": "user", "content": "hi"}]}', 404, "no-such-model"),
        (b'{"model": "\xff"}', 400, "JSON"),
        (b'{"model": "assay-add3digit/oracle", "messages": [{"content": "hi"}]}', 400, "role"),
        (
            b'{"model": "neon-syndicate/idle", "messages": [{"role": "user", "content": "hi"}]}',
            400,
            "first observation",
        ),
    ],
)
def test_a_bad_request_is_named_and_the_server_lives(
    policy_server_url: str, body: bytes, status: int, named: str
) -> None:
    code, message = post(policy_server_url, body)
    assert code == status
    assert named in message
    assert (
        post(policy_server_url, json.dumps({"model": "assay-add3digit/oracle", "messages": MESSAGES}).encode())[0]
        == 200
    )


def test_an_oversize_request_is_refused(policy_server_url: str) -> None:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x" * (17 * 2**20)}]}).encode()
    code, _ = post(policy_server_url, body)
    assert code == 413


def test_an_environment_goes_by_any_spelling_of_its_id() -> None:
    assert set(policy_models(["assay_add3digit"])) == set(policy_models(["owner/assay-add3digit@0.1.0"]))


@pytest.mark.parametrize("port", ["70000", "-1", "http"])
def test_a_port_that_is_none_is_refused_by_name(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([f"--port={port}"])
    assert port in capsys.readouterr().err


def test_an_unknown_environment_is_refused_by_name() -> None:
    command = [sys.executable, "-m", "vf_grpo", "serve-policies", "--envs", "no-such-env", "--port", "0"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "no-such-env" in done.stderr
    assert "assay-add3digit" in done.stderr
