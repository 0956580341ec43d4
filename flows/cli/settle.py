"""The command `settle`: it takes a person's verdicts by questions, by options, or in a table."""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import typer

from config.errors import command
from data.campaigns.people import known, own_steps
from data.decisions.decisions import By, NotDecided, ReasonMissing
from data.decisions.doubts import Doubt, Settlement, doubts, settle_all
from data.sending.runs import deciding, writing
from data.store.receipts import accept
from data.store.states import BRINGS_ID, OF_PROJECT, OPERATIONS, Op
from flows.cli import words
from flows.cli.decide import KEY, WHY, by_whom
from tasks.doubt_list import described, how_far, read_filled_in, to_fill_in
from tasks.outputs.exports import write_file
from tasks.outputs.overwriting import check_output
from tasks.seen import read_seen

# What is typed after an option to name an unsure step.
NAMES = {
    op: (its.what.removeprefix("the ") if its.own else "EMAIL") + ("=ID" if its.brings_id else "")
    for op, its in OPERATIONS.items()
}


def settle(
    key: str = KEY,
    sent: list[str] = typer.Option(
        [], help="It arrived: EMAIL or problem; EMAIL=ID or project=ID where no id is known."
    ),
    again: list[str] = typer.Option([], help="It did not arrive: the next run sends it again."),
    withdraw_: list[str] = typer.Option([], "--withdraw", help="Send this person nothing more."),
    project: str | None = typer.Option(None, help="The id of the project created, or: again"),
    problem: str | None = typer.Option(None, help="attached, or: again"),
    output: Path | None = typer.Option(None, "-o", "--output", help="Write a table to fill in."),
    filled_in: Path | None = typer.Option(None, "--from", help="Take the verdicts of that table."),
    seen: Path | None = typer.Option(
        None, "--seen", help="Take as sent what a list from the web application shows."
    ),
    accept_ledger: bool = typer.Option(
        False, "--accept-ledger", help="Send from this ledger, although its receipt does not fit."
    ),
    why: str = WHY,
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object."),
    force: bool = typer.Option(False, "--force", help="Overwrite the table, whatever it is."),
) -> int:
    """Settle what is unsure. Nobody but you can find out whether it arrived.

    Example: campaign settle backend-2026 --sent ada@example.org
    """
    if output is not None:
        _check_table(output, force=force)
    by = by_whom(why)
    if accept_ledger:
        if any((sent, again, withdraw_, project, problem, output, filled_in, seen)):
            raise typer.BadParameter("accepting is no verdict; give verdicts in a command before")
        return _accept_ledger(key, by)
    for name, said in (("project", project), ("problem", problem)):
        if said is not None:
            them = again if said == "again" else sent
            them.append(name if said in ("again", "attached") else f"{name}={said}")
    typed = {"sent": sent, "again": again, "withdraw": withdraw_}
    verdicts = [_read(word, each) for word, them in typed.items() for each in them]
    if filled_in is not None:
        verdicts += read_filled_in(filled_in)
    with deciding(key) as (session, campaign):
        open_ = doubts(session, campaign.id)
        name = (campaign.spec or {}).get("project", {}).get("name")
        its = (own_steps(session, campaign.id)[Op.CREATE].service_id, name)
    if seen is not None:
        verdicts += _seen(seen, open_, its)
    from_a_file = filled_in is not None or seen is not None
    is_seen = sys.stdin.isatty() and sys.stdout.isatty() and not as_json
    settled = len(verdicts)
    if open_ and is_seen and not (verdicts or from_a_file or output):
        settled = sum(_settled_at_once(key, *each) for each in _asked(open_, by))
    with deciding(key) as (session, campaign):
        settle_all(session, campaign.id, verdicts, by)
        left = doubts(session, campaign.id)
        file, key = campaign.file, campaign.key
    if output is not None:
        write_file(output, to_fill_in(left), force=force)
    return _settled(key, file, settled, left, output, as_json=as_json)


def _check_table(output: Path, *, force: bool) -> None:
    """Raise BadParameter or NotOurs if the table cannot be written, before anything is decided."""
    if output.suffix.lower() != ".csv":
        raise typer.BadParameter("the table to fill in is a .csv", param_hint="-o")
    check_output(output, force=force)


