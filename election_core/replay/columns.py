"""Columns of Arrow as Python values."""

import pyarrow as pa


def texts(column: pa.Array) -> list[str | None]:
    """A column of texts, each distinct one of which is made once: it is then compared and hashed sooner, too."""
    encoded = column.dictionary_encode("encode")
    words = encoded.dictionary.to_pylist()
    return [words[number] for number in encoded.indices.to_pylist()]
