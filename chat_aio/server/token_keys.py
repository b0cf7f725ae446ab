"""The keys that verify JSON Web Tokens, each bound to one algorithm: a single key, or a JWKS file,
which may change while the process serves."""

import asyncio
import json
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from chat_aio.errors import SetupError

log = logging.getLogger(__name__)

Algorithm = Literal[
    "HS256",
    "HS384",
    "HS512",
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "ES256",
    "ES384",
    "ES512",
    "EdDSA",
]
ALGORITHMS: tuple[str, ...] = get_args(Algorithm)

READ_AGAIN_SECONDS = 60.0
"""How often an unknown `kid` may cause the file to be read: anybody can send one."""

MOST_BYTES = 1024 * 1024
MOST_KEYS = 100
LEAST_RSA_BITS = 2_048


@dataclass(frozen=True, slots=True)
class TokenKey:
    """A key, and the only algorithm that it verifies."""

    algorithm: str
    key: Any


class KeySet:
    """Keys by `kid`; a single one also verifies tokens without a `kid`."""

    def __init__(self, keys: Mapping[str, TokenKey]) -> None:
        self._keys = keys

    def find(self, kid: str | None) -> TokenKey | None:
        if kid is None and len(self._keys) == 1:
            return next(iter(self._keys.values()))
        return self._keys.get(kid) if kid is not None else None


class OneKey(KeySet):
    """One key, whatever `kid` a token names."""

    def __init__(self, key: TokenKey) -> None:
        super().__init__({})
        self._key = key

    def find(self, kid: str | None) -> TokenKey | None:
        return self._key


class TokenKeys:
    """The keys in force. Those of a file at `path` are read again by `read_again`, and for a `kid`
    that is not among them, at most once a minute. A file that is wrong then changes nothing."""

    def __init__(self, keys: KeySet, path: Path | None = None) -> None:
        self.keys = keys
        self._path = path
        self._reading = asyncio.Lock()
        self._not_before = 0.0

    async def find(self, kid: str | None) -> TokenKey | None:
        if (key := self.keys.find(kid)) is None and kid is not None and self._path is not None:
            async with self._reading:
                # Another request may have read it, while this one waited.
                if self.keys.find(kid) is None and time.monotonic() >= self._not_before:
                    # Before the reading: a file that is wrong is not read for every request either.
                    self._not_before = time.monotonic() + READ_AGAIN_SECONDS
                    await self._read(self._path)
            key = self.keys.find(kid)
        return key

    async def read_again(self) -> None:
        if self._path is not None:
            async with self._reading:
                await self._read(self._path)

    async def _read(self, path: Path) -> None:
        try:
            # In a thread: the file may be on a network's disk, and keys take time to check.
            self.keys = await asyncio.to_thread(keys_of_file, path)
        except SetupError as error:
            log.error("the keys of before remain in use: %s", error)
        else:
            log.info("the keys of %s are read", path)


def single_key(text: str, algorithm: str) -> KeySet:
    """A shared secret, or a public key as PEM. Raises SetupError for one that does not fit the
    algorithm."""
    jwt = _jwt()
    try:
        key = jwt.get_algorithm_by_name(algorithm).prepare_key(text)
    except (jwt.PyJWTError, ValueError, TypeError):
        # Without the reason: it may quote a part of the key.
        raise SetupError(f"the key for tokens is no key of {algorithm}") from None
    return OneKey(_checked(TokenKey(algorithm, key), "the key for tokens"))


def keys_of_file(path: Path) -> KeySet:
    """The keys of a JWKS file for signatures. Raises SetupError, which names the key that is
    wrong."""
    try:
        with path.open("rb") as file:
            # The file is the operator's, but a wrong path may lead to anything: a device, a log.
            text = file.read(MOST_BYTES + 1)
        if len(text) > MOST_BYTES:
            raise ValueError(f"it has more than {MOST_BYTES} bytes")
        listed = json.loads(text)["keys"]
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        reason = str(error) if isinstance(error, OSError) else "it is not a JSON Web Key Set"
        raise SetupError(f"{path}: the keys cannot be read: {reason}") from None
    if not isinstance(listed, list) or len(listed) > MOST_KEYS:
        raise SetupError(f"{path}: keys must be a list of at most {MOST_KEYS}")
    keys: dict[str, TokenKey] = {}
    for number, jwk in enumerate(listed, start=1):
        kid = jwk.get("kid") if isinstance(jwk, dict) else None
        name = f"{path}: key {number}"
        if not isinstance(kid, str) or kid in keys:
            raise SetupError(f"{name} needs a kid that no other key has")
        # Identity providers list their keys for encryption as well.
        if jwk.get("use", "sig") == "sig":
            keys[kid] = _of_jwk(jwk, f"{name} ({kid})")
    if not keys:
        raise SetupError(f"{path}: there is no key for signatures")
    return KeySet(keys)


def _of_jwk(jwk: Mapping[str, Any], name: str) -> TokenKey:
    jwt = _jwt()
    algorithm = jwk.get("alg")
    # Required, though the standard does not: it binds the key to one algorithm.
    if algorithm not in ALGORITHMS:
        raise SetupError(f"{name}: alg must be one of {', '.join(ALGORITHMS)}")
    try:
        key = jwt.PyJWK(dict(jwk), algorithm=algorithm).key
    except (jwt.PyJWTError, ValueError, TypeError, KeyError):
        raise SetupError(f"{name} is no key of {algorithm}") from None
    return _checked(TokenKey(str(algorithm), key), name)


def _checked(key: TokenKey, name: str) -> TokenKey:
    """Raises SetupError for a key that is too short, and for one of another curve than that of its
    algorithm."""
    bits = int(key.algorithm[2:]) if key.algorithm != "EdDSA" else 0
    if key.algorithm.startswith("HS"):
        if len(key.key) * 8 < bits:
            raise SetupError(f"{name} is too short: {key.algorithm} needs {bits // 8} bytes")
        return key
    # It would work, but then this server could issue tokens, and so could its backups.
    if not hasattr(key.key, "public_bytes"):
        raise SetupError(f"{name} is a private key: only its public part belongs here")
    size = getattr(key.key, "key_size", 0)
    if key.algorithm[:2] in ("RS", "PS") and size < LEAST_RSA_BITS:
        raise SetupError(f"{name} is too short: {key.algorithm} needs {LEAST_RSA_BITS} bits")
    if key.algorithm.startswith("ES") and size != {512: 521}.get(bits, bits):
        raise SetupError(f"{name} is of another curve than that of {key.algorithm}")
    return key


def _jwt() -> Any:
    try:
        import jwt
        import jwt.algorithms
    except ImportError:
        raise SetupError("tokens need the extra jwt (docs/start/installation.md)") from None
    if not jwt.algorithms.has_crypto:
        raise SetupError("tokens need the extra jwt (docs/start/installation.md)")
    return jwt
