"""What is unsure as a table to fill in, and in words: how far it got and what the service wrote."""

import csv
from collections.abc import Iterable
from io import StringIO
from pathlib import Path

from config.errors import BadInput, Mistake, Place
from data.decisions.doubts import Doubt, Verdict
from data.store.states import Op
from tasks.outputs.exports import guarded
from tasks.service.exchange import Phase

COLUMNS = (
    *("number", "step", "email1", "first_name", "last_name", "sent at", "how far it got"),
    *("answer", "allowed verdicts", "verdict", "id"),
)
STEPS = {
    Op.CREATE: "create the project",
    Op.ATTACH: "attach the problem",
    Op.ADD: "add",
    Op.INVITE: "invite",
}


def how_far(doubt: Doubt) -> str:
    """How far a request got, in words."""
    if doubt.status is not None:
        return f"the service answered {doubt.status}"
    return _REACHED.get(Phase(doubt.phase or 0), "it was sent, and no answer came")


def told(doubt: Doubt) -> str:
    """One doubt on one line, with its evidence."""
    name = f" {doubt.first_name} {doubt.last_name}".rstrip()
    whom = f" {doubt.email1}{f' ({name.strip()})' if name else ''}" if doubt.email1 else ""
    said = f': "{doubt.answer}"' if doubt.answer else ""
    return f"{STEPS[doubt.op]}{whom}: {how_far(doubt)}{said} (sent {_when(doubt)})"


def as_csv(doubts: Iterable[Doubt]) -> bytes:
    """A table with a column for the verdict; `number` ties each row to the request."""
    text = StringIO(newline="")
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    for each in doubts:
        who = (each.email1, each.first_name, each.last_name)
        seen = (_when(each), how_far(each), each.answer or "", ", ".join(each.words))
        row = (each.part_id, str(each.op), *who, *seen, "", "")
        rows.writerow([guarded(cell) for cell in row])
    return ("\ufeff" + text.getvalue()).encode()


def read_csv(file: Path) -> list[Verdict]:
    """The verdicts that were filled in; a row without one is left as it is. Raises BadInput."""
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise BadInput.at(Place(file), f"cannot be read: {why}") from None
    head = text.partition("\n")[0]
    rows = csv.DictReader(StringIO(text), delimiter=max(",;\t", key=head.count))
    if not {"number", "step", "email1", "verdict"} <= set(rows.fieldnames or ()):
        raise BadInput.at(Place(file, 1), "this is no table of `campaign settle KEY -o doubts.csv`")
    verdicts, mistakes = [], []
    for row in rows:
        if not (row["verdict"] or "").strip():
            continue
        try:
            verdicts.append(_verdict(row))
        except ValueError:
            place = Place(file, rows.line_num)
            mistakes.append(Mistake(place, "number, step or id is not as it was written"))
    if mistakes:
        raise BadInput(mistakes)
    return verdicts


def _verdict(row: dict[str, str]) -> Verdict:
    number = (row.get("id") or "").strip()
    return Verdict(
        word=row["verdict"].strip().lower(),
        email=(row["email1"] or "").strip().lstrip("'"),
        op=Op(row["step"].strip()),
        value=int(number) if number else None,
        part_id=int(row["number"]),
    )


def _when(doubt: Doubt) -> str:
    return f"{doubt.sent_at:%Y-%m-%d %H:%M} UTC"


_REACHED = {
    Phase.NOTHING: "the run ended before an answer came",
    Phase.SENDING: "sending it began, and no answer came",
}
