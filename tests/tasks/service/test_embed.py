"""Where candidates take the assessment (interface 4.7)."""

from html.parser import HTMLParser

import pytest

from tasks.service.embed import embed_url, iframe


@pytest.mark.parametrize(
    "app", ["https://app.example.com", "https://app.example.com/", "https://app.example.com//"]
)
def test_the_embed_url_names_project_and_candidate(app: str) -> None:
    """Interface 4.7: the path and its two query parameters, and never a doubled slash."""
    url = embed_url(app, 101, 5001)
    assert url == "https://app.example.com/embedded/welcome?projectId=101&candidateId=5001"


def test_an_app_below_a_path_keeps_it() -> None:
    """The application's address may have a path of its own."""
    assert embed_url("https://x.org/app", 1, 2).startswith("https://x.org/app/embedded/welcome?")


class OneTag(HTMLParser):
    """The tags of a snippet and their attributes, unescaped."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def test_the_iframe_allows_exactly_four_things() -> None:
    """The four permissions of interface 4.7 and no other; a title is text, whatever it holds."""
    url = embed_url("https://app.example.com", 101, 5001)
    title = 'Ada\'s "test" <script>&amp;'
    page = OneTag()
    page.feed(iframe(url, title))
    assert page.tags == [
        (
            "iframe",
            {
                "src": url,
                "title": title,
                "allow": "fullscreen; clipboard-read; clipboard-write; keyboard-map",
            },
        )
    ]
