"""Known facts about MongoDB's versions: end of life, and the fix of a hole that needs no login."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

from chat_aio.admin.doctor.points import Point, ok, problem, warning
from chat_aio.embedded import REPLICA_SET, VERSION
from chat_aio.store.database import Database
from chat_aio.store.maintenance import doctor

NAME = "MongoDB's version"
OLDEST = (6, 0)
END_OF_LIFE = {(6, 0): date(2025, 7, 31)}
FIX_OF_CVE_2025_14847 = {(6, 0): 27, (7, 0): 28, (8, 0): 17, (8, 2): 3}
"""The first patch of each series that does not disclose memory to clients without a login."""


async def check_version(database: Database) -> Point:
    version, hello = await doctor.version(database), await doctor.hello(database)
    return judge_version(version, hello, datetime.now(UTC).date())


def judge_version(version: str, hello: Mapping[str, Any], today: date) -> Point:
    """The point of a version, such as "6.0.27", on a day."""
    series, patch = numbers_of(version), int(version.split(".")[2].partition("-")[0])
    if series < OLDEST:
        return problem(NAME, version, "upgrade MongoDB: 6.0 is the oldest that the chat works with")
    if version == VERSION and hello.get("setName") == REPLICA_SET:
        said = f"{version}, the embedded mongod"
        return warning(NAME, said, "use it for development on loopback only: it gets no fixes")
    faults, advice = [], []
    if patch < FIX_OF_CVE_2025_14847.get(series, 0):
        fixed = f"{version.rpartition('.')[0]}.{FIX_OF_CVE_2025_14847[series]}"
        faults.append("is open to CVE-2025-14847")
        advice.append(f"install {fixed} or newer")
    if series in END_OF_LIFE and today > END_OF_LIFE[series]:
        faults.append(f"is past its end of life ({END_OF_LIFE[series]})")
        advice.append("plan an upgrade to a version that MongoDB supports")
    if faults:
        return warning(NAME, f"{version} {' and '.join(faults)}", "; ".join(advice))
    return ok(NAME, version)


def numbers_of(version: str) -> tuple[int, int]:
    """The series of a version: (6, 0) of "6.0.27"."""
    major, minor, *_ = version.split(".")
    return int(major), int(minor)
