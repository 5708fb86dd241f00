import pytest

torch = pytest.importorskip("torch")

from dataclasses import dataclass, field  # noqa: E402
from pathlib import Path  # noqa: E402

from transformers import AutoModelForCausalLM  # noqa: E402

from vf_grpo.engines.batch_sampling import sample_batch  # noqa: E402

PAD = 0


@dataclass
class Request:
    token_ids: list[int]
    temperature: float = 1.0
    max_tokens: int = 12
    seed: int = 0
    stop_token_ids: frozenset[int] = frozenset({1})
    replies: list[tuple[list[int], list[float], str]] = field(default_factory=list)

    def finish(self, token_ids: list[int], logprobs: list[float], reason: str) -> None:
        self.replies.append((token_ids, logprobs, reason))

    @property
    def reply(self) -> tuple[list[int], list[float], str]:
        (only,) = self.replies
        return only


@pytest.fixture(scope="module")
def model(echo_model: Path) -> "torch.nn.Module":
    return AutoModelForCausalLM.from_pretrained(echo_model).eval()


def requests(count: int = 9) -> list[Request]:
    return [
        Request([3, *range(5, 6 + i % 5)], seed=i, max_tokens=4 + i % 7, temperature=(0.7, 1.0, 1.3)[i % 3])
        for i in range(count)
    ]


def test_sampled_logprobs_equal_a_recomputation(model: "torch.nn.Module") -> None:
    batch = requests()
    sample_batch(model, batch, PAD)
    for request in batch:
        token_ids, logprobs, _ = request.reply
        whole = torch.tensor([request.token_ids + token_ids])
        logits = model(input_ids=whole).logits[0, len(request.token_ids) - 1 : -1] / request.temperature
        expected = torch.log_softmax(logits, -1).gather(-1, torch.tensor(token_ids)[:, None])[:, 0]
        assert logprobs == pytest.approx(expected.tolist(), abs=1e-4)


def test_a_reply_does_not_depend_on_its_batch(model: "torch.nn.Module") -> None:
    together, alone = requests(), requests()
    sample_batch(model, together, PAD)
    for request in alone:
        sample_batch(model, [request], PAD)
    assert [r.reply[0] for r in together] == [r.reply[0] for r in alone]


def test_a_reply_ends_at_a_stop_token_or_at_its_limit(model: "torch.nn.Module") -> None:
    batch = [Request([3, 5], seed=seed, max_tokens=20) for seed in range(40)]
    num_sampled = sample_batch(model, batch, PAD)
    reasons = {request.reply[2] for request in batch}
    assert reasons == {"stop", "length"}
    for request in batch:
        token_ids, _, reason = request.reply
        assert (token_ids[-1] == 1) == (reason == "stop")
        assert 1 not in token_ids[:-1]
        assert reason == "stop" or len(token_ids) == 20
    assert num_sampled == sum(len(request.reply[0]) for request in batch)


def test_members_of_a_group_differ_and_a_seed_repeats(model: "torch.nn.Module") -> None:
    batch = [Request([3, 5, 6], seed=seed) for seed in (1, 2, 3, 1)]
    sample_batch(model, batch, PAD)
    replies = [request.reply[0] for request in batch]
    assert replies[0] == replies[3]
    assert len({tuple(reply) for reply in replies}) == 3


def test_temperature_zero_takes_the_likeliest_token(model: "torch.nn.Module") -> None:
    (request,) = batch = [Request([3, 5, 6], temperature=0.0, max_tokens=1)]
    sample_batch(model, batch, PAD)
    assert request.reply[0][0] == int(model(input_ids=torch.tensor([[3, 5, 6]])).logits[0, -1].argmax())


def test_samples_follow_the_models_distribution(model: "torch.nn.Module") -> None:
    count = 4000
    batch = [Request([3, 5, 6], seed=seed, max_tokens=1) for seed in range(count)]
    sample_batch(model, batch, PAD)
    drawn = torch.bincount(torch.tensor([request.reply[0][0] for request in batch]), minlength=19) / count
    expected = torch.softmax(model(input_ids=torch.tensor([[3, 5, 6]])).logits[0, -1], -1)
    assert float((drawn - expected).abs().max().detach()) < 5 * (0.25 / count) ** 0.5
