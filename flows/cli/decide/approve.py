"""A person lets a campaign go on, or stops it: `approve`, `confirm`, `pause` and `resume`."""

from typing import Annotated

import typer

from config.command_line import command
from flows.cli.arguments import Key, Who, Why, by, given
from flows.cli.ledgers import known_campaign, ledger_with_plan
from flows.words.closing import lines_of
from flows.words.speech import agrees, for_program, on_a_terminal, run_again, say


def approve(
    key: Key,
    reject: Annotated[bool, typer.Option("--reject", help="Reject the plan; needs --why.")] = False,
    plan: Annotated[
        str | None,
        typer.Option(
            metavar="CODE", help="Decide only if this is still the plan; a run shows its code."
        ),
    ] = None,
    why: Why = "",
    who: Who = None,
) -> None:
    """Approve or reject the plan that a run has shown.

    For definitions with  invites: {approval: required}. Nothing is sent now: the next run sends
    exactly what was approved. The approval is void once the definition or the ledger has changed.
    """
    from config.reading.sources import as_typed_for
    from config.timetable.moments import in_zone
    from data.campaigns import approvals
    from data.campaigns.approvals import Answer, code_of, code_to_approve
    from tasks.plan.asking_approval import decide

    if reject:
        given(why, "a rejection")
    answer, verb = (Answer.REJECTED, "Reject") if reject else (Answer.APPROVED, "Approve")
    with ledger_with_plan(key) as ledger:
        shown, _ = ledger.read(approvals.look, key)
        if shown is not None:
            say(*lines_of(shown))
            # Without a terminal, typing the command is the answer.
            if plan is None and on_a_terminal():
                if not agrees(f"{verb} plan {code_of(shown)}? [y/N] "):
                    say("Nothing was decided.")
                    raise typer.Exit(1)
                plan = code_to_approve(shown)
            plan = plan or code_of(shown)
        person = by(who, why)
        asked = decide(ledger, key, answer, plan, person.who, person.why)
    for_program(plan=code_of(asked), answer=answer)
    stands = str(answer)
    if asked.answered_at and asked.answer == answer == Answer.APPROVED:
        at = in_zone(asked.answered_at, asked.timezone)
        stands = f"was already approved by {asked.who} on {at}"
    again = command("run", *as_typed_for(key, asked.file, asked.definition, sheet=asked.sheet))
    todo = "send" if answer is Answer.APPROVED else "once the definition has changed"
    say(f"{key}: plan {code_of(asked)} {stands}; nothing was sent now", f"  {todo}: {again}")


def confirm(key: Key, why: Why = "", who: Who = None) -> None:
    """Confirm the pilot's invitation; the next run invites the rest.

    Open the email that the pilot got, follow its link, and look at what candidates will see.
    """
    from config.timetable.moments import in_zone
    from tasks.plan.pilot import confirm as confirmed

    with known_campaign(key) as (ledger, campaign):
        person = by(who, why)
        before = confirmed(ledger, campaign, person.who, person.why)
        again = command("run", *run_again(campaign))
    stands = "is confirmed"
    if before:
        stands = f"was already confirmed by {before.who} on {in_zone(before.at, campaign.timezone)}"
    say(f"{key}: the pilot {stands}", f"  next: {again}")


def pause(key: Key, why: Why = "", who: Who = None) -> None:
    """Stop sending a campaign until somebody resumes it.

    A run at work ends once its open requests are answered; no other run sends anything.
    """
    from config.timetable.moments import in_zone
    from data.campaigns import pauses

    with ledger_with_plan(key) as ledger:
        stands = ledger.write(pauses.pause, key, by(who, why))
    for paused in stands:
        say(f"{key}: paused by {paused.who} since {in_zone(paused.since, paused.timezone)}")
    say(f"  to resume: {command('resume', key)}")


def resume(key: Key, why: Why = "", who: Who = None) -> None:
    """Let a paused campaign go on with the next run.

    This ends everybody's pauses, and names them. Nothing is sent now. The next run goes on where
    the campaign stopped, and sends nobody a second email; campaign resend is for that.
    """
    from data.campaigns import pauses, queries
    from tasks.plan.plan import in_words

    with ledger_with_plan(key) as ledger:
        stood = ledger.write(pauses.resume, key, by(who, why))
        campaign = ledger.read(queries.find_campaign, key)
    if not stood:
        say(f"{key} is not paused")
        return
    say(f"{key}: resumed", *(f"  was {in_words(paused)}" for paused in stood))
    if campaign is not None:
        say(f"  next: {command('run', *run_again(campaign))}")
