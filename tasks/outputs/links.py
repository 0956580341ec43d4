"""The links of a campaign: where each candidate takes the assessment, for people and programs."""

import tempfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from config.command_line import command
from config.errors import BadSettings
from data.campaigns import forgotten, queries
from data.campaigns.forgotten import is_forgotten
from data.holds import reasons
from data.holds.rule import Held
from data.own_files import CannotWrite, make_folder, refuse_link, write_pieces
from data.store.ledger import Ledger
from data.store.states import Step
from data.store.tables import Campaign, Candidate
from tasks.outputs.exports import Link, Result, as_csv_file, as_html, as_json
from tasks.outputs.page_mark import mark
from tasks.status.standing import furthest, link, why_still

WRITTEN_BY_RUNS = ("links.csv", "links.json")
# What happens next, in addition to the reason in the ledger.
WHY = {
    Step.WAITING: "Not sent yet; the next run continues.",
    Step.SENDING: "Being sent by a run.",
}
FORGOTTEN = Result(
    None,
    None,
    forgotten.WORD,
    "Forgotten on request: take this row out of the sheet.",
    finished=True,
)


def see_where_links_go(output_dir: Path, key: str) -> None:
    """See that a campaign's results can be written before anything is sent. Raises BadSettings."""
    try:
        make_folder(output_dir)
        with tempfile.TemporaryFile(dir=output_dir):
            pass
        for place in (output_dir / key, *(output_dir / key / name for name in WRITTEN_BY_RUNS)):
            refuse_link(place)
    except CannotWrite as error:
        raise _no_place(error.path, error.why) from None
    except OSError as error:
        raise _no_place(output_dir, error.strerror or "unknown cause") from None


def _no_place(path: Path, why: str) -> BadSettings:
    return BadSettings(
        f"{path} cannot be written ({why}), and the results need it. Nothing was sent. "
        "Fix it, or name another folder in CAMPAIGN_OUTPUT_DIR.",
        ["CAMPAIGN_OUTPUT_DIR"],
    )


def links_of(ledger: Ledger, campaign: Campaign) -> list[Link]:
    """One link per candidate, in the definition's order; without a URL until both ids are known."""
    return list(each_link(ledger, campaign))


def each_link(ledger: Ledger, campaign: Campaign) -> Iterator[Link]:
    """The same, read as they are asked for."""
    for _, first_name, last_name, email1, number, invite in queries.whom_to_link(
        ledger, campaign.id
    ):
        yield Link(first_name, last_name, email1, number, link(campaign, number), invite)


def results_of(ledger: Ledger, campaign: Campaign) -> dict[str, Result]:
    """The result of each candidate, by email key, in words for the person who keeps the sheet.

    Forgotten people have no key any more: for a table that still has them, use `forgotten_among`.
    """
    held = ledger.read(reasons.held_in, campaign.id)
    there = (
        row for row in queries.candidates(ledger, campaign.id) if not is_forgotten(row.email_key)
    )
    rows = {row.id: row for row in there}
    results = {row.email_key: _result(row, campaign, held.get(row.id)) for row in rows.values()}
    for row in rows.values():
        if row.corrected_to is not None:
            results[row.email_key] = _corrected(row, rows, results)
    return results


def forgotten_among(ledger: Ledger, campaign: Campaign, keys: Collection[str]) -> dict[str, Result]:
    """The result for those email keys that must not be added: forgotten people, for good."""
    return dict.fromkeys(ledger.read(forgotten.among, keys, campaign.id), FORGOTTEN)


def _corrected(
    row: Candidate, rows: Mapping[int, Candidate], results: Mapping[str, Result]
) -> Result:
    """The result for a person whose row still has the address from before a correction."""
    now = row
    while now.corrected_to is not None:
        now = rows[now.corrected_to]
    result = results[now.email_key]
    why = f"Corrected to {now.email1}." + (f" {result.why}" if result.why else "")
    return replace(result, why=why)


def _result(row: Candidate, campaign: Campaign, held: Held | None) -> Result:
    step = furthest(Step(row.add_state), Step(row.invite_state), send=campaign.send_invites)
    done = "invited" if campaign.send_invites else "added"
    return Result(
        row.candidate_id,
        link(campaign, row.candidate_id),
        done if step is Step.DONE else str(step),
        None if step is Step.DONE else _why(row, step, campaign.key, held),
        finished=step in (Step.DONE, Step.WITHDRAWN),
    )


def _why(row: Candidate, step: Step, key: str, held: Held | None) -> str | None:
    if held is not None:
        return why_still(row, held)
    reason, hint = why_still(row), WHY.get(step)
    if step is Step.UNSURE:
        hint = f"To settle it: {command('settle', key)}"
    return f"{reason.rstrip('.')}. {hint}" if reason and hint else reason or hint or None


def write_links(ledger: Ledger, campaign: Campaign, output_dir: Path) -> Path:
    """Write KEY/links.csv and KEY/links.json in the output folder; returns the CSV's path.

    Raises CannotWrite; the ledger has the links all the same.
    """
    folder = output_dir / campaign.key
    refuse_link(folder)
    write_pieces(folder / "links.json", as_json(each_link(ledger, campaign)))
    write_pieces(folder / "links.csv", as_csv_file(each_link(ledger, campaign)))
    return folder / "links.csv"


def index_page(
    campaign: Campaign, links: list[Link], pages: Mapping[int, str] = MappingProxyType({})
) -> bytes:
    """One page of all candidates; `pages` maps a candidate_id to that candidate's own page."""
    ours = mark("links", campaign.key)
    return as_html(links, title=title_of(campaign), mark=ours, pages=pages)


def title_of(campaign: Campaign) -> str:
    """The name of the assessment, as shown to candidates and read out by screen readers."""
    return campaign.name or "Assessment"
