"""The container of an .xls, a compound file: a small file system of sectors (MS-CFB)."""

import struct
from collections.abc import Iterator

from config.workbooks.shapes import DAMAGED, Unfit

HEADER = 512
ENTRY = 128
SHORT_SECTOR = 64
LAST_SECTOR = 0xFFFFFFFA  # higher numbers mark free sectors and the ends of chains
LISTED_IN_HEADER = 109


def stream_of(data: bytes, *names: str) -> bytes:
    """Return the first stream with one of these names.

    Raises Unfit if there is none; struct.error or IndexError for a damaged file.
    """
    size = 1 << struct.unpack_from("<H", data, 30)[0]
    if size not in {512, 4096}:
        raise Unfit(DAMAGED)
    directory, _, cutoff, short_table = struct.unpack_from("<IIII", data, 48)
    table = _table(data, size)
    entries = b"".join(_sectors(data, size, table, directory, HEADER))
    root: tuple[int, int] | None = None
    places: dict[str, tuple[int, int]] = {}
    for at in range(0, len(entries) - ENTRY + 1, ENTRY):
        length = struct.unpack_from("<H", entries, at + 64)[0]
        name = entries[at : at + max(length - 2, 0)].decode("utf-16-le", "replace")
        place = struct.unpack_from("<II", entries, at + 116)
        root = root or place
        places.setdefault(name, place)
    start, length = next((places[name] for name in names if name in places), (0, 0))
    if root is None or not length:
        raise Unfit(DAMAGED)
    if length >= cutoff:
        return b"".join(_sectors(data, size, table, start, HEADER))[:length]
    # Short streams share the root's own stream, in sectors of their own.
    shared = b"".join(_sectors(data, size, table, root[0], HEADER))
    packed = b"".join(_sectors(data, size, table, short_table, HEADER))
    short = struct.unpack(f"<{len(packed) // 4}I", packed)
    return b"".join(_sectors(shared, SHORT_SECTOR, short, start, 0))[:length]


def _table(data: bytes, size: int) -> tuple[int, ...]:
    """Return which sector follows each sector."""
    listed = list(struct.unpack_from(f"<{LISTED_IN_HEADER}I", data, 76))
    further, count = struct.unpack_from("<II", data, 68)
    for _ in range(min(count, len(data) // size)):
        if further >= LAST_SECTOR:
            break
        *more, further = struct.unpack_from(f"<{size // 4}I", data, HEADER + further * size)
        listed += more
    sectors = (HEADER + sector * size for sector in listed if sector < LAST_SECTOR)
    packed = b"".join(data[at : at + size] for at in sectors)
    return struct.unpack(f"<{len(packed) // 4}I", packed[: len(packed) // 4 * 4])


def _sectors(
    data: bytes, size: int, table: tuple[int, ...], sector: int, offset: int
) -> Iterator[bytes]:
    # A chain that is longer than the file is a loop.
    for _ in range(len(data) // size + 1):
        if sector >= LAST_SECTOR:
            return
        at = offset + sector * size
        yield data[at : at + size]
        sector = table[sector]
    raise Unfit(DAMAGED)
