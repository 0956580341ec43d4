"""Promise 50: in which encoding a table is read."""

import re
from collections.abc import Callable

from tests.promises.support import corpora
from tests.promises.support.commands import Campaign
from tests.promises.support.service import Service


def test_50_an_encoding_is_never_guessed(
    campaign: Campaign, sandbox: Callable[..., Service]
) -> None:
    """The question shows its words as each encoding would read them; one of them is written."""
    service = sandbox()
    rows = "first_name,last_name,email1\nŁukasz,Żółć,lukasz@people.test\n"
    (campaign.folder / "people.csv").write_bytes(rows.encode("cp1250"))
    definition = corpora.write(campaign, "hiring", candidates={"file": "people.csv"})
    [question] = campaign("check", definition, "--json").json()["problems"]
    shown = dict(re.findall(r'([\w-]+) ("[^"]*")', question["message"]))
    assert shown["windows-1250"] == '"Łukasz Żółć"'
    assert len({*shown.values()}) == len(shown) > 1
    assert campaign("run", definition, "--yes").code == 2
    assert service.changes() == []
    people = {"file": "people.csv", "encoding": "windows-1250"}
    corpora.write(campaign, "hiring", candidates=people)
    assert campaign("run", definition, "--yes").code == 0
    assert [row["last_name"] for row in corpora.sent(service)["hiring"]] == ["Żółć"]
