"""The wording of a problem."""

from .generator import Problem

INSTRUCTION = "Work it out, then finish with the result in answer tags, like this: <answer>0</answer>"
"""The number shown is outside the answer range of every setting, so copying it never scores."""


def prompt(problem: Problem, instruction: str = INSTRUCTION) -> str:
    """The user message: the question and the instruction; an instruction with `{problem}` is the whole message."""
    template = instruction if "{problem}" in instruction else "What is {problem}?\n" + instruction
    return template.replace("{problem}", problem.expression)
