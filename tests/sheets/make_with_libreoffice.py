"""Makes the files in tests/sheets/libreoffice: the books, saved by LibreOffice.

Run it where LibreOffice is installed, from the root of the checkout:
    python -m tests.sheets.make_with_libreoffice
The tests read the files that lie there, and need no LibreOffice.
"""

import subprocess
import tempfile
from pathlib import Path

from tests.sheets.books import BOOKS
from tests.sheets.writers import by_openpyxl

FOLDER = Path(__file__).parent / "libreoffice"
FORMATS = ("xlsx", "xls", "ods")
# Text tables in the ways of several countries: delimiter, character set, how the file is called.
TEXTS = {
    "en-US": ("44", "76", "csv"),
    "de-DE": ("59", "1", "csv"),
    "fr-FR": ("59", "76", "csv"),
    "ja-JP": ("9", "65535", "tsv"),
}
TEXT_BOOKS = ("plain", "title", "numbers", "bad-people", "formulas")
LOCALE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Setup/L10N"><prop oor:name="ooSetupSystemLocale" oor:op="fuse">
<value>{}</value></prop></item></oor:items>
"""


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        sources = Path(scratch, "sources")
        sources.mkdir()
        for book in BOOKS:
            (sources / f"{book.name}.xlsx").write_bytes(by_openpyxl(book))
        for kind, locale in zip(FORMATS, ("en-US", "de-DE", "fr-FR"), strict=True):
            convert(Path(scratch), locale, kind, FOLDER, [book.name for book in BOOKS])
        for locale, (delimiter, charset, suffix) in TEXTS.items():
            # The second sheet, every text in quotes, numbers and dates as they are shown.
            options = f"{delimiter},34,{charset},1,,0,true,true,true,false,false,2"
            kind = f"csv:Text - txt - csv (StarCalc):{options}"
            made = Path(scratch, locale)
            convert(Path(scratch), locale, kind, made, TEXT_BOOKS)
            for file in made.glob("*.csv"):
                name = file.name.partition("-Candidates")[0]
                (FOLDER / f"{name}.{locale}.{suffix}").write_bytes(file.read_bytes())


def convert(scratch: Path, locale: str, kind: str, into: Path, names: list[str]) -> None:
    profile = scratch / f"profile-{locale}"
    (profile / "user").mkdir(parents=True, exist_ok=True)
    (profile / "user" / "registrymodifications.xcu").write_text(LOCALE.format(locale))
    subprocess.run(
        [
            *("soffice", f"-env:UserInstallation=file://{profile}", "--headless"),
            *("--convert-to", kind, "--outdir", str(into)),
            *(str(scratch / "sources" / f"{name}.xlsx") for name in names),
        ],
        check=True,
    )


if __name__ == "__main__":
    main()
