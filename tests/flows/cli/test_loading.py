"""How a command begins: Ctrl-C while it is loaded, and where a practice sandbox keeps things."""

import subprocess
import sys

from tests.promises.support.commands import Campaign

BEGINS = "import os, signal, sys; sys.argv[0] = 'campaign'; from flows.cli import loading; "


def test_ctrl_c_while_it_is_loaded_ends_with_a_sentence() -> None:
    program = BEGINS + "os.kill(os.getpid(), signal.SIGINT); print('went on')"
    ended = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )
    assert (ended.returncode, ended.stdout) == (130, "")
    assert ended.stderr == "\nInterrupted before anything began. Nothing was sent.\n"


def test_each_practice_sandbox_has_a_ledger_of_its_own(campaign: Campaign) -> None:
    ledgers = []
    for port in (0, 0):
        stays = campaign.start("sandbox", "--port", port).until_shown("AUDIENCE=")
        [line] = [each for each in stays.shown().splitlines() if "CAMPAIGN_DATABASE_URL" in each]
        ledgers.append(line)
    assert len(set(ledgers)) == 2
    assert len(list(campaign.outputs.rglob("record.jsonl"))) == 2
