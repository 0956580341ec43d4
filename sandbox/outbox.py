"""The outbox: each invitation as the email that its candidate would get (interface 4.6)."""

from email.header import Header
from email.utils import format_datetime, quote
from pathlib import Path

from sandbox.state import Candidate, Invitation, ServiceState

SENDER = "Assessment sandbox <invitations@sandbox.invalid>"


class Outbox:
    """Writes an `.eml` file for each invitation, if there is a folder for them.

    Links begin with `app_url`. Raises OSError if the folder cannot be created or written.
    """

    def __init__(self, state: ServiceState, folder: Path | None, app_url: str) -> None:
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
            path.write_bytes(self.message(invitation))

    def link(self, candidate: Candidate) -> str:
        """The candidate's page (interface 4.7)."""
        ids = f"projectId={candidate.project_id}&candidateId={candidate.id}"
        return f"{self._app_url}/embedded/welcome?{ids}"

    def subject(self, invitation: Invitation) -> str:
        return _one_line(f"Your invitation: {self._state.project_of(invitation.candidate).name}")

    def text(self, invitation: Invitation) -> str:
        """The text of the email. The link is on a line of its own."""
        candidate = invitation.candidate
        project = self._state.project_of(candidate).fields
        return (
            f"Hello {_one_line(candidate.name)},\n\n"
            f"you are invited to take the assessment “{_one_line(project['name'])}”.\n"
            f"Open this page and log in with {candidate.email}:\n\n"
            f"{self.link(candidate)}\n\n"
            f"It is open from {project['starttime']} to {project['endtime']}.\n"
        )

    def message(self, invitation: Invitation) -> bytes:
        """The whole email, composed by hand, because EmailMessage takes over a millisecond."""
        name = _one_line(invitation.candidate.name)
        phrase = f'"{quote(name)}"' if name.isascii() else Header(name, "utf-8").encode()
        subject = self.subject(invitation)
        lines = (
            f"From: {SENDER}",
            f"To: {phrase} <{invitation.candidate.email}>",
            f"Subject: {subject if subject.isascii() else Header(subject, 'utf-8').encode()}",
            f"Date: {format_datetime(invitation.at)}",
            f"Message-ID: <invitation-{invitation.number}@sandbox.invalid>",
            "MIME-Version: 1.0",
            "Content-Type: text/plain; charset=utf-8",
            "Content-Transfer-Encoding: 8bit",
            "",
            self.text(invitation),
        )
        return "\n".join(lines).replace("\n", "\r\n").encode("utf-8", "replace")


def _one_line(text: str) -> str:
    """Put blanks for line ends and other unprintable characters, which headers must not have."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
