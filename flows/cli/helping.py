"""How help reads: commands in groups, arguments as they are typed, and an example at the end."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Annotated, Any, ClassVar

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup
from typer.exceptions import TyperException
from typer.main import get_command

from flows.words.speech import ANYWHERE, answer_program, manner

# Other names that an option accepts: an earlier one, or one that people try. Help shows only the
# name after the colon.
ALSO = {
    "--definition": "--campaign",
    "--keep": "--open",
    "--lift": "--allow-again",
    "--look": "--ask-service",
    "--now": "--no-wait",
    "--who": "--by",
}
AS_JSON = "Print one JSON object for a program, and nothing else."


def epilog(example: str, then: str) -> str:
    """Write what stands below the help of a command: an example, and what is typed next."""
    return f"\b\nExample:  campaign {example}\nNext:     campaign {then}"


def first_line(command: Any) -> str:
    """Give the first line of a command's help, whole; Click would cut it off at a width."""
    return str(command.help or "").partition("\n")[0]


def as_typed(argument: TyperArgument) -> str:
    """Write an argument as usage lines have it: KEY, [KEY], EMAIL..., [EMAIL]..."""
    name = argument.metavar or argument.name.upper()
    return (name if argument.required else f"[{name}]") + ("..." if argument.nargs != 1 else "")


def _as_shown(words: Sequence[str], also: Mapping[str, str]) -> Iterator[str]:
    """Replace other names of options with those that help shows."""
    last = words.index("--") if "--" in words else len(words)
    for word in words[:last]:
        name, equals, value = word.partition("=")
        yield also.get(name, name) + equals + value
    yield from words[last:]


class Command(TyperCommand):
    """A command whose help shows no Python types."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take options by their other names, and suggest the options of every command too."""
        shown = {name for param in self.params for name in param.opts}
        also = {old: new for old, new in ALSO.items() if new in shown and old not in shown}
        try:
            return super().parse_args(ctx, list(_as_shown(args, also)))
        except TyperException as error:
            from config.settings import in_plain_words

            error.message = in_plain_words(error.message)
            named = vars(error)
            named["ctx"] = named.get("ctx") or ctx  # else it names no help to look into
            if "possibilities" in named:  # no such option, and not one without its value
                near = get_close_matches(named["option_name"], (*ANYWHERE, *also))
                shown_near = [*(named["possibilities"] or ()), *(also.get(n, n) for n in near)]
                named["possibilities"] = list(dict.fromkeys(shown_near))
            raise

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [self.options_metavar or "", *(as_typed(argument) for argument in self.arguments)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        rows = {
            "Arguments": [(as_typed(argument), argument.help or "") for argument in self.arguments]
        }
        options = (param for param in self.get_params(ctx) if not isinstance(param, TyperArgument))
        rows["Options"] = [row for option in options if (row := option.get_help_record(ctx))]
        for title, lines in rows.items():
            if lines:
                with formatter.section(title):
                    formatter.write_dl(lines)

    @property
    def arguments(self) -> list[TyperArgument]:
        return [param for param in self.params if isinstance(param, TyperArgument)]


def json_option() -> list[Any]:
    """The option as typer makes it, taken from an empty command."""
    app = typer.Typer(add_completion=False)

    @app.command()
    def nothing(as_json: Annotated[bool, typer.Option("--json", help=AS_JSON)] = False) -> None: ...

    return list(get_command(app).params)


class Answering(Command):
    """A command that with --json prints one object: its own, or what was typed and said."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.params += json_option()

    def invoke(self, ctx: Any) -> Any:
        if not ctx.params.pop("as_json"):
            return super().invoke(ctx)
        code = 0
        try:
            super().invoke(ctx)
        except typer.Exit as ended:
            code = ended.exit_code
        if manner().answered:
            raise typer.Exit(code)
        named = {"campaign" if name == "key" else name: value for name, value in ctx.params.items()}
        typed = {name: value for name, value in named.items() if value not in (None, False, ())}
        head = {"command": self.name, "ok": code == 0, "exit_code": code}
        answer_program({**head, **typed, **manner().more, "said": manner().said})
        raise typer.Exit(code)


class Group(TyperGroup):
    """Commands under the titles of `titled`, or under one; each with the first line of its help."""

    titled: ClassVar[Sequence[tuple[str, Sequence[str]]]] = ()

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        shown = [name for name, each in self.commands.items() if not each.hidden]
        width = max(map(len, shown))
        for title, names in self.titled or (("Commands", shown),):
            rows = [
                (name.ljust(width), first_line(self.commands[name]))
                for name in names
                if name in self.commands
            ]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)
