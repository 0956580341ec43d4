"""What an editor asks the YAML language server, by LSP over its standard input and output.

The server is a package of npm, locked in this folder (MIT; what it brings is MIT, ISC or BSD) and
put into .editor by `make .editor/.ready`. Where npm or its registry is missing the tests skip and
say so, as .ci/run does.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.support.documents import ROOT

READY = ".editor/.ready"
SERVER = ROOT / ".editor/node_modules/yaml-language-server/bin/yaml-language-server"
Position = tuple[int, int]  # line and column, from 1


class LanguageServer:
    """The server as one editor has it; every message waits for its answer."""

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(
            ["node", str(SERVER), "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._numbers = count(1)
        self._published: list[dict[str, Any]] = []
        asked = {"processId": os.getpid(), "rootUri": folder.as_uri(), "capabilities": {}}
        self._ask("initialize", asked)
        self._send({"method": "initialized", "params": {}})

    def underlined(self, file: Path) -> dict[Position, tuple[str, str]]:
        """Open a file; answer where it underlines what, and what it says of that."""
        text = file.read_text("utf-8")
        document = {"uri": file.as_uri(), "languageId": "yaml", "version": 1, "text": text}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        while not any(published["uri"] == file.as_uri() for published in self._published):
            self._take(self._read())
        lines = text.splitlines()
        underlined = {}
        for diagnostic in self._published[-1]["diagnostics"]:
            start, end = diagnostic["range"]["start"], diagnostic["range"]["end"]
            assert start["line"] == end["line"], diagnostic
            shown = lines[start["line"]][start["character"] : end["character"]]
            position = (start["line"] + 1, start["character"] + 1)
            underlined[position] = (shown, diagnostic["message"])
        return underlined

    def completed(self, file: Path, position: Position) -> dict[str, str]:
        """What it offers at a place of an open file, with its words."""
        where = {"line": position[0] - 1, "character": position[1] - 1}
        asked = {"textDocument": {"uri": file.as_uri()}, "position": where}
        answer = self._ask("textDocument/completion", asked)
        return {item["label"]: str(item.get("documentation", "")) for item in answer["items"]}

    def close(self) -> None:
        self._ask("shutdown", None)
        self._send({"method": "exit"})
        self._process.communicate()

    def _ask(self, method: str, asked: Any) -> Any:
        number = next(self._numbers)
        self._send({"id": number, "method": method, "params": asked})
        while (message := self._read()).get("id") != number or "method" in message:
            self._take(message)
        return message["result"]

    def _take(self, message: dict[str, Any]) -> None:
        """What the server says or asks by itself: it gets no settings, as of an editor's own."""
        if message.get("method") == "textDocument/publishDiagnostics":
            self._published.append(message["params"])
        elif "id" in message:
            wishes = message["params"].get("items") if message.get("params") else None
            self._send({"id": message["id"], "result": wishes and [{} for _ in wishes]})

    def _send(self, message: dict[str, Any]) -> None:
        content = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(content), content))
        self._process.stdin.flush()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        length = 0
        while header := self._process.stdout.readline().strip():
            name, _, value = header.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        assert length, "the language server ended"
        message: dict[str, Any] = json.loads(self._process.stdout.read(length))
        return message


@pytest.fixture(scope="session")
def installed() -> None:
    """The package, from the lock; made once."""
    if shutil.which("npm") is None:
        pytest.skip("this test needs npm: apt-get install nodejs npm")
    made = subprocess.run(
        ["make", "-s", READY], cwd=ROOT, check=False, capture_output=True, text=True
    )
    if made.returncode:
        pytest.skip(f"npm could not install the YAML language server: {made.stderr}")


@pytest.fixture
def server(installed: None, tmp_path: Path) -> Iterator[LanguageServer]:
    """One that has just been started, in the folder of a test."""
    opened = LanguageServer(tmp_path)
    yield opened
    opened.close()
