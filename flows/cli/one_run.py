"""One campaign of one file, on its way through `campaign run`."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from config.definition import Definition
    from flows.ending import Finish


@dataclass(slots=True)
class OneRun:
    """What is run, as it was typed, and how it came out: an end, an error, or neither yet."""

    file: Path
    definition_file: Path | None
    definition: "Definition"
    typed: list[str]
    accept_removed: bool = False
    keep_project: bool = False
    end: "Finish | None" = None
    error: Exception | None = None

    @property
    def key(self) -> str:
        return self.definition.campaign
