"""What every part of the ledger works with: its two kinds of transaction, and its clock."""

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from datetime import datetime

from sqlalchemy import Connection


class LedgerPart(ABC):
    """Methods of the ledger about one matter; each is one transaction."""

    @abstractmethod
    def _writing(self) -> AbstractContextManager[Connection]: ...

    @abstractmethod
    def _reading(self) -> AbstractContextManager[Connection]: ...

    @abstractmethod
    def _now(self) -> datetime: ...
