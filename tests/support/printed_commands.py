"""Every command that the product can print, found in its source, and those that it has printed."""

import ast
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from flows.cli.commands import application
from tests.support.sources import ROOT, modules

PLACEHOLDER = re.compile(r"\bKEY\b|%TYPED%")  # put in after it was written
ANY = object()  # a word that only the moment of printing knows


@dataclass(frozen=True)
class Site:
    """One call of `command(…)`: where it stands and the words that it always has."""

    file: str
    call: str
    words: tuple[Any, ...] = field(compare=False)

    def __str__(self) -> str:
        return f"{self.file}: {self.call}"

    def made(self, words: Sequence[str]) -> bool:
        """Whether these words may come from here; ANY at the place of a star is any number."""
        if any(isinstance(word, ast.Starred) for word in self.words):
            always = [word for word in self.words if isinstance(word, str)]
            return set(always) <= set(words)
        pairs = zip(self.words, words, strict=False)
        return len(self.words) == len(words) and all(a in (ANY, b) for a, b in pairs)


def sources() -> Iterator[tuple[str, ast.Module]]:
    yield from modules(("flows", "tasks", "data", "config"))


@cache
def sites() -> frozenset[Site]:
    """Every call of `command` in the product."""
    return frozenset(
        Site(file, ast.unparse(node), tuple(map(_word, node.args)))
        for file, tree in sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "command"
    )


def _word(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    return node if isinstance(node, ast.Starred) else ANY


def literals() -> Iterator[tuple[str, str, bool]]:
    """Every string of the product with its file, and whether it is help."""
    for file, tree in sources():
        for text, is_help in strings(tree):
            yield file, text, is_help


def strings(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """Every string of a module, `…` for what is put in; and whether it is a docstring."""
    parts = {id(v) for n in ast.walk(tree) if isinstance(n, ast.JoinedStr) for v in n.values}
    help_texts = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            pieces = (getattr(value, "value", "…") for value in node.values)
            yield "".join(p if isinstance(p, str) else "…" for p in pieces), False
        elif isinstance(getattr(node, "value", None), str) and id(node) not in parts:
            yield node.value, id(node) in help_texts


@cache
def commands() -> dict[str, Any]:
    """Every command by its name; `ledger backup` and such too."""
    top = get_command(application()).commands  # type: ignore[attr-defined]
    below = {f"ledger {name}": each for name, each in top["ledger"].commands.items()}
    return dict(top) | below


def options(name: str) -> set[str]:
    return {spelled for param in commands()[name].params for spelled in param.opts} | {"--help"}


class Printed:
    """Remembers what `command` wrote and where; says which of it stands in an output."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._sites: dict[str, set[Site]] = {}
        self.reached: set[Site] = set()
        join = shlex.join

        def remember(words: Sequence[str]) -> str:
            text = join(words)
            caller = sys._getframe(2).f_code.co_filename
            if words[0] == "campaign" and caller.startswith(str(ROOT)):
                self._note(str(Path(caller).relative_to(ROOT)), list(words[1:]), text)
            return text

        monkeypatch.setattr(shlex, "join", remember)
        for site in sites():  # what stands in a module itself was written when that was imported
            if all(isinstance(word, str) for word in site.words):
                self._note(site.file, list(site.words), join(["campaign", *site.words]))

    def _note(self, file: str, words: list[str], text: str) -> None:
        made = {site for site in sites() if site.file == file and site.made(words)}
        self._sites.setdefault(text, set()).update(made)

    def files(self, typed: str) -> set[str]:
        return {site.file for site in self._sites.get(f"campaign {typed}", ())}

    def inside(self, output: str) -> list[str]:
        """The commands that stand in an output, as they are printed, each once."""
        flat = " ".join(output.split())
        longest: dict[int, tuple[str, set[Site]]] = {}  # one may be the beginning of another
        for text, made in self._sites.items():
            put_in = PLACEHOLDER.sub("\0", " ".join(text.split()))
            pattern = re.escape(put_in).replace("\0", r"[\w.-]+")
            for match in re.finditer(rf"(?<![\w-]){pattern}(?![\w-])", flat):
                before, _ = longest.get(match.start(), ("", set()))
                if len(match[0]) >= len(before):
                    also = longest[match.start()][1] if match[0] == before else set()
                    longest[match.start()] = (match[0], made | also)
        for _, made in longest.values():
            self.reached |= made
        return list(dict.fromkeys(text for text, _ in longest.values()))
