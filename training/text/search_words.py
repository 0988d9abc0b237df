"""Text of captions and queries as input of the text encoder: word ids and hashed character n-grams of every word.

Words outside the vocabulary keep their n-grams, so that a misspelt word lies near the right one (Bojanowski et al.,
"Enriching word vectors with subword information", TACL 2017). The service has the same functions in TypeScript.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

import numpy as np

from training.contract import BUCKETS, END, MAX_WORDS, PAD, UNK

GRAM_SIZES = (3, 4, 5)
GRAMS_PER_WORD = 24
LONGEST_WORD = 32  # characters
_WORD = re.compile(r"[^\W_]+")


def words_of(text: str) -> list[str]:
    """Runs of letters and digits, in lower case; at most MAX_WORDS - 1."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).lower())[: MAX_WORDS - 1]


def hashed(gram: str) -> int:
    """FNV-1a with 32 bits over the UTF-8 bytes, as a row 1 .. BUCKETS - 1."""
    value = 2166136261
    for byte in gram.encode():
        value = ((value ^ byte) * 16777619) & 0xFFFFFFFF
    return 1 + value % (BUCKETS - 1)


@lru_cache(maxsize=20_000)
def grams_of(word: str) -> tuple[int, ...]:
    """Rows of a word's n-grams, shorter ones first: GRAMS_PER_WORD, filled with 0."""
    text = f"<{word[:LONGEST_WORD]}>"
    grams = [text[i : i + n] for n in GRAM_SIZES for i in range(len(text) - n + 1)][:GRAMS_PER_WORD]
    return (*map(hashed, grams), *[0] * (GRAMS_PER_WORD - len(grams)))


class SearchWords:
    """Encodes texts with a vocabulary whose first four entries are the special tokens."""

    def __init__(self, vocabulary: list[str]):
        self.vocabulary = vocabulary
        self.word = {word: i for i, word in enumerate(vocabulary)}

    def encode(self, text: str) -> tuple[list[int], list[tuple[int, ...]]]:
        """ids [MAX_WORDS] and n-gram rows [MAX_WORDS,GRAMS_PER_WORD]."""
        words = words_of(text)
        ids = [*(self.word.get(word, UNK) for word in words), END]
        none = (0,) * GRAMS_PER_WORD
        missing = MAX_WORDS - len(ids)
        return ids + [PAD] * missing, [*map(grams_of, words)] + [none] * (missing + 1)

    def batch(self, texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
        """int64 [Q,MAX_WORDS] and [Q,MAX_WORDS,GRAMS_PER_WORD]."""
        ids, grams = zip(*map(self.encode, texts))
        return np.array(ids), np.array(grams)


def misspelt(text: str, rng: np.random.Generator) -> str:
    """One letter of a long word left out, doubled or exchanged with the next."""
    words = text.split()
    long = [i for i, word in enumerate(words) if len(word) > 3]
    if not long:
        return text
    at = long[int(rng.integers(len(long)))]
    word, i = words[at], int(rng.integers(1, len(words[at]) - 1))
    words[at] = (
        word[:i] + word[i + 1 :],
        word[:i] + word[i] + word[i:],
        word[:i] + word[i + 1] + word[i] + word[i + 2 :],
    )[int(rng.integers(3))]
    return " ".join(words)
