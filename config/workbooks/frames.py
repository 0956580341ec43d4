"""How sheets are sent from the process that reads them: a length, then plain values, piece by
piece.

The pieces, in order: ("book", from_1904, [(name, hidden), …]); for each sheet that is read
("sheet", position), ("rows", [(number, cells), …]) …, ("layout", hidden rows, merged areas, links,
struck cells);
and last ("end",), or instead of the rest ("unfit", sentence, [sheet, cell]).
"""

import marshal
import struct
from collections.abc import Iterator
from typing import IO, Any

BOOK, SHEET, ROWS, LAYOUT, END, UNFIT = "book", "sheet", "rows", "layout", "end", "unfit"

_LENGTH = struct.Struct("<I")


def write(stream: IO[bytes], *piece: Any) -> None:
    packed = marshal.dumps(piece)
    stream.write(_LENGTH.pack(len(packed)))
    stream.write(packed)


def read(stream: IO[bytes]) -> Iterator[bytes]:
    """Receive the pieces, still packed, until one does not arrive whole."""
    while len(length := stream.read(_LENGTH.size)) == _LENGTH.size:
        (size,) = _LENGTH.unpack(length)
        packed = stream.read(size)
        if len(packed) < size:
            return
        yield packed


def unpacked(packed: bytes) -> tuple[Any, ...]:
    """Open a piece. They come from our own program, never from a file."""
    piece: tuple[Any, ...] = marshal.loads(packed)  # noqa: S302
    return piece
