"""Arrow columns as Python values."""

import pyarrow as pa


def texts(column: pa.Array) -> list[str | None]:
    """Return a column of strings as Python values; equal strings are one object, so comparing and hashing is faster."""
    encoded = column.dictionary_encode("encode")
    words = encoded.dictionary.to_pylist()
    return [words[number] for number in encoded.indices.to_pylist()]
