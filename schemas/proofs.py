"""Expectations that several tables share: values in order, and events that exist."""

from election_replay.schemas.model import Expectation


def in_order(table: str, *pairs: tuple[str, str]) -> Expectation:
    """Expect that in each pair of columns the first is not greater than the second."""
    return Expectation(
        name="in_order",
        says=", ".join(f"{first} is not after {second}" for first, second in pairs) + ".",
        failing=f"SELECT * FROM {table} WHERE " + " OR ".join(f"{first} > {second}" for first, second in pairs),
    )


def proofs_exist(table: str, *columns: str) -> Expectation:
    """Expect that the events that ``columns`` name are in ``silver.events``, in the same cluster."""
    return _exist(table, " UNION ALL ".join(f"SELECT *, {name} AS proof FROM {table}" for name in columns), columns)


def listed_proofs_exist(table: str, column: str = "evidence") -> Expectation:
    """Expect that all events listed in ``column`` are in ``silver.events``, in the same cluster."""
    return _exist(table, f"SELECT *, unnest({column}) AS proof FROM {table}", (column,))


def _exist(table: str, proofs: str, columns: tuple[str, ...]) -> Expectation:
    return Expectation(
        name="proofs_exist",
        says=f"Every event that {' or '.join(columns)} of {table} names is in events.",
        failing=f"SELECT named.* FROM ({proofs}) AS named ANTI JOIN events "
        "ON events.cluster = named.cluster AND events.event_id = named.proof WHERE named.proof IS NOT NULL",
        proofs=f"SELECT cluster, proof FROM ({proofs})",
    )
