"""Grading: the public cases for both extractors, the three signals, and properties over arbitrary replies."""

import asyncio
import math
import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay_add3digit.core.extractors import INTEGER, committed_answer, last_integer
from assay_add3digit.core.grader import TIEBREAK_WEIGHT, grade, grader_fingerprint

GOLD = 1687

COMMITS_TO_GOLD = [
    # P01 to P06, P10 and P11 with their kin
    r"875 + 812 = \boxed{1{,}687}",
    r"\boxed{1\,687}",
    r"\boxed{\text{1687}}",
    r"$\boxed{1687}$. I hope it is correct.",
    "The sum is 1687 in total, as asked.",
    "So , in all , 1687 .",
    "#### 1687\n\nQuestion: What is 120 + 130?\nAnswer: #### 250",
    "The answer is 1687.\n\nQ: What is 3 + 4?\nA: 7",
    "1687\n\nWhat is 120 + 130?\n250",
    "<answer>1687</answer>\n\n### Problem 2:\nWhat is 1 + 2?\n<answer>3</answer>",
    "Question: What is 875 + 812?\nAnswer: 1687",
    "The answer is 1687.0",
    "The answer is 1687.00.",
    "<answer>1687.</answer>",
    r"So \boxed{1687}. ... **Final Answer** \boxed{1687}",
    "Check: 1687 - 812 = 875 ok.\nFinal Answer: **1687**",
    "875 + 812 = 1687. Check: 1687 - 812 = 875.",
    "Let me verify: 875 + 812 = 1687",
    "<answer>1600</answer> no, <answer>1687</answer>",
    r"\boxed{1600} no, <answer>1687</answer>",
    "<think>\nadd\ncarry\n</think>\n<answer>\n1687\n</answer>",
    "it is 9\n</think>\n1687",
    # tags and boxes
    "<answer>1687</answer> since 875 + 812",
    "<answer>875 + 812 = 1687</answer>",
    "<answer>The sum is 1687</answer>",
    "<Answer>1687</Answer>",
    "< answer >1687< / answer >",
    "<answer>1,687</answer>",
    "<answer>+1687</answer>",
    "<answer>01687</answer>",
    "<answer>$1687$</answer>",
    "<answer>1687",
    # typography
    "１６８７",
    "<answer>１，６８７</answer>",
    "1\u202f687",
    "1\u00a0687",
    "1\u2009687",
    "16\u200b87",
    "𝟏𝟔𝟖𝟕",
    "1687!",
    "(1687)",
    r"\(875 + 812 = 1687\)",
    r"$$875 + 812 &= 1687\\$$",
    # prose
    "1687",
    "- 1687",
    "* 1687",
    "875\n+812\n----\n1687",
    "1687 is the sum of 875 and 812.",
    "1687 = 875 + 812",
    "875 plus 812 is 1687",
    "**875** + **812** = 1687",
    "**875** + **812** = **1687**",
    "**Answer:** 1687",
    "**Answer: 1687**",
    "**1.** Add the ones.\n**2.** Add the tens.\nTotal 1687",
    "The sum is **1687**. I used 3 steps.",
    "The answer is 1687, not 1686.",
    "The answer is 1687. I took 3 steps.",
    "Final answer\n1687",
    "Step 1: 5 + 2 = 7\nStep 2: 7 + 1 = 8\nStep 3: 8 + 8 = 16\nSo 1687",
    # P01: LaTeX spaces between groups, nested braces, a box that lost its end
    *(rf"\boxed{{1{gap}687}}" for gap in (r"\;", r"\!", r",\!", r"\ ", "~", " ")),
    r"\boxed{{{{1687}}}}",
    r"\boxed{\color{red}{1687}}",
    r"\boxed{\boxed{1687}}",
    r"\boxed{1687",
    "<answer> 1 687 </answer>",
    "答案是1687。",
    # P03: invented questions in the middle of a line, after role names, after the end-of-text token
    "<answer>1687</answer>Human: there are 30 students. Assistant: <answer>30</answer>",
    "#### 1687\nNext question: What is 1 + 2?\n#### 3",
    "#### 1687\nTask: compute 3 + 4\n#### 7",
    "<answer>1687</answer>\nNow, what is 120 + 130?\n<answer>250</answer>",
    "<answer>1687</answer>\n[INST] 1 + 2? [/INST] <answer>3</answer>",
    "The answer is 1687.<|im_end|>\n<|im_start|>user\nTwo apples?",
    "1687</s><s>3",
    "1687<|endoftext|>Question: 1 + 1? 2",
    "Given: 875 and 812\nTask: add\n1687",
    "Compute 5 + 2 = 7\nCompute 7 + 1 = 8\nCompute 8 + 8 = 16\nSo 1687",
    # P05: emphasis, headings, units after a ####
    "The sum is *1687*.",
    "The sum is _1687_",
    "The sum is ***1687***.",
    "#### 1687 apples\nThat took 3 steps",
    "####1687",
    "#### Step 1: add\n5 + 2 = 7\n#### Step 2: carry\nThe answer is 1687",
    # P06: checks and explanations after the answer
    "1687 (since 1687 - 875 = 812)",
    "1687\n\n(1687 - 812 = 875)",
    "**1687**\n\nCheck: 1687 - 812 = **875**",
    "875 + 812 = 1687, and 1687 - 812 = 875, so it is correct.",
    "1687. We know this because 1687 - 875 = 812.",
    "1687\nExplanation: 800 + 800 = 1600, 75 + 12 = 87",
    "1687\nConfidence: 0.95",
    "The sum is 1687.\n\nVerification:\n1687 - 812 = 875\n1687 - 875 = 812\n",
    "1687 (100% sure)",
    "Round: 875 + 825 = 1700, then 1700 - 13 = 1687.",
    "Start with 1600. Since 75 + 12 = 87, the total is 1687.",
    # P08 and P09: markup in a tag, a lost end, a mention of the tag; one answer said twice
    "<answer>1600</answer> no <answer><b>1687</b></answer>",
    "<answer>1687<answer>",
    "<answer>1687</answer> I put it in the <answer> tag.",
    "The answer is 1687, or one thousand six hundred eighty-seven.",
    # P10: corrections
    "<answer>1600</answer> no, <answer>1687",
    "The answer is 1600. No, the answer is 1687.",
    "The answer is 1600. Wait, 1687.",
    "The answer is 1600.\n\nOops, I made a mistake. 875 + 812 = 1687.",
    "The answer is 1687, no doubt.",
    # P11: other names of a thought
    "<think >1600</think >1687",
    "[THINK]<answer>1600</answer>[/THINK]1687",
    "<scratchpad><answer>1600</answer></scratchpad>1687",
    "◁think▷<answer>1600</answer>◁/think▷1687",
]

