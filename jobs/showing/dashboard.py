"""The dashboard: published tables in a browser, read without Spark.

The server renders whole pages from the newest published run; the address holds the complete state of a page. A script
only adds convenience: keys, zoom by mouse, immediate filters. Pages fetch nothing from other hosts and change nothing
but marks of reviewers, where the operator allows it.
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
"""Requests that are answered concurrently."""


def _read(name: str) -> str:
    return files("election_replay.jobs.showing").joinpath(name).read_text(encoding="utf-8")


STYLE = _read("report.css") + _read("dashboard.css")
SCRIPT = _read("dashboard.js")
FILES = {"style.css": (STYLE, "text/css"), "script.js": (SCRIPT, "text/javascript")}
VERSION = hashlib.sha256((STYLE + SCRIPT).encode()).hexdigest()[:12]
"""A hash in the addresses of style and script, so that browsers may cache them for ever."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""The content security policy: pages load and run files of this server only, and nothing inline."""

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
    """Readers of the newest published run, reopened when there is a newer one; :data:`READERS` at once."""

    def __init__(self, warehouse: Warehouse) -> None:
        self._warehouse = warehouse
        self._idle: queue.LifoQueue[tuple[Versions, Published] | None] = queue.LifoQueue()
        for _ in range(READERS - 1):
            self._idle.put(None)
        self._idle.put((self._versions(), Published(warehouse)))

    def _versions(self) -> Versions:
        """Return the table versions that change when there is something new to read."""
        return self._warehouse.version("runs"), self._warehouse.version("reviews")

    def ask(self, question: Callable[[Published], Answer]) -> Answer:
        """Return the result of ``question`` on the newest run."""
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
    """Return the web application.

    ``base`` is the path below which a proxy serves it, ``hosts`` are allowed host names besides this machine's own.
    ``reviewing`` sets marks of reviewers; ``None`` forbids them. Raises :class:`JobError` if nothing is published.
    """
    newest = Newest(warehouse)
    allowed = frozenset({*OWN_NAMES, *hosts})
    app = flask.Flask("election-replay", static_folder=None)
    app.wsgi_app = PathPrefix(app.wsgi_app, base)  # type: ignore[assignment, method-assign]
    app.before_request(lambda: refuse_strangers(allowed))
    app.after_request(with_security_headers)
    app.register_error_handler(Exception, error_response)
    app.config["MAX_CONTENT_LENGTH"] = MOST_BYTES

    def here_at(path: str) -> Here:
        here = Here(flask.request.script_root, path, flask.request.args.to_dict(), VERSION)
        try:
            name = reviewer_name(reviewing) if reviewing else ""
        except JobError:  # an unknown user may read, but not mark
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


def reviewer_name(reviewing: Reviewing) -> str:
    """Return the name of the user of the current request. Raises :class:`JobError` if it is unknown."""
    return reviewing.name(flask.request.headers.get, flask.request.remote_addr or "")


def review(reviewing: Reviewing, here: Here) -> flask.Response:
    """Set the mark that a form requests, and redirect to the page of its finding."""
    if flask.request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
        flask.abort(403)
    try:
        marked = reviewing.set(flask.request.form, reviewer_name(reviewing))
    except JobError as error:
        return answer(refusal(error), here, 400)
    return flask.Response(status=303, headers={"Location": here.link("finding", id=marked)})


def answer(shown: Page, here: Here, code: int) -> flask.Response:
    """Return the response with a page."""
    response = flask.Response(frame(shown, here), status=code, mimetype="text/html")
    response.headers["Cache-Control"] = "no-store"
    return response


class PathPrefix:
    """WSGI middleware that serves an application below a path, whether or not the proxy removes the path."""

    def __init__(self, application: Any, base: str) -> None:
        self._application = application
        self._base = f"/{base.strip('/')}" if base.strip("/") else ""

    def __call__(self, environ: dict[str, Any], start: Any) -> Any:
        """Handle a request."""
        path = environ.get("PATH_INFO", "")
        if self._base:
            environ["SCRIPT_NAME"] = self._base
            if path == self._base or path.startswith(f"{self._base}/"):
                environ["PATH_INFO"] = path[len(self._base) :] or "/"
        return self._application(environ, start)


def refuse_strangers(allowed: frozenset[str]) -> None:
    """Refuse requests for unknown host names, so that a page of another site cannot read ours (DNS rebinding)."""
    host = flask.request.host
    name = host[1 : host.find("]")] if host.startswith("[") else host.partition(":")[0]
    if name.lower() not in allowed:
        flask.abort(403)


def with_security_headers(response: flask.Response) -> flask.Response:
    """Return the response with the security headers."""
    response.headers.update(HEADERS)
    return response


def error_response(error: Exception) -> flask.Response:
    """Return the response to a failed request, without internal details; a server error is logged in one line."""
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
    """Serve until interrupted."""
    from waitress import serve as wait_for_requests

    wait_for_requests(app, host=host, port=port, threads=2 * READERS, ident=None)
