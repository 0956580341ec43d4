"""Commands in messages can be typed as they are printed."""

from pathlib import Path

import pytest

from config.command_line import command

DASHED = "-ada@example.com"


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (("plan", Path("my people.csv")), "plan 'my people.csv'"),
        (("plan", Path("-x.csv")), "plan ./-x.csv"),
        (("allow", "k", "a@b.de", "--why", "TEXT"), "allow k a@b.de --why TEXT"),
        (("allow", "k", DASHED, "--why", "TEXT"), f"allow k --why TEXT -- {DASHED}"),
        (("forget", "-a@b.de", "c@d.de", "--c@d.de"), "forget c@d.de -- -a@b.de --c@d.de"),
        # As somebody typed it, with what is still needed.
        (("resend", "k", "--", DASHED, "a@b.de", "--yes"), f"resend k --yes -- {DASHED} a@b.de"),
        (("correct", "k", "--", DASHED, "--a@b.de"), f"correct k -- {DASHED} --a@b.de"),
        (("check", "--", "--x.yaml", "--json"), "check --json -- --x.yaml"),
        (("settle", "k", "--candidate", f"{DASHED}=5"), f"settle k --candidate {DASHED}=5"),
        (("settle", "k", "--candidate=-a@b.de=5", "--yes"), "settle k --candidate=-a@b.de=5 --yes"),
    ],
)
def test_an_address_that_begins_with_a_dash_is_no_option(
    words: tuple[object, ...], printed: str
) -> None:
    """It stands behind `--`, and every option before that; options keep their values."""
    assert command(*words) == f"campaign {printed}"
