"""JSON Web Tokens, as a host issues them and as an attacker makes them up."""

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

SECRET = "a secret of sixty-four characters, so that it suits every hash...."

FOREVER = 4_000_000_000

MAKERS = {
    "RS256": lambda: rsa.generate_private_key(65_537, 2_048),
    "PS256": lambda: rsa.generate_private_key(65_537, 2_048),
    "ES256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "ES512": lambda: ec.generate_private_key(ec.SECP521R1()),
    "EdDSA": ed25519.Ed25519PrivateKey.generate,
}


def private_key(algorithm: str) -> Any:
    return MAKERS[algorithm]()


def public_pem(key: Any) -> str:
    pem: bytes = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return pem.decode()


def private_pem(key: Any) -> str:
    pem: bytes = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return pem.decode()


def jwk_of(key: Any, kid: str, algorithm: str, **more: Any) -> dict[str, Any]:
    """The public part of a key, or a shared secret, as a member of a JWKS."""
    algorithms = jwt.get_algorithm_by_name(algorithm)
    public = key.public_key() if hasattr(key, "public_key") else key
    made: dict[str, Any] = algorithms.to_jwk(public, as_dict=True)
    made.pop("key_ops", None)
    return {**made, "kid": kid, "alg": algorithm, "use": "sig", **more}


def write_jwks(path: Path, *keys: Mapping[str, Any]) -> Path:
    path.write_text(json.dumps({"keys": list(keys)}))
    return path


def claims_of(user_id: str, **more: Any) -> dict[str, Any]:
    """Without those that are None."""
    given = {"sub": user_id, "exp": FOREVER, **more}
    return {name: value for name, value in given.items() if value is not None}


def token_of(
    user_id: str,
    key: Any = SECRET,
    algorithm: str = "HS256",
    *,
    kid: str | None = None,
    **claims: Any,
) -> str:
    headers = {"kid": kid} if kid is not None else None
    return jwt.encode(claims_of(user_id, **claims), key, algorithm=algorithm, headers=headers)


def forged(header: Any, payload: Any, secret: str | bytes = SECRET) -> str:
    """A token with any content, and a right HMAC signature."""
    parts = [encoded(_bytes(header)), encoded(_bytes(payload))]
    key = secret.encode() if isinstance(secret, str) else secret
    digest = hmac.new(key, ".".join(parts).encode(), hashlib.sha256).digest()
    return ".".join([*parts, encoded(digest)])


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else json.dumps(value).encode()