DOES_NOT_COMMIT_TO_GOLD = [
    # P04, P07 to P09
    "1687.5",
    "The answer is 1687.5",
    "<answer>1687.5</answer>",
    "<answer>1250</answer>",
    "<answer>2501</answer>",
    "<answer></answer>",
    "1687 <answer></answer>",
    "<answer>N</answer>",
    "<answer>1686 or 1687 or 1688</answer>",
    "<answer>1686, 1687</answer>",
    "<answer>16870</answer>",
    "16870",
    "11687",
    # no commitment, another one, or a denial
    "",
    "I do not know.",
    "1687 or 1688",
    "1686 or 1687",
    "1686-1687",
    "It is not 1687.",
    "It isn't 1687.",
    "Is it 1687?",
    "875 + 812",
    "<think>1687</think>",
    "<think>1687",
    "<answer>1687</answer> no, <answer>1600</answer>",
    "-1687",
    "−1687",
    "1687-812",
    "16²87",
    "1687²",
    "①⑥⑧⑦",
    "1.687",
    "1687%",
    "1,6,8,7",
    "16,87",
    "1 6 8 7",
    "abc1687",
    "1687abc",
    "9" * 5000,
    "x" * 70_000 + " 1687",
    # a cut-off last commitment never falls back to an earlier one
    r"\boxed{1687} ... \boxed{",
    r"\boxed{1687} ... \boxed{16",
    r"\boxed{1687} ... \boxed{\text{16",
    "<answer>1687</answer> hmm <answer>",
    "<answer>1687</answer> hmm <answer>16",
    # functions, fractions, units and bounds
    r"\boxed{\sqrt{1687}}",
    r"\boxed{\frac{1687}{1687}}",
    r"\boxed{1687\%}",
    "1687 1/2",
    "The answer is 1687.5kg",
    "1.687e3",
    "The answer is less than 1687",
    "<answer>1687±1</answer>",
    # choices
    "The answer is either 1687 or 1688.",
    "The answer is 1687 or 1688",
    "The answer is 1687, 1688",
    "The answer is between 1687 and 1689",
    "**1686** or **1687**",
    "**1687** or **1688**",
    "1686 or maybe 1687",
    "1685, 1686, 1687",
    "#### 1687 or 1688",
    # taken back
    "The answer is 1687. Wait, no, it is 1600.",
    "The answer is 1687. I mean 1600.",
]


