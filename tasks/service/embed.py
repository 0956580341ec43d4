"""Where a candidate takes the assessment: the embed URL and its iframe (interface 4.7)."""

from html import escape

# The four permissions of interface 4.7, and no other.
_ALLOW = "fullscreen; clipboard-read; clipboard-write; keyboard-map"


def embed_url(app_url: str, project_id: int, candidate_id: int) -> str:
    """Return the address of one candidate's assessment; both ids are integers from the service."""
    page = f"{app_url.rstrip('/')}/embedded/welcome"
    return f"{page}?projectId={project_id}&candidateId={candidate_id}"


def iframe(url: str, title: str) -> str:
    """Write the HTML that embeds an assessment in a page; `url` and `title` are escaped here."""
    return f'<iframe src="{escape(url)}" title="{escape(title)}" allow="{_ALLOW}"></iframe>'
