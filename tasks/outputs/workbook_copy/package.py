"""The parts of a workbook file (.xlsx, .xlsm), how they refer to each other, and a copy of it."""

import zipfile
from collections.abc import Sequence
from io import BytesIO
from itertools import count, islice
from posixpath import basename, dirname, join, normpath, relpath
from xml.sax.saxutils import quoteattr

from tasks.outputs.workbook_copy.splicing import Splice, elements

TYPES = "[Content_Types].xml"
EMPTY_RELATIONS = (
    b'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
    b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"/>'
)
WIDE = (b"\xff\xfe", b"\xfe\xff")


def is_package(file: bytes) -> bool:
    """Say whether a file is of this kind, whatever its name says."""
    try:
        with zipfile.ZipFile(BytesIO(file)) as archive:
            return TYPES in archive.namelist()
    except zipfile.BadZipFile:
        return False


class Package:
    """A workbook file: its parts by name. Parts that are not rewritten are copied unchanged.

    The file was read before, so it is known to be whole and not too large.
    """

    def __init__(self, file: bytes) -> None:
        self._archive = zipfile.ZipFile(BytesIO(file))
        self._new: dict[str, bytes] = {}

    def __contains__(self, part: str) -> bool:
        return part in self._new or part in self._archive.namelist()

    def __getitem__(self, part: str) -> bytes:
        """Return a part; XML of two bytes to a letter comes as UTF-8. Raises KeyError."""
        if part in self._new:
            return self._new[part]
        content = self._archive.read(part)
        if content.startswith(WIDE):
            text = content.decode("utf-16")
            return (text[text.index("?>") + 2 :] if text.startswith("<?xml") else text).encode()
        return content

    def __setitem__(self, part: str, content: bytes) -> None:
        self._new[part] = content

    def file(self) -> bytes:
        """Write the workbook; its parts keep their order, which some programs rely on."""
        out = BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for member in self._archive.infolist():
                content = self._new.get(member.filename)
                archive.writestr(member, self._archive.read(member) if content is None else content)
            for part in self._new.keys() - set(self._archive.namelist()):
                archive.writestr(part, self._new[part])
        return out.getvalue()

    def sheet(self, name: str) -> str:
        """Find the part of the sheet with this name. Raises KeyError."""
        (workbook,) = self.related("", "officeDocument").values()
        targets = self.related(workbook, "worksheet")
        for sheet in elements(self[workbook], "sheet"):
            if sheet.attributes.get("name", "").strip().casefold() == name.strip().casefold():
                ids = (v for k, v in sheet.attributes.items() if k.rpartition(":")[2] == "id")
                return targets[next(ids)]
        raise KeyError(name)

    def related(self, part: str, kind: str) -> dict[str, str]:
        """The parts of one kind that a part refers to, by the id of the relation."""
        relations = _relations(part)
        if relations not in self:
            return {}
        return {
            relation.attributes["Id"]: normpath(
                join("/", dirname(part), relation.attributes["Target"])
            ).lstrip("/")
            for relation in elements(self[relations], "Relationship")
            if relation.attributes.get("Type", "").rpartition("/")[2] == kind
        }

    def part_of_kind(self, kind: str) -> str | None:
        """The workbook's one part of a kind, such as its styles."""
        (workbook,) = self.related("", "officeDocument").values()
        return next(iter(self.related(workbook, kind).values()), None)

    def relate(self, part: str, kind: str, target: str) -> str:
        """Let a part refer to another one; returns the id of the relation."""
        (number,) = self._relate(part, kind, [quoteattr(relpath(target, dirname(part)))])
        return number

    def relate_outside(self, part: str, kind: str, targets: Sequence[str]) -> list[str]:
        """Let a part refer to web addresses; returns the ids of the relations."""
        return self._relate(part, kind, [f'{quoteattr(t)} TargetMode="External"' for t in targets])

    def _relate(self, part: str, kind: str, targets: Sequence[str]) -> list[str]:
        relations = _relations(part)
        if relations not in self:
            self[relations] = EMPTY_RELATIONS
        xml = self[relations]
        taken = {relation.attributes.get("Id") for relation in elements(xml, "Relationship")}
        free = (f"rId{n}" for n in count(1) if f"rId{n}" not in taken)
        ids = list(islice(free, len(targets)))
        (root,) = elements(xml, "Relationships")
        begins = f'<{root.prefix}Relationship Type="{self.relation_types}/{kind}"'
        new = (f'{begins} Id="{i}" Target={t}/>' for i, t in zip(ids, targets, strict=True))
        splice = Splice(xml)
        root.append(splice, xml, "".join(new).encode())
        self[relations] = splice.done()
        return ids

    def declare(self, part: str, content_type: str) -> None:
        """Say of what type a new part is."""
        xml = self[TYPES]
        (root,) = elements(xml, "Types")
        splice = Splice(xml)
        new = f'<{root.prefix}Override PartName="/{part}" ContentType="{content_type}"/>'
        root.append(splice, xml, new.encode())
        self[TYPES] = splice.done()

    def free_name(self, pattern: str) -> str:
        """The first name of a pattern such as `xl/comments{}.xml` that no part has."""
        taken = {name.casefold() for name in (*self._archive.namelist(), *self._new)}
        number = 1
        while pattern.format(number).casefold() in taken:
            number += 1
        return pattern.format(number)

    @property
    def relation_types(self) -> str:
        """The prefix of relation types: the strict form of the format has its own."""
        xml = self[_relations("")]
        for relation in elements(xml, "Relationship"):
            around, _, kind = relation.attributes.get("Type", "").rpartition("/")
            if kind == "officeDocument":
                return around
        raise KeyError("officeDocument")


def _relations(part: str) -> str:
    return join(dirname(part), "_rels", f"{basename(part)}.rels")
