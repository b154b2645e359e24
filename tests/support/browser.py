"""A real browser, Chromium without a window, that opens a page and gets keys: its DevTools protocol."""

from __future__ import annotations

import asyncio
import base64
import json
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

from tornado.httpclient import AsyncHTTPClient
from tornado.websocket import WebSocketClientConnection, websocket_connect

from tests.support.patience import PATIENCE

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")

BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
"""The program, if there is one: `apt-get install chromium`."""


class Page:
    """A page that is open in the browser.

    Attributes
    ----------
    errors
        What its scripts have raised.
    """

    def __init__(self, socket: WebSocketClientConnection) -> None:
        self.errors: list[str] = []
        self._socket = socket
        self._numbers = count()

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        """A command of the DevTools protocol, and its result."""
        number = next(self._numbers)
        said = {"id": number, "method": method, "params": params}
        await self._socket.write_message(json.dumps(said))
        while True:
            found = json.loads(await self._socket.read_message() or "{}")
            if found.get("method") == "Runtime.exceptionThrown":
                self.errors.append(json.dumps(found["params"]["exceptionDetails"]))
            if found.get("id") == number:
                return found.get("result", {})

    async def ask(self, expression: str) -> Any:
        """The value of an expression in JavaScript."""
        found = await self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    async def press(self, key: str, times: int = 1) -> None:
        """Press a key, such as "ArrowRight", as a person does."""
        text = {"text": key} if len(key) == 1 else {}
        for kind in ("keyDown", "keyUp") * times:
            await self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, **text)

    async def prefer(self, scheme: str) -> None:
        """Have the person prefer "light" or "dark" pages."""
        preferred = {"name": "prefers-color-scheme", "value": scheme}
        await self.call("Emulation.setEmulatedMedia", features=[preferred])

    async def picture(self, path: Path, width: int = 1280) -> None:
        """Write what the page looks like, as PNG."""
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        await self.call("Emulation.setDeviceMetricsOverride", **size)
        shot = await self.call("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[Page]:
    """Open a file in the browser."""
    assert BROWSER is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        options += ["--no-first-run", "--remote-debugging-port=0", f"--user-data-dir={folder}"]
        command = [BROWSER, *options, path.resolve().as_uri()]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            socket = await websocket_connect(await _address(Path(folder)), max_message_size=1 << 28)
            page = Page(socket)
            await page.call("Runtime.enable")
            there = "document.readyState + location.protocol"
            while await page.ask(there) != "completefile:":
                await asyncio.sleep(0.05)
            yield page
            socket.close()
        finally:
            process.terminate()
            process.wait()


async def _address(folder: Path) -> str:
    """Where the page listens, once it does."""
    for _ in range(600):
        await asyncio.sleep(0.1)
        said = folder / "DevToolsActivePort"
        if not said.exists() or not (words := said.read_text().split()):
            continue
        place = f"http://127.0.0.1:{words[0]}/json/list"
        found = await AsyncHTTPClient().fetch(place, request_timeout=PATIENCE)
        for one in json.loads(found.body):
            if one["type"] == "page" and one["url"].startswith("file:"):
                return str(one["webSocketDebuggerUrl"])
    raise TimeoutError("the browser has not opened the page in a minute")