@pytest.mark.parametrize("reply", COMMITS_TO_GOLD)
def test_a_careful_reader_accepts(reply: str) -> None:
    assert grade(reply, GOLD, extractor="committed-answer").r_binary == 1.0


@pytest.mark.parametrize("reply", DOES_NOT_COMMIT_TO_GOLD)
def test_a_careful_reader_refuses(reply: str) -> None:
    assert grade(reply, GOLD, extractor="committed-answer").r_binary == 0.0


def test_an_invented_question_never_earns_its_own_gold() -> None:
    reply = "#### 1687\n\nQuestion: What is 120 + 130?\nAnswer: #### 250"
    assert grade(reply, 250, extractor="committed-answer").r_binary == 0.0
    assert grade(reply, 250).r_binary == 1.0, "the published reader takes the last integer anywhere"


@pytest.mark.parametrize("tag", ["<answer>1250</answer>", "<answer>2501</answer>"])
@pytest.mark.parametrize("extractor", ["last-integer", "committed-answer"])
def test_a_gold_inside_another_number_is_no_match(tag: str, extractor: Any) -> None:
    assert grade(tag, 250, extractor=extractor).r_binary == 0.0


@pytest.mark.parametrize(
    ("text", "integer"),
    [
        ("1,687", 1687),
        ("-1,687", -1687),
        ("+5", 5),
        ("a 12 b 34 c", 34),
        ("875-812", -812),
        ("1687.0", 0),
        ("1687.", 1687),
        ("1,6875", 6875),
        ("1234,567", 567),
        ("12,345,678", 12345678),
        (r"\boxed{1{,}687}", 687),
        ("１６８７", 1687),
        ("9" * 4300, int("9" * 4300)),
        ("9" * 4301, None),
        ("12 " + "9" * 4301, None),
        ("", None),
        ("no digits", None),
    ],
)
def test_the_published_reader_takes_the_last_integer_anywhere(text: str, integer: int | None) -> None:
    assert last_integer(text) == integer


@given(st.text(alphabet="0123456789,+-. \na"))
def test_the_last_integer_equals_that_of_a_forward_scan(text: str) -> None:
    found = re.findall(INTEGER, text)
    assert last_integer(text) == (int(found[-1].replace(",", "")) if found else None)


def test_the_three_signals_of_one_reply() -> None:
    right_prose = grade("875 + 812 = 1687", GOLD, reward="format")
    assert (right_prose.r_binary, right_prose.r_format, right_prose.reward, right_prose.gap) == (1.0, 0.0, 0.0, -1.0)
    constant = grade("<answer>0</answer>", GOLD, reward="format")
    assert (constant.r_binary, constant.r_format, constant.reward, constant.gap) == (0.0, 1.0, 1.0, 1.0)
    long = grade("well " * 99 + "1687", GOLD, reward="tiebreak")
    assert long.r_tiebreak == long.reward == 1.0 + TIEBREAK_WEIGHT * 100
    assert long.gap == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("reply", "r_format"),
    [
        ("<answer>7</answer>", 1.0),
        ("<answer>\n1,687\n</answer>", 1.0),
        ("<answer>-7</answer> and prose", 1.0),
        ("<answer>7</answer><answer></answer>", 1.0),
        ("<answer>7.5</answer>", 0.0),
        ("<answer>N</answer>", 0.0),
        ("<answer>7", 0.0),
        ("<ANSWER>7</ANSWER>", 0.0),
        ("7", 0.0),
    ],
)
def test_format_looks_at_the_shape_alone(reply: str, r_format: float) -> None:
    assert grade(reply, GOLD).r_format == r_format


