"""How help reads: commands in groups, arguments as they are typed, and an example at the end."""

from collections.abc import Sequence
from typing import Any, ClassVar

from typer.core import TyperArgument, TyperCommand, TyperGroup


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


class Command(TyperCommand):
    """A command whose help shows no Python types."""

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


class Group(TyperGroup):
    """Commands under the titles of `titled`, or under one; each line is the first of its help."""

    titled: ClassVar[Sequence[tuple[str, Sequence[str]]]] = ()

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        width = max(map(len, self.commands))
        for title, names in self.titled or (("Commands", tuple(self.commands)),):
            rows = [
                (name.ljust(width), first_line(self.commands[name]))
                for name in names
                if name in self.commands
            ]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)
