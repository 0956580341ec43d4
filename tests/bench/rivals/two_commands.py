"""A bare program of two commands: what the command-line library itself costs."""

import typer

app = typer.Typer()


@app.command()
def hello(name: str) -> None:
    """Greet somebody."""
    print(f"Hello {name}")


@app.command()
def goodbye(name: str) -> None:
    """See somebody off."""
    print(f"Goodbye {name}")


app()
