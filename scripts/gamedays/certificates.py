"""Certificates for mongod, made with openssl: signed by the game's own authority, with any
validity."""

import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

from gamedays.disk import CannotPlay

CONFIG = """
[ca]
default_ca = game
[game]
dir = {folder}
database = {folder}/index
serial = {folder}/serial
new_certs_dir = {folder}
certificate = {folder}/ca.pem
private_key = {folder}/ca.key
default_md = sha256
policy = any
unique_subject = no
x509_extensions = server
[any]
commonName = supplied
[server]
subjectAltName = IP:127.0.0.1
[req]
distinguished_name = named
[named]
"""


class Certificates:
    """An authority, and the certificate of mongod in a file that can be replaced. Raises CannotPlay
    without openssl."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        (folder / "openssl.cnf").write_text(CONFIG.format(folder=folder))
        (folder / "index").touch()
        (folder / "serial").write_text("01\n")
        of_authority = ("-x509", "-days", "2", "-subj", "/CN=game day", "-keyout", "ca.key")
        self._openssl("req", *of_authority, "-newkey", "rsa:2048", "-nodes", "-out", "ca.pem")
        of_server = ("-newkey", "rsa:2048", "-nodes", "-keyout", "mongod.key", "-out", "mongod.csr")
        self._openssl("req", *of_server, "-subj", "/CN=mongod")
        self.issue(timedelta(days=1))

    @property
    def of_mongod(self) -> tuple[str, ...]:
        """Options with which mongod accepts TLS, and connections without TLS from the game
        itself."""
        place = str(self._folder / "mongod.pem")
        return ("--tlsMode", "preferTLS", "--tlsCertificateKeyFile", place)

    @property
    def of_client(self) -> str:
        return f"&tls=true&tlsCAFile={self._folder / 'ca.pem'}"

    def issue(self, valid: timedelta) -> None:
        """Write a new certificate, which replaces the previous one."""
        begin = datetime.now(UTC) - timedelta(minutes=1)
        span = ("-startdate", _moment(begin), "-enddate", _moment(datetime.now(UTC) + valid))
        self._openssl("ca", "-batch", *span, "-in", "mongod.csr", "-out", "mongod.crt", "-notext")
        parts = [(self._folder / name).read_text() for name in ("mongod.crt", "mongod.key")]
        (self._folder / "mongod.pem").write_text("".join(parts))

    def _openssl(self, command: str, *arguments: str) -> None:
        asked = ("openssl", command, "-config", "openssl.cnf", *arguments)
        try:
            subprocess.run(asked, cwd=self._folder, check=True, capture_output=True)
        except FileNotFoundError:
            raise CannotPlay("there is no openssl") from None


def _moment(at: datetime) -> str:
    return f"{at:%Y%m%d%H%M%SZ}"
