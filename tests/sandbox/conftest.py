"""A sandbox, and a client with a token of it."""

from collections.abc import Iterator

import httpx
import pytest

from sandbox.server import Sandbox


@pytest.fixture
def service() -> Iterator[Sandbox]:
    with Sandbox() as service:
        yield service


@pytest.fixture
def client(service: Sandbox) -> Iterator[httpx.Client]:
    headers = {"content-type": "application/json", **service.authorization()}
    with httpx.Client(base_url=service.base_url, headers=headers) as client:
        yield client
