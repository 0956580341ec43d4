"""The journal of a campaign, as tests read it."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, select

from data.store import tables

attempt = tables.attempt


def attempts(connection: Connection, campaign_row: int) -> Sequence[Row[Any]]:
    """Every request of a campaign, oldest first."""
    return connection.execute(
        select(attempt).where(attempt.c.campaign_id == campaign_row).order_by(attempt.c.id)
    ).all()
