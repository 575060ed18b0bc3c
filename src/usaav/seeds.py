"""Random generators from keys: what is drawn depends on what it is for, never on the order of drawing."""

from __future__ import annotations

import hashlib
import json

import numpy as np


def generator(*key: str | int) -> np.random.Generator:
    """A generator that depends on `key` alone, such as ``("tokens", "rope", settings, 3)``.

    The key's JSON text is hashed (SHA-256) and the digest's eight 32-bit words, little-endian, are the
    entropy of a ``numpy.random.SeedSequence`` that feeds a PCG64. So seed k draws the same alone or among
    others, in any process, on any machine, and different keys give independent streams.

    Parameters
    ----------
    key
        Words and whole numbers, at least one; ``1`` and ``"1"`` are different.

    Raises
    ------
    TypeError
        A part of the key is neither text nor a whole number.
    """
    if not key or any(isinstance(part, bool) or not isinstance(part, (str, int)) for part in key):
        raise TypeError(f"the key of a generator is one or more words and whole numbers, not {key!r}")
    text = json.dumps(list(key), ensure_ascii=True, separators=(",", ":"))
    words = np.frombuffer(hashlib.sha256(text.encode("ascii")).digest(), dtype="<u4")
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([int(word) for word in words])))
