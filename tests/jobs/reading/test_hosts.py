"""Members named by their hosts."""

from election_replay.jobs.reading.hosts import by_host


def test_a_folder_of_any_name_is_a_host() -> None:
    members = [{"node": "3", "source_node": r"a\g<9"}, {"node": "94100e3dc3242489", "source_node": "birch"}]
    assert by_host(r"3 (a\g<9, epoch 2) led.", members) == r"a\g<9 (epoch 2) led."
    assert (
        by_host("94100e3d (birch) is down, 94100e3dc3242489 is removed.", members) == "birch is down, birch is removed."
    )
