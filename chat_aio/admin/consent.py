"""The rule for commands that remove data or cannot be undone: `--dry-run` shows the plan, a
terminal gets a confirmation prompt, and anywhere else `--yes` is required (decision 0075)."""

import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar, cast

import click

from chat_aio.admin.options import Command
from chat_aio.admin.printing import Outcome, show
from chat_aio.admin.session import Session, in_session, resumable

T = TypeVar("T")
S = TypeVar("S")
Opened = Callable[[Callable[[S], Awaitable[Any]]], Any]
"""Runs work on a session or a database: `in_session` or `on_database`, with their options."""

NOBODY_TO_ASK = (
    "there is no terminal for a confirmation: add --yes to do it without a question, or --dry-run "
    "to see what it would do"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The planned work of a command: `what` completes "Would ...", `table` has the numbers. An
    empty plan needs no confirmation."""

    what: str
    document: Mapping[str, object] = field(default_factory=dict)
    table: str | None = None
    remark: str | None = None
    is_empty: bool = False

    def outcome(self) -> Outcome:
        """The outcome of a dry run."""
        would = f"Would {self.what}. Dry run: nothing was written."
        text = would if self.table is None else f"{self.table}\n{would}"
        return Outcome({"dryRun": True, "would": self.what, **self.document}, text, self.remark)

    def ask(self) -> None:
        """Show the plan on stderr, and ask for confirmation. Raises Abort unless the answer is
        yes."""
        # On stderr: stdout is for the result, which may be JSON.
        for text in (self.table, self.remark):
            if text is not None:
                click.echo(text, err=True)
        question = self.what[0].upper() + self.what[1:]
        click.confirm(f"{question}?", abort=True, err=True)


def consenting(command: Command) -> Command:
    """Add the options of the consent rule."""
    yes = click.option("--yes", is_flag=True, help="Do it without a question.")
    dry_run = click.option("--dry-run", is_flag=True, help="Show the plan, and write nothing.")
    return yes(dry_run(command))


def in_session_with_consent(
    prepare: Callable[[Session], Awaitable[T]],
    plan: Callable[[Session, T], Awaitable[Plan]],
    carry_out: Callable[[Session, T], Awaitable[Outcome]],
    *,
    dry_run: bool,
    yes: bool,
    as_json: bool,
    **place: Any,
) -> None:
    """Run a command in sessions, and print the outcome; as `with_consent`."""
    opened = partial(in_session, **place)
    show(with_consent(opened, prepare, plan, carry_out, dry_run=dry_run, yes=yes), as_json=as_json)


def with_consent(
    opened: Opened[S],
    prepare: Callable[[S], Awaitable[T]],
    plan: Callable[[S, T], Awaitable[Plan]],
    carry_out: Callable[[S, T], Awaitable[Outcome]],
    *,
    dry_run: bool,
    yes: bool,
) -> Outcome:
    """Run a command as the consent rule allows. `prepare` resolves the arguments and raises errors;
    `plan` counts, which may take long, and is not called with `--yes`.

    The plan that was shown is carried out. The database is closed during the question, so that no
    connection waits for the answer.
    """
    # First of all: a cron job must fail at once, not after a count of an hour.
    if not (dry_run or yes or sys.stdin.isatty()):
        raise click.UsageError(NOBODY_TO_ASK)

    async def look(work: S) -> tuple[T, Plan]:
        prepared = await prepare(work)
        return prepared, await plan(work, prepared)

    resolve = prepare
    if dry_run or not yes:
        prepared, planned = opened(look)
        if dry_run:
            return cast(Plan, planned).outcome()
        if not planned.is_empty:
            planned.ask()

        async def as_shown(_: S) -> T:
            return cast(T, prepared)

        # Not resolved a second time: the plan that was shown is carried out.
        resolve = as_shown

    async def act(work: S) -> Outcome:
        return await carry_out(work, await resolve(work))

    # Only now: an interruption before has changed nothing.
    with resumable():
        return cast(Outcome, opened(act))