def _accept_ledger(key: str, by: By) -> int:
    if not by.why:
        raise ReasonMissing
    with writing(create=True) as session:
        accept(session, key.strip().lower(), by.who, by.why)
        campaign = known(session, key)
    print(
        f"This ledger may send {key} now, whatever its receipts said until now, and every campaign "
        "that no newer receipt of its own stops.\nWhat was decided after this copy is lost "
        "for all of them: withdraw, block and forget those people again. Block whoever was invited "
        "since, or delete their row."
    )
    print(words.then("run", campaign.file if campaign else "FILE"))
    return 0


def _seen(file: Path, open_: Sequence[Doubt], project: Sequence[object]) -> list[Settlement]:
    verdicts, left = read_seen(file, open_, project)
    for why, emails in left.items():
        words.aside(f"Stays unsure, {why}: {', '.join(emails)}")
    return verdicts


def _read(word: str, typed: str) -> Settlement:
    """Read what an option names: an address or `problem`, or with an id as in `project=101`."""
    name, _, number = typed.rpartition("=")
    value = int(number) if name and number.isdecimal() else None
    name = typed if value is None else name
    op = next((op for op in OF_PROJECT if NAMES[op].removesuffix("=ID") == name), None)
    return Settlement(word, "" if op else name, op, value)


def _asked(open_: Sequence[Doubt], by: By) -> Iterator[tuple[Settlement, By]]:
    """Ask about each doubt, and for a reason if one is missing; Enter leaves a doubt as it is, or
    takes the reason that was typed last."""
    last = ""
    for number, doubt in enumerate(open_, start=1):
        print(f"{number} of {len(open_)}: {described(doubt)}")
        word, value, mine = None, None, by
        while word not in ("", *doubt.words):
            word = _typed(", ".join(doubt.words)).lower()
        if word == "sent" and doubt.op in BRINGS_ID:
            while not (value == "" or str(value).isdecimal()):
                value = _typed("its id at the service")
        elif word in ("again", "withdraw") and not by.why:
            last = _typed("why", last)
            word, mine = (word if last else ""), replace(by, why=last)
        if word and value != "":
            its_id = int(value) if value else None
            yield Settlement(word, doubt.email1, doubt.op, its_id, doubt.part_id), mine


def _settled_at_once(key: str, verdict: Settlement, by: By) -> bool:
    """Settle a doubt, so that the answer is kept whatever becomes of the next; or say why not."""
    try:
        with deciding(key) as (session, campaign):
            settle_all(session, campaign.id, [verdict], by)
    except NotDecided as error:
        for about, why in error.objections:
            words.aside(f"{about} {why}")
        return False
    return True


def _typed(question: str, usual: str = "") -> str:
    asked = question if usual else f"{question} (Enter: decide later)"
    return str(typer.prompt(asked, default=usual, show_default=bool(usual))).strip()


def _settled(
    key: str, file: str, decided: int, left: Sequence[Doubt], output: Path | None, *, as_json: bool
) -> int:
    """Say what was settled and what is not; exit code 3 while something is unsure."""
    if as_json:
        unsure = [
            {
                "step": str(each.op),
                "email1": each.email1 or None,
                "how_far": how_far(each),
                "status": each.status,
                "answer": each.answer,
                "verdicts": list(each.words),
            }
            for each in left
        ]
        whole = {"campaign": key, "settled": decided, "unsure": unsure}
        print(json.dumps(whole, ensure_ascii=False, indent=2))
        return 3 if left else 0
    if decided:
        print(f"{words.counted(decided, 'request')} of {key} settled.")
    if not left:
        print(f"Nothing of {key} is unsure.")
        print(words.then("run", file))
        return 0
    if output is not None:
        print(f"{words.counted(len(left), 'row')} to fill in: {output}. Then type:")
        print(command("settle", key, "--from", output, "--why") + " TEXT")
        return 3
    print(f"{key}: {words.counted(len(left), 'request has', 'requests have')} an unknown result:")
    for each in left:
        print(f"  {described(each)}")
    print("Find out at the service, in its web application, or from the people. Then type one of:")
    for line in _verdicts_to_type(key, left):
        print(f"  {line}")
    return 3


def _verdicts_to_type(key: str, left: Sequence[Doubt]) -> Iterator[str]:
    names = dict.fromkeys(name for op, name in NAMES.items() if op in {each.op for each in left})
    yield from (command("settle", key, "--sent", name) for name in names)
    for name in dict.fromkeys(name.removesuffix("=ID") for name in names):
        yield command("settle", key, "--again", name) + ' --why "TEXT"'
    if any(each.email1 for each in left):
        yield command("settle", key, "--seen", "LIST")
        yield command("settle", key, "-o", "doubts.csv")
