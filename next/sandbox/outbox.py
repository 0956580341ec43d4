"""The outbox: every invitation as the email that a candidate would get (interface 4.6)."""

from email import policy
from email.headerregistry import Address
from email.message import EmailMessage
from pathlib import Path

from sandbox.state import Candidate, Invitation, State

SENDER = Address("Assessment sandbox", "invitations", "sandbox.invalid")


class Outbox:
    """Writes one `.eml` file for each invitation, if there is a folder for them.

    `app_url`: where the links lead. Raises OSError when the folder cannot be made or written.
    """

    def __init__(self, state: State, folder: Path | None, app_url: str) -> None:
        self._state = state
        self._folder = folder
        self._app_url = app_url
        if folder:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            (folder / ".writable").touch()
            (folder / ".writable").unlink()

    def send(self, invitation: Invitation) -> None:
        if self._folder:
            path = self._folder / f"{invitation.number:06}.eml"
            path.write_bytes(bytes(self.message(invitation)))

    def link(self, candidate: Candidate) -> str:
        """The candidate's page (interface 4.7)."""
        ids = f"projectId={candidate.project_id}&candidateId={candidate.id}"
        return f"{self._app_url}/embedded/welcome?{ids}"

    def message(self, invitation: Invitation) -> EmailMessage:
        """Compose the email of an invitation; the same one always gives the same text."""
        candidate = invitation.candidate
        project = self._state.projects[candidate.project_id].fields
        local, _, domain = candidate.email.rpartition("@")
        message = EmailMessage(policy.SMTP if candidate.email.isascii() else policy.SMTPUTF8)
        message["From"] = SENDER
        message["To"] = Address(_one_line(candidate.name), local, domain)
        message["Subject"] = _one_line(f"Your invitation: {project['name']}")
        message["Date"] = invitation.at
        message["Message-ID"] = f"<invitation-{invitation.number}@{SENDER.domain}>"
        message.set_content(
            f"Hello {_one_line(candidate.name)},\n\n"
            f"you are invited to take the assessment “{_one_line(project['name'])}”.\n"
            f"Open this page and log in with {candidate.email}:\n\n"
            f"{self.link(candidate)}\n\n"
            f"It is open from {project['starttime']} to {project['endtime']}.\n",
            cte="8bit",  # keeps the link whole on one line
        )
        return message


def _one_line(text: str) -> str:
    """Headers hold neither line ends nor half characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
