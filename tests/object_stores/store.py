"""A real S3 server on this machine: over TLS, with a user of limited rights."""

import hashlib
import hmac
import json
import os
import re
import shutil
import ssl
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import Request, urlopen

from tests.daemons import free_ports, started

ROOT, LANDER = ("root", "secret-of-root"), ("lander", "secret-of-lander")
REGION = "us-east-1"
READ = ("s3:GetObject",)
WRITE = (*READ, "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts")
BUCKETS = {"logs": READ, "tables": WRITE}
"""What the user may do in each bucket, besides listing it."""

TRUSTED = "changeit"
"""The password of Java's file of certificates; they are public."""


@dataclass(frozen=True)
class Store:
    """The server's address, and the folder of its certificates and objects."""

    address: str
    folder: Path

    def environment(self, user: tuple[str, str] = LANDER) -> dict[str, str]:
        """The environment in which a user finds the store and trusts it."""
        name, secret = user
        return {
            "AWS_ACCESS_KEY_ID": name,
            "AWS_SECRET_ACCESS_KEY": secret,
            "AWS_REGION": REGION,
            "AWS_ENDPOINT_URL": self.address,
            "SSL_CERT_FILE": str(self.folder / "ca.pem"),
            "JDK_JAVA_OPTIONS": f"-Djavax.net.ssl.trustStore={self.folder / 'trusted'} "
            f"-Djavax.net.ssl.trustStorePassword={TRUSTED}",
        }

    def put(self, path: str, body: bytes = b"") -> None:
        """Put an object, a bucket or a bucket's policy as the administrator."""
        self._asked("PUT", path, body)

    def answers(self) -> bool:
        """Whether the server is there."""
        try:
            self._asked("GET", "/")
        except HTTPError:
            return True
        except (URLError, ConnectionError):
            return False
        return True

    def _asked(self, method: str, path: str, body: bytes = b"") -> None:
        request = Request(  # noqa: S310 - our own server
            self.address + path, data=body or None, method=method, headers=signed(method, self.address, path, body)
        )
        trust = ssl.create_default_context(cafile=str(self.folder / "ca.pem"))
        with urlopen(request, context=trust, timeout=30):  # noqa: S310 - the same
            pass


def signed(method: str, address: str, path: str, body: bytes) -> dict[str, str]:
    """The headers of the administrator's request: signature version 4."""
    now = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    place, _, query = path.partition("?")
    digest = hashlib.sha256(body).hexdigest()
    headers = {"host": address.removeprefix("https://"), "x-amz-content-sha256": digest, "x-amz-date": now}
    lines = "".join(f"{name}:{value}\n" for name, value in headers.items())
    names = ";".join(headers)
    canonical = "\n".join([method, quote(place), f"{query}=" if query else "", lines, names, digest])
    scope = f"{now[:8]}/{REGION}/s3/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", now, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    name, secret = ROOT
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(key, text.encode(), "sha256").hex()
    headers.pop("host")
    return headers | {
        "authorization": f"AWS4-HMAC-SHA256 Credential={name}/{scope}, SignedHeaders={names}, Signature={signature}",
        "content-type": "application/octet-stream",
    }


@contextmanager
def running(folder: Path) -> Iterator[Store]:
    """A server with two buckets: the user may only read the logs, and may write the tables."""
    certificates(folder)
    (folder / "objects").mkdir()
    (folder / "users").mkdir()
    [port] = free_ports(1)
    store = Store(f"https://127.0.0.1:{port}", folder)
    server = os.environ["S3_SERVER"]
    name, secret = ROOT
    access = {"ROOT_ACCESS_KEY": name, "ROOT_SECRET_KEY": secret}
    words = ("--port", f"127.0.0.1:{port}", "--cert", folder / "server.pem", "--key", folder / "server.key")
    daemon = started(
        [server, *words, "--iam-dir", folder / "users", "posix", folder / "objects"],
        folder / "server.log",
        os.environ | access,
    )
    try:
        daemon.wait_for(store.answers)
        admin = [server, "admin", "--access", name, "--secret", secret, "--endpoint-url", store.address]
        user = ["create-user", "--access", LANDER[0], "--secret", LANDER[1], "--role", "user"]
        trust = {"SSL_CERT_FILE": str(folder / "ca.pem")}
        subprocess.run([*admin, *user], env=os.environ | trust, check=True, capture_output=True)
        for bucket, deeds in BUCKETS.items():
            store.put(f"/{bucket}")
            store.put(f"/{bucket}?policy", policy(bucket, deeds))
        yield store
    finally:
        daemon.kill()


def policy(bucket: str, deeds: tuple[str, ...]) -> bytes:
    """A policy that lets the user list a bucket and do ``deeds`` with its objects."""
    who: Mapping[str, object] = {"Effect": "Allow", "Principal": {"AWS": [LANDER[0]]}}
    here = f"arn:aws:s3:::{bucket}"
    rights = [
        {**who, "Action": ["s3:ListBucket"], "Resource": [here]},
        {**who, "Action": [*deeds], "Resource": [f"{here}/*"]},
    ]
    return json.dumps({"Version": "2012-10-17", "Statement": rights}).encode()


def certificates(folder: Path) -> None:
    """An authority of our own, a certificate for this machine, and all that Java trusts with the authority's."""
    shown = subprocess.run(
        ["java", "-XshowSettings:properties", "-version"], capture_output=True, text=True, check=True
    )
    home = re.search(r"java\.home = (.+)", shown.stderr)
    assert home
    shutil.copyfile(Path(home[1]) / "lib/security/cacerts", folder / "trusted")
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n")
    for command in (
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -keyout ca.key -out ca.pem -subj /CN=authority",
        "openssl req -newkey rsa:2048 -nodes -keyout server.key -out server.csr -subj /CN=store",
        "openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names "
        "-out server.pem",
        f"keytool -importcert -noprompt -alias store -file ca.pem -keystore trusted -storepass {TRUSTED}",
    ):
        subprocess.run(command.split(), cwd=folder, check=True, capture_output=True)
