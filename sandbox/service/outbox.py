"""The outbox: every invitation as the email a candidate would get (interface 4.6)."""

import os
from email import policy
from email.headerregistry import Address
from email.message import EmailMessage
from pathlib import Path

from sandbox.service.journal import own_folder
from sandbox.service.record import Candidate, Invitation, Project, Record, Request

SENDER = Address("Assessment Sandbox", "invitations", "sandbox.invalid")


def compose(invitation: Invitation, candidate: Candidate, project: Project) -> EmailMessage:
    """Write the message of one invitation; the same invitation always gives the same message."""
    local, _, domain = invitation.email.rpartition("@")
    # Headers in plain UTF-8 only where the address itself leaves no other way.
    message = EmailMessage(policy.SMTP if invitation.email.isascii() else policy.SMTPUTF8)
    message["From"] = SENDER
    message["To"] = Address(
        _one_line(f"{candidate.first_name} {candidate.last_name}"), local, domain
    )
    message["Subject"] = _one_line(f"Your invitation: {project.name}")
    message["Date"] = invitation.at
    message["Message-ID"] = f"<invitation-{invitation.number}@{SENDER.domain}>"
    message.set_content(
        f"Hello {_one_line(candidate.first_name)},\n\n"
        f"you are invited to take the assessment “{_one_line(project.name)}”.\n"
        f"Open this page and log in with {invitation.email}:\n\n"
        f"{invitation.link}\n\n"
        f"It is open from {project.starttime} to {project.endtime}.\n",
        cte="8bit",  # keeps the link whole on one line, however long
    )
    return message


class Outbox:
    """The messages of a record; with a folder, also one `.eml` file each, named by its number."""

    def __init__(self, record: Record, folder: Path | None, app_url: str) -> None:
        self._record = record
        self._app_url = app_url
        self._folder = folder
        if folder:
            own_folder(folder)
            folder.chmod(0o700)  # an earlier version left it open, with all that is in it
            # A sandbox killed between its record and the file had sent the email nevertheless.
            for invitation in record.invitations:
                if not (path := self._path(folder, invitation)).exists():
                    self._write(path, invitation)

    def send(self, candidate: Candidate, request: Request) -> None:
        """Send one more invitation, with a link to the candidate's page (interface 4.6, 4.7)."""
        invitation = self._record.invite(
            candidate,
            f"{self._app_url}/embedded/welcome"
            f"?projectId={candidate.project_id}&candidateId={candidate.candidate_id}",
            request,
        )
        if self._folder:
            self._write(self._path(self._folder, invitation), invitation)

    def message(self, invitation: Invitation) -> EmailMessage:
        project = self._record.project(invitation.project_id)
        candidate = self._record.candidate(invitation.project_id, invitation.candidate_id)
        if not project or not candidate:
            raise LookupError(f"invitation {invitation.number} belongs to nobody in the record")
        return compose(invitation, candidate, project)

    def _write(self, path: Path, invitation: Invitation) -> None:
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(number, "wb") as file:
            file.write(bytes(self.message(invitation)))

    @staticmethod
    def _path(folder: Path, invitation: Invitation) -> Path:
        return folder / f"{invitation.number:06}.eml"


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
