"""The dashboard: what is published, in a browser, read without Spark.

Pages are made on the server, from the newest published run, whole; everything that is asked stands in the address. A
script only makes things quicker: keys, a zoom by mouse, filters that apply at once. Nothing is fetched from elsewhere,
and nothing can be changed, but for marks of reviewers where the operator allows it.
"""

import hashlib
import logging
import queue
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.resources import files
from typing import Any, TypeVar

import flask
from werkzeug.exceptions import HTTPException

from election_replay.jobs import JobError
from election_replay.jobs.faults import readable
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.words import harmless
from election_replay.jobs.showing.dashboard_frame import Here, NotThere, Page, frame, refusal
from election_replay.jobs.showing.dashboard_pages import page
from election_replay.jobs.showing.dashboard_review import MOST_BYTES, Reviewing
from election_replay.jobs.warehouse.warehouse import Warehouse

LOG = logging.getLogger("election_replay")

READERS = 4
"""Questions that are answered at once."""


def _read(name: str) -> str:
    return files("election_replay.jobs.showing").joinpath(name).read_text(encoding="utf-8")


STYLE = _read("report.css") + _read("dashboard.css")
SCRIPT = _read("dashboard.js")
FILES = {"style.css": (STYLE, "text/css"), "script.js": (SCRIPT, "text/javascript")}
VERSION = hashlib.sha256((STYLE + SCRIPT).encode()).hexdigest()[:12]
"""Part of the addresses of style and script, so that browsers may keep them."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""What a page may load and run: what this server sends, and nothing that stands in the page."""

HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}

OWN_NAMES = ("127.0.0.1", "localhost", "::1")

Answer = TypeVar("Answer")
Versions = tuple[int | None, int | None]


class Newest:
    """The newest published run, opened again when there is a newer one; :data:`READERS` questions at once."""

    def __init__(self, warehouse: Warehouse) -> None:
        self._warehouse = warehouse
        self._idle: queue.LifoQueue[tuple[Versions, Published] | None] = queue.LifoQueue()
        for _ in range(READERS - 1):
            self._idle.put(None)
        self._idle.put((self._versions(), Published(warehouse)))

    def _versions(self) -> Versions:
        """What changes when there is something new to be read."""
        return self._warehouse.version("runs"), self._warehouse.version("reviews")

    def ask(self, question: Callable[[Published], Answer]) -> Answer:
        """What ``question`` answers about it."""
        with self._reader() as published:
            return question(published)

    @contextmanager
    def _reader(self) -> Iterator[Published]:
        kept = self._idle.get()
        try:
            versions = self._versions()
            if kept is None or kept[0] != versions:
                kept = (versions, Published(self._warehouse))
            yield kept[1]
        finally:
            self._idle.put(kept)


def dashboard(
    warehouse: Warehouse, base: str = "", hosts: Iterable[str] = (), reviewing: Reviewing | None = None
) -> flask.Flask:
    """The web application.

    ``base`` is the path below which a proxy shows it, ``hosts`` are the names, besides this machine's own, under which
    it may be asked for. ``reviewing`` sets marks of reviewers; ``None``: nobody may. Raises :class:`JobError` where
    nothing is published.
    """
    newest = Newest(warehouse)
    allowed = frozenset({*OWN_NAMES, *hosts})
    app = flask.Flask("election-replay", static_folder=None)
    app.wsgi_app = Below(app.wsgi_app, base)  # type: ignore[assignment, method-assign]
    app.before_request(lambda: refuse_strangers(allowed))
    app.after_request(guarded)
    app.register_error_handler(Exception, refused)
    app.config["MAX_CONTENT_LENGTH"] = MOST_BYTES

    def here_at(path: str) -> Here:
        here = Here(flask.request.script_root, path, flask.request.args.to_dict(), VERSION)
        try:
            name = asking(reviewing) if reviewing else ""
        except JobError:  # who is not known reads, and marks nothing
            return here
        return replace(here, token=reviewing.token(name), reviewer=name) if reviewing else here

    @app.get("/static/<version>/<name>")
    def static(version: str, name: str) -> flask.Response:
        if name not in FILES or version != VERSION:
            flask.abort(404)
        text, kind = FILES[name]
        answer = flask.Response(text, mimetype=kind)
        answer.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return answer

    @app.get("/", defaults={"path": ""})
    @app.get("/<path:path>")
    def show(path: str) -> flask.Response:
        here = here_at(f"/{path}")
        try:
            shown, code = newest.ask(lambda published: page(published, here)), 200
        except NotThere as error:
            shown, code = refusal(error), 404
        except JobError as error:
            shown, code = refusal(error), 400
        return answer(shown, here, code)

    if reviewing:
        app.add_url_rule("/review", view_func=lambda: review(reviewing, here_at("/review")), methods=["POST"])
    return app


def asking(reviewing: Reviewing) -> str:
    """Who asks. Raises :class:`JobError` where that is not known."""
    return reviewing.name(flask.request.headers.get, flask.request.remote_addr or "")


def review(reviewing: Reviewing, here: Here) -> flask.Response:
    """Set a mark, then lead back to its finding."""
    if flask.request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
        flask.abort(403)
    try:
        marked = reviewing.set(flask.request.form, asking(reviewing))
    except JobError as error:
        return answer(refusal(error), here, 400)
    return flask.Response(status=303, headers={"Location": here.link("finding", id=marked)})


def answer(shown: Page, here: Here, code: int) -> flask.Response:
    """A page as it is sent."""
    response = flask.Response(frame(shown, here), status=code, mimetype="text/html")
    response.headers["Cache-Control"] = "no-store"
    return response


class Below:
    """Everything below a path, whether the proxy in front of it takes the path off or not."""

    def __init__(self, application: Any, base: str) -> None:
        self._application = application
        self._base = f"/{base.strip('/')}" if base.strip("/") else ""

    def __call__(self, environ: dict[str, Any], start: Any) -> Any:
        """Answer one request."""
        path = environ.get("PATH_INFO", "")
        if self._base:
            environ["SCRIPT_NAME"] = self._base
            if path == self._base or path.startswith(f"{self._base}/"):
                environ["PATH_INFO"] = path[len(self._base) :] or "/"
        return self._application(environ, start)


def refuse_strangers(allowed: frozenset[str]) -> None:
    """Answer only to names that are known, so that no page of another site can read along."""
    host = flask.request.host
    name = host[1 : host.find("]")] if host.startswith("[") else host.partition(":")[0]
    if name.lower() not in allowed:
        flask.abort(403)


def guarded(response: flask.Response) -> flask.Response:
    """An answer with the headers that keep other pages out."""
    response.headers.update(HEADERS)
    return response


def refused(error: Exception) -> flask.Response:
    """The answer to what cannot be answered: nothing of the inside; the log has one line."""
    code = error.code or 500 if isinstance(error, HTTPException) else 500
    if code >= 500:
        failure = f"failed at {flask.request.method} {flask.request.path}: {type(error).__name__}: {readable(error)}"
        LOG.warning(harmless(failure))
    reasons = {
        403: "this name of the server is not allowed: see --allow-host",
        405: "this server only answers questions",
    }
    text = reasons.get(code, "there is no such page" if code == 404 else "this request cannot be answered")
    return flask.Response(text, code, mimetype="text/plain")


def serve(app: flask.Flask, host: str, port: int) -> None:
    """Answer until interrupted."""
    from waitress import serve as wait_for_requests

    wait_for_requests(app, host=host, port=port, threads=2 * READERS, ident=None)
