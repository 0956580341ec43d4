"""The smallest definition that is complete; tests change one thing in it."""

MINIMAL = """\
campaign: a
project: {name: A}
problem: 1
candidates:
  - {first_name: Ada, last_name: Lovelace, email1: ada@example.com}
"""
HEAD = MINIMAL.partition("candidates:")[0]


def with_problem(written: str) -> str:
    """Name the problem in another way."""
    return MINIMAL.replace("problem: 1", f"problem: {written}")


def with_project(written: str) -> str:
    """Describe the project in another way."""
    return MINIMAL.replace("{name: A}", written)
