"""Whether a definition means the campaign that the ledger has under its key. Pure.

The service has no update (interface 4): the people of a definition that names another project or
problem would be invited to the wrong test.
"""

from pathlib import Path
from unicodedata import normalize

from config.command_line import command
from config.definition.model import Definition, ProblemById, ProblemByTitle
from config.errors import BadInput
from config.mistakes import Mistake
from data.store.states import Step
from data.store.tables import Campaign

OPEN = (Step.WAITING, Step.REFUSED)  # nothing happened yet, so it may change, and a run may send it


class AnotherCampaign(BadInput):
    """A definition has the key of a campaign with another project or problem.

    The text names the key, projects, problems and files; nobody's name or address.
    """


def refuse_another(
    definition: Definition,
    campaign: Campaign,
    digest: str,
    file: Path,
    belongs_to: Path | None,
    sheet: str | None,
) -> None:
    """Raise AnotherCampaign if the ledger's `campaign` has another project or problem.

    Bytes with the digest that the ledger stored last were checked then. `file` is what is run,
    `belongs_to` the definition of a bare table of people, `sheet` the named sheet of the table.
    """
    if digest == campaign.digest or (
        same_project(definition, campaign) and same_problem(definition, campaign)
    ):
        return
    key, own, before = (
        definition.campaign,
        belongs_to or file,
        Path(campaign.belongs_to or campaign.definition),
    )
    if before.resolve() == own.resolve():
        before_in_words, says = "", f"{own.name} now says"
    else:
        named = before.name if before.name != own.name else before
        before_in_words, says = f" (from {named})", f"{own.name} says"
    typed = ["run", file, *(["--campaign", belongs_to] if belongs_to else [])]
    typed += ["--sheet", sheet] if sheet else []
    message = (
        f"{key} is already {_kept_in_words(campaign)}{before_in_words}. {says} "
        f"{_in_words(definition)}. A new campaign needs its own key: change  campaign: {key}  "
        f"in {own.name}. If it is the same campaign: {command(*typed, '--keep-project')}"
    )
    raise AnotherCampaign([Mistake(definition.place, "campaign", message=message)])


def same_project(definition: Definition, campaign: Campaign) -> bool:
    """Whether a definition names a campaign's project; before it has one, any project does."""
    if campaign.project_state in OPEN:
        return True
    if definition.project.id is not None:
        return definition.project.id == campaign.project_id
    return alike(definition.project.name, campaign.name)


def same_problem(definition: Definition, campaign: Campaign) -> bool:
    """The same for the problem; a definition that leaves it out accepts the existing one."""
    if campaign.problem_state in OPEN:
        return True
    match definition.problem:
        case None:
            return True
        case ProblemById(id=number):
            return number == campaign.problem_id
        case ProblemByTitle(title=title):
            return alike(title, campaign.problem_title or "")


def alike(name: str, other: str) -> bool:
    """Compare names as people read them: blanks and capitals do not make a different project."""
    first, second = (" ".join(normalize("NFC", each).split()).casefold() for each in (name, other))
    return first == second


def _in_words(definition: Definition) -> str:
    project, problem = definition.project, definition.problem
    named = f'"{project.name}"' if project.id is None else f"project {project.id}"
    match problem:
        case None:
            return f"{named}, with the problem it has"
        case ProblemById(id=number):
            return f"{named}, problem {number}"
        case ProblemByTitle(title=title):
            return f'{named}, problem "{title}"'


def _kept_in_words(campaign: Campaign) -> str:
    project = f'"{campaign.name}"' if campaign.name else f"project {campaign.project_id}"
    if campaign.problem_title:
        number = f" ({campaign.problem_id})" if campaign.problem_id is not None else ""
        return f'{project}, problem "{campaign.problem_title}"{number}'
    if campaign.problem_id is None:
        return f"{project}, with the problem it has"
    return f"{project}, problem {campaign.problem_id}"