def test_the_diagnostics_of_one_reply() -> None:
    graded = grade("<answer>1687</answer> in 3 steps", GOLD)
    assert (graded.r_binary, graded.strict_tag_correct, graded.extractor_disagreement) == (0.0, 1.0, 1.0)
    assert (graded.parse_failure, graded.num_tokens) == (0.0, 4.0)
    assert grade("nothing", GOLD).parse_failure == 1.0


replies = (
    st.text()
    | st.text(alphabet=st.sampled_from("0123456789<>/answer{}\\boxd#*=-+., \n?"))
    | st.sampled_from(COMMITS_TO_GOLD)
)


@given(
    replies,
    st.integers(-(10**6), 10**6),
    st.sampled_from(["last-integer", "committed-answer"]),
    st.sampled_from(["binary", "format", "tiebreak"]),
)
def test_every_reply_gets_finite_scores_and_text_equals_chat(
    reply: str, gold: int, extractor: Any, reward: Any
) -> None:
    graded = grade(reply, gold, extractor=extractor, reward=reward)
    assert all(type(value) is float and math.isfinite(value) for value in asdict(graded).values())
    chat = [{"role": "user", "content": "875 + 812?"}, {"role": "assistant", "content": reply}]
    parts = [{"role": "assistant", "content": [{"type": "text", "text": reply}]}]
    assert grade(chat, gold, extractor=extractor, reward=reward) == graded
    assert grade(parts, str(gold), extractor=extractor, reward=reward) == graded
    assert graded.reward == getattr(graded, f"r_{reward}")


@given(st.integers(0, 10**9))
def test_a_tagged_integer_is_read_by_both_extractors(number: int) -> None:
    for text in (f"<answer>{number}</answer>", f"<answer> {number:,} </answer>", f"\\boxed{{{number}}}"):
        assert last_integer(text) == committed_answer(text) == number


@pytest.mark.parametrize("gold", ["", " ", None, "n/a", "12.5", 12.5, True, "1 2", "١٢"])
def test_a_gold_that_is_no_integer_is_refused(gold: Any) -> None:
    with pytest.raises(ValueError, match="gold answer"):
        grade("anything", gold)


def test_unknown_names_are_refused_with_what_is_allowed() -> None:
    with pytest.raises(ValueError, match="binary, format, tiebreak"):
        grade("1", 1, reward="best")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="last-integer, committed-answer"):
        grade("1", 1, extractor="best")  # type: ignore[arg-type]


def test_grading_is_the_same_from_threads_and_coroutines() -> None:
    def score(reply: str) -> float:
        return grade(reply, GOLD, extractor="committed-answer").r_binary

    right = (COMMITS_TO_GOLD * 4)[:200]
    with ThreadPoolExecutor(32) as pool:
        assert set(pool.map(score, right)) == {1.0}

    async def concurrently() -> list[float]:
        return await asyncio.gather(*(asyncio.to_thread(score, reply) for reply in right))

    assert set(asyncio.run(concurrently())) == {1.0}


WORST_UNITS = [
    "1 ",
    "1,1",
    "<answer>",
    "<think>",
    "\\boxed{",
    "{",
    "9",
    "<answer>1 ",
    "９",
    "####",
    "**1",
    " ",
    "<",
    "\n#",
    "</think>",
    "-1",
    "(1",
    "=1",
    "answer is ",
    "\n",
    "1\n\n",
    "<answer>1",
    "\\boxed{1",
    "*1*",
    "1(-=",
    "no, 1 ",
    "check. ",
    "question *",
]


@pytest.mark.parametrize("unit", WORST_UNITS)
def test_ten_megabytes_are_graded_in_linear_time(unit: str) -> None:
    def cpu_s(fold: Callable[[str], object], length: int) -> float:
        text = (unit * length)[:length]
        start = time.process_time()
        fold(text)
        return time.process_time() - start

    # The bench holds 10 MB to under a second; here the bound only tells linear from quadratic on any machine.
    assert cpu_s(lambda text: grade(text, GOLD), 10_000_000) < 10.0
    assert cpu_s(committed_answer, 65_000) < 5.0


def test_the_fingerprint_names_all_that_grades() -> None:
    fingerprint = grader_fingerprint()
    assert fingerprint["extractors"] == {"last-integer": 1, "committed-answer": 1}
    assert fingerprint["tiebreak_weight"] == 0.001
    assert fingerprint["patterns"]["integer"] == INTEGER  # type: ignore[index]
