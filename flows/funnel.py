"""The funnel of a campaign as a picture: everyone, added, invited, and who needs a person."""

from base64 import b64encode
from collections.abc import Mapping

WIDE, HIGH = 640, 34  # of one bar, in pixels
LEFT, RIGHT = 110, 90  # room for words and numbers
DONE, DOUBT, REFUSED = "#2563eb", "#d97706", "#dc2626"
# Readable on the light and on the dark page of Prefect alike.
WORDS = "#808898"
REST = "#80889840"


def funnel(counts: Mapping[str, int], *, send: bool) -> str:
    """Draw the counts of a status object, as the text of one SVG picture of about 2 KB."""
    whole = counts["candidates"]
    rows = [("candidates", whole, 0, 0), ("added", counts["added"], 0, 0)]
    if send:
        rows.append(("invited", counts["invited"], counts["unsure"], counts["refused"]))
    else:
        rows[1] = ("added", counts["added"], counts["unsure"], counts["refused"])
    bars = "".join(_bar(place, whole, row) for place, row in enumerate(rows))
    height = len(rows) * HIGH + 6
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {height}" '
        f'width="{WIDE}" height="{height}" font-family="system-ui, sans-serif" font-size="14">'
        f"{bars}</svg>"
    )


def _bar(place: int, whole: int, row: tuple[str, int, int, int]) -> str:
    name, done, unsure, refused = row
    room = WIDE - LEFT - RIGHT
    y = place * HIGH + 6
    drawn = [
        f'<text x="{LEFT - 10}" y="{y + 16}" text-anchor="end" fill="{WORDS}">{name}</text>',
        f'<rect x="{LEFT}" y="{y}" width="{room}" height="22" rx="3" fill="{REST}"/>',
    ]
    start = float(LEFT)
    for number, colour in ((done, DONE), (unsure, DOUBT), (refused, REFUSED)):
        if number and whole:
            # One person among thousands is still seen.
            width = max(room * number / whole, 3.0)
            drawn.append(
                f'<rect x="{start:.1f}" y="{y}" width="{width:.1f}" height="22" rx="3" '
                f'fill="{colour}"/>'
            )
            start += width
    drawn.append(f'<text x="{WIDE - RIGHT + 10}" y="{y + 16}" fill="{WORDS}">{done:,}</text>')
    return "".join(drawn)


def as_markdown_image(picture: str, words: str) -> str:
    """Embed a picture in a page of Markdown, with words for whoever cannot see it."""
    encoded = b64encode(picture.encode()).decode()
    return f"![{words}](data:image/svg+xml;base64,{encoded})"
