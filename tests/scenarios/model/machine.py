"""Calls a chat through its doors, and holds each answer against the model's."""

from collections.abc import Callable, Iterable, Mapping
from random import Random
from typing import Any, Literal

from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from tests.scenarios.model.contract import OPERATIONS, expected
from tests.scenarios.model.doors import Site, in_process, over_http
from tests.scenarios.model.groups import ABSENT
from tests.scenarios.model.streams import Tabs
from tests.scenarios.model.world import Json, Reply, World, admins, is_moderator, members

Door = Literal["http", "api"]
DOORS: tuple[Door, ...] = ("http", "api")

NAMES = ("ann", "ben", "cat", "mod", "mod two")
NOTHING = "nothing"
CLEARED = "(cleared)"
"""Stands for a null that means something."""

SEEDS = st.integers(0, 2**64 - 1)
"""What a step picks by: details drawn one by one come out alike far too often."""
MOODS = (0, 1, 1, 1, 3)
"""How fond of an action an example is; none does everything."""


class Differs(AssertionError):
    """The service and the model do not agree."""


class Machine(RuleBasedStateMachine):
    """What all rules share: whom and what they pick, and the call itself."""

    actions: Mapping[str, int] = {}
    """The methods that are steps, and how often each is one."""

    site: Site

    def __init__(self) -> None:
        super().__init__()
        self.world = World(self.site.begin_anew(), self.site.moment)
        self.tabs = Tabs()
        self.users = [name + self.world.suffix for name in NAMES]
        self.luck = Random(0)
        self.moods: Mapping[str, int] = {}
        self.steps = 0
        self.agree = True

    def call(self, name: str, user_id: str, door: Door, /, **args: Any) -> Reply:
        """Call through a door, or through the only one there is, and compare. What is None or
        ABSENT is left out."""
        operation = OPERATIONS[name]
        if operation.route is None or not operation.in_process:
            door = "http" if operation.route else "api"
        given = _given(args)
        self.agree = False
        self._let_time_pass()
        speak = over_http if door == "http" else in_process
        answer = self.site.run(speak(self.site, operation, user_id, given))
        self.world.answer = answer.json
        wanted = expected(operation, self.world, user_id, given)
        said = self.world.named(f"{user_id} {name} {given}")[:300]
        note(f"{self.steps}. {door}: {said} -> {answer.json.get('error', answer.status)}")
        if not _is_same(answer, wanted, told=door == "http"):
            statuses = f"{answer.status} and {wanted.status}"
            raise Differs(self.world.named(_report(statuses, answer.json, wanted.json)))
        self._listen()
        self.agree = True
        return answer

    def _let_time_pass(self) -> None:
        """A millisecond at every other step: much happens at the same time."""
        self.steps += 1
        self.world.pass_time(self.steps % 2)
        self.site.moment = self.world.moment
        free = [user for user in self.users if not self.world.is_banned(user)]
        self.site.run(self.tabs.open(map(self.site.person, free)))

    def _listen(self) -> None:
        """Everybody is told what follows from the step, as it is; who is banned hears the end."""
        for user_id, told in self.world.take_told().items():
            for wanted in told:
                heard = self.site.run(self.tabs.hear(user_id))
                if heard != wanted:
                    raise Differs(self.world.named(_report(f"{user_id} is told", heard, wanted)))
        for user_id in filter(self.world.is_banned, self.users):
            self.site.run(self.tabs.end(user_id))

    @rule(seed=SEEDS)
    def act(self, seed: int) -> None:
        """Do something: what, depends on this seed and on all before it."""
        self.agree = False
        self.luck.seed(f"{self.luck.random()} {seed}")
        weights = [weight * self.moods[name] for name, weight in self.actions.items()]
        [name] = self.luck.choices(list(self.actions), weights)
        getattr(self, name)()
        self.agree = True

    def step(self, name: str, user_id: str, /, **args: Any) -> Reply:
        """Call through any door."""
        return self.call(name, user_id, self.luck.choice(DOORS), **args)

    def rarely(self) -> bool:
        return self.luck.random() < 0.1

    def one_of(self, there: Iterable[str]) -> str:
        """One of the newest; `NOTHING` where there is none, and rarely in any case."""
        newest = list(there)[-6:]
        return NOTHING if not newest or self.luck.random() < 0.04 else self.luck.choice(newest)

    def conversation(self) -> str:
        return self.one_of(self.world.conversations)

    def group(self) -> str:
        """A group, rarely another conversation."""
        every = self.world.conversations.items()
        groups = [key for key, conversation in every if conversation["type"] == "group"]
        return self.conversation() if self.rarely() else self.one_of(groups)

    def message(self) -> str:
        return self.one_of(self.world.messages)

    def within(self, message_id: str) -> str:
        """The conversation of a message, rarely another one."""
        found = self.world.messages.get(message_id)
        return found["conversationId"] if found and not self.rarely() else self.conversation()

    def person(self, conversation_id: str = NOTHING) -> str:
        """One of the participants, now and then anybody."""
        return self._among(self._inside(conversation_id, members))

    def admin(self, conversation_id: str) -> str:
        return self._among(self._inside(conversation_id, admins))

    def stranger(self, conversation_id: str) -> str:
        inside = self._inside(conversation_id, members)
        return self._among([user for user in self.users if user not in inside])

    def moderator(self) -> str:
        return self._among([user for user in self.users if is_moderator(user)])

    def _inside(self, conversation_id: str, chosen: Callable[[Json], list[str]]) -> list[str]:
        here = self.world.conversations.get(conversation_id)
        return chosen(here) if here else []

    def _among(self, fit: list[str]) -> str:
        return self.luck.choice(fit if fit and self.luck.random() < 0.8 else self.users)


def _given(args: Json) -> Json:
    present = {key: value for key, value in args.items() if value not in (None, ABSENT)}
    return {key: None if value == CLEARED else value for key, value in present.items()}


def _is_same(answer: Reply, wanted: Reply, *, told: bool) -> bool:
    """Whether they agree; only HTTP tells which success it is."""
    statuses = told or "error" in wanted.json
    return answer.json == wanted.json and (not statuses or answer.status == wanted.status)


def _report(what: str, answer: Json, wanted: Json) -> str:
    return (
        f"{what}: they differ in {_differences(answer, wanted)}"
        f"\nthe service: {answer}\nthe model:   {wanted}"
    )


def _differences(one: Any, two: Any, path: str = "") -> list[str]:
    if isinstance(one, dict) and isinstance(two, dict):
        keys = sorted({*one, *two})
        return [
            line
            for key in keys
            for line in _differences(one.get(key, "-"), two.get(key, "-"), f"{path}.{key}")
        ]
    if isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        pairs = enumerate(zip(one, two, strict=True))
        return [line for n, (a, b) in pairs for line in _differences(a, b, f"{path}[{n}]")]
    return [] if one == two else [f"{path or 'all'}: {one!r} != {two!r}"]
