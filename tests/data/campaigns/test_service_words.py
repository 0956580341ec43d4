"""What the service wrote, as the ledger has it."""

from pathlib import Path

from data.campaigns import service_words
from data.store.states import Operation, Step
from tests.support.ledgers.small_ledger import Small

EVERY = 100  # steps of SQLite's machine between two counts


def steps(folder: Path, people: int) -> int:
    """How long a look for refused credentials takes once so many people are invited, in EVERY."""
    folder.mkdir()
    names = [f"p{number}" for number in range(people)]
    small = Small.at(folder, *names)
    small.add_everybody()
    for row in small.rows().values():
        claimed = small.claim(Operation.INVITE, row)
        assert claimed
        small.land(Operation.INVITE, claimed, Step.DONE, status=200)
    counted = 0

    def count() -> int:
        nonlocal counted
        counted += 1
        return 0

    with small.ledger._transactions.reading() as connection:
        file = connection.connection.driver_connection
        assert file
        file.set_progress_handler(count, EVERY)
        assert service_words.refused_credentials(connection) == []
        file.set_progress_handler(None, EVERY)
    small.ledger.close()
    return counted


def test_four_times_the_people_take_four_times_as_long(tmp_path: Path) -> None:
    """Nobody waits any more: the doctor of 100,000 people took more than nine minutes."""
    few, many = (steps(tmp_path / str(people), people) for people in (40, 160))
    assert 0 < few < many < 6 * few
