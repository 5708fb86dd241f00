"""Digests tell sources and texts apart."""

import pytest

from envkit.fingerprint import source_digest, text_digest


def test_lists_of_texts_with_the_same_letters_differ() -> None:
    digests = {text_digest("ab"), text_digest("a", "b"), text_digest("", "ab"), text_digest("ab", ""), text_digest()}
    assert len(digests) == 5


def test_a_digest_is_stable_and_takes_any_text() -> None:
    assert text_digest("a") == text_digest("a")
    assert len(text_digest("\ud800")) == 64


def test_the_source_of_modules_is_digested_in_order() -> None:
    assert source_digest("envkit.reply") != source_digest("envkit.fingerprint")
    assert source_digest("envkit.reply", "envkit.fingerprint") != source_digest("envkit.fingerprint", "envkit.reply")
    with pytest.raises(ModuleNotFoundError):
        source_digest("envkit.no_such_module")
