"""How clusters are dealt to tasks."""

from election_replay.jobs.replaying.source_delta import CheckpointedSource, UpdatedSource, splits_by_cluster


def updated(cluster: str, events: int, nodes: int = 3) -> list[UpdatedSource]:
    """New events of a cluster, the same number at each node."""
    return [UpdatedSource(cluster, f"n{number}", events // nodes, (), None) for number in range(nodes)]


def known(cluster: str, nodes: int) -> list[CheckpointedSource]:
    """Nodes with a state."""
    return [CheckpointedSource(cluster, f"n{number}", 1, None) for number in range(nodes)]


def test_a_busy_cluster_is_dealt_to_all_tasks_and_small_ones_stay_together() -> None:
    small = [one for number in range(97) for one in updated(f"c{number}", 3)]
    assert splits_by_cluster([*small, *updated("hot", 1_000_000)], [], 8) == {"hot": 8}


def test_a_large_cluster_without_news_is_dealt_too() -> None:
    assert splits_by_cluster([], known("large", 500), 8) == {"large": 8}
    assert splits_by_cluster(updated("small", 30), known("large", 500), 8) == {"large": 8, "small": 8}


def test_no_cluster_needs_no_task() -> None:
    assert splits_by_cluster([], [], 8) == {}
