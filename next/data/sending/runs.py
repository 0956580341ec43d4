"""Runs: who is at work on a campaign, since when, and how it ended."""

import os
import socket

from sqlmodel import Session

from data.store.tables import Run, now


def begin(session: Session, campaign_id: int) -> int:
    """Note that this process begins to send a campaign whose lease it holds."""
    run = Run(campaign_id=campaign_id, host=socket.gethostname(), pid=os.getpid())
    session.add(run)
    session.flush()
    return run.id


def end(session: Session, run_id: int, ending: str) -> None:
    """Note how a run ended."""
    run = session.get_one(Run, run_id)
    run.ended, run.ending = now(), ending
    session.add(run)
