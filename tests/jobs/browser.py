"""A real Chromium that a test drives by mouse, over the pipe of its DevTools protocol; it needs no other package."""

import base64
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
QUIET = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync", "--disable-quic"),
    *("--disable-background-networking", "--disable-component-update"),
)
"""Without these it asks its maker's machines for things of its own."""

MAX_ELECTION_TIMEOUT = 600
"""Seconds that a busy machine may take for anything."""

HAND = 0.3
"""Seconds between two movements of a hand; pages take note of where the mouse is only so often."""


class Browser:
    """One window. ``requests`` are all addresses that its pages asked for, ``errors`` is what their scripts threw."""

    def __init__(self, profile: Path, width: int = 1280, height: int = 900, *, dark: bool = False) -> None:
        self.requests: list[str] = []
        self.errors: list[str] = []
        self._last = 0
        self._unread = b""
        hears, self._write = os.pipe()
        self._read, says = os.pipe()
        self._process = subprocess.Popen(
            [
                *("bash", "-c", f'exec "$@" 3<&{hears} 4>&{says}', "bash"),
                *(str(CHROMIUM), *QUIET, "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"),
            ],
            pass_fds=(hears, says),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(hears)
        os.close(says)
        self._session: str | None = None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime"):
            self.ask(f"{domain}.enable")
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()
        os.close(self._write)
        os.close(self._read)

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """What the browser answers to a command of the protocol."""
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._last:
            self._note(answer)
        assert "error" not in answer, answer
        return dict(answer["result"])

    def _next(self) -> dict[str, Any]:
        """The next message."""
        while b"\0" not in self._unread:
            ready, _, _ = select.select([self._read], [], [], MAX_ELECTION_TIMEOUT)
            assert ready, "the browser says nothing"
            self._unread += os.read(self._read, 1 << 20)
        message, _, self._unread = self._unread.partition(b"\0")
        return dict(json.loads(message))

    def _note(self, event: dict[str, Any]) -> None:
        """Keep what an event says of the page."""
        if event.get("method") == "Network.requestWillBeSent":
            self.requests.append(event["params"]["request"]["url"])
        elif event.get("method") == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(event["params"]["exceptionDetails"]))

    def open(self, address: str) -> None:
        """Go to an address, as by typing it."""
        self.ask("Page.navigate", url=address)

    def value(self, script: str) -> Any:
        """What an expression is worth on the page."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def until(self, script: str) -> Any:
        """Wait until an expression is true on the page, or an element; what it is worth then, true for an element."""
        end = time.monotonic() + MAX_ELECTION_TIMEOUT
        while not (found := self.value(f"(one => one instanceof Node || one)({script})")):
            assert time.monotonic() < end, f"never came true: {script}\n{self.text()[:2000]}"
            time.sleep(0.1)
        return found

    def click(self, element: str) -> None:
        """Click the middle of an element, given as an expression, with the mouse."""
        self.until(f"!!({element})")
        middle = (
            f"(() => {{ const one = {element}; one.scrollIntoView({{block: 'center'}}); "
            "const box = one.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        place, before = self.value(middle), None
        while place != before:
            time.sleep(HAND)
            place, before = self.value(middle), place
        self.drag(place, place)

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Press the mouse at one place and let go at another."""
        steps = [
            ("mouseMoved", start, "none"),
            ("mousePressed", start, "left"),
            *([("mouseMoved", end, "left")] if start != end else []),
            ("mouseReleased", end, "left"),
        ]
        for kind, (x, y), button in steps:
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, clickCount=1)
            time.sleep(HAND)

    def double_click(self, place: tuple[float, float]) -> None:
        """Click twice with the mouse, as quickly as a hand does."""
        for kind, count in (
            ("mouseMoved", 0),
            *((kind, n) for n in (1, 2) for kind in ("mousePressed", "mouseReleased")),
        ):
            button = "left" if count else "none"
            self.ask("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button=button, clickCount=count)
            time.sleep(0 if count else HAND)

    def text(self) -> str:
        """All that can be read on the page."""
        return str(self.value("document.body.innerText"))

    def picture(self) -> bytes:
        """The page as PNG, whole."""
        return base64.b64decode(self.ask("Page.captureScreenshot", captureBeyondViewport=True)["data"])
