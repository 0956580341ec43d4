"""The funnel of a campaign as a picture: everyone, added, invited, and who needs a person."""

from collections.abc import Mapping
from dataclasses import dataclass

WIDE, HIGH = 640, 34  # of one bar, in pixels
LEFT, RIGHT = 110, 90  # room for words and numbers


@dataclass(frozen=True, slots=True)
class Colours:
    """What each part is painted with, as SVG wants it."""

    done: str
    doubt: str
    refused: str
    words: str
    rest: str


# Readable on the light and on the dark page of Prefect alike.
ANYWHERE = Colours("#2563eb", "#d97706", "#dc2626", "#808898", "#80889840")


def funnel(counts: Mapping[str, int], *, send: bool, colours: Colours = ANYWHERE) -> str:
    """Draw the counts of a status object, as the text of one SVG picture of about 2 KB."""
    whole = counts["candidates"]
    rows = [("candidates", whole, 0, 0), ("added", counts["added"], 0, 0)]
    if send:
        rows.append(("invited", counts["invited"], counts["unsure"], counts["refused"]))
    else:
        rows[1] = ("added", counts["added"], counts["unsure"], counts["refused"])
    bars = "".join(_bar(place, whole, row, colours) for place, row in enumerate(rows))
    height = len(rows) * HIGH + 6
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {height}" '
        f'width="{WIDE}" height="{height}" font-family="system-ui, sans-serif" font-size="14">'
        f"{bars}</svg>"
    )


def _bar(place: int, whole: int, row: tuple[str, int, int, int], colours: Colours) -> str:
    name, done, unsure, refused = row
    room = WIDE - LEFT - RIGHT
    y = place * HIGH + 6
    words = f'fill="{colours.words}"'
    drawn = [
        f'<text x="{LEFT - 10}" y="{y + 16}" text-anchor="end" {words}>{name}</text>',
        f'<rect x="{LEFT}" y="{y}" width="{room}" height="22" rx="3" fill="{colours.rest}"/>',
    ]
    start = float(LEFT)
    for number, colour in (
        (done, colours.done),
        (unsure, colours.doubt),
        (refused, colours.refused),
    ):
        if number and whole:
            # One person among thousands is still seen.
            width = max(room * number / whole, 3.0)
            drawn.append(
                f'<rect x="{start:.1f}" y="{y}" width="{width:.1f}" height="22" rx="3" '
                f'fill="{colour}"/>'
            )
            start += width
    drawn.append(f'<text x="{WIDE - RIGHT + 10}" y="{y + 16}" {words}>{done:,}</text>')
    return "".join(drawn)
