"""The API of a running scenedelta service: pairs, cameras, changes, events, and the verification of its webhooks.

with Client("http://127.0.0.1:8080", key) as service:
    print(service.compare("before.jpg", "after.jpg")["caption"])
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import os
import time
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx

from scenedelta.answer import Change, Comparison, StreamEvent

__version__ = "1.0.0"
__all__ = ["Client", "Failure", "WebhookVerificationError", "verify_webhook"]

Frame = bytes | str | os.PathLike[str]
"""Encoded bytes, or the path of a file."""

ANSWER_S = 60
"""Longest wait of the service for the outcome of a comparison, unless a request states another one."""
SILENCE_S = 40
"""The service sends a heartbeat every 15 s."""
AGAIN_S = 1
"""Pause before a broken stream of events is opened again."""


class Failure(Exception):
    """A request that the service refused or did not answer. `status`: of the answer; None: there was none."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status

    @property
    def transient(self) -> bool:
        """Whether the same request may succeed later."""
        return self.status is None or self.status == 429 or self.status >= 500


class VersionMismatch(Failure):
    """The service has another major version than this client."""

    transient = False


class Client:
    """A client of the service at `url`; a path before /v1 is kept. `transport` replaces that of httpx, for tests."""

    def __init__(self, url: str, key: str | None = None, *, transport: httpx.BaseTransport | None = None) -> None:
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        timeout = httpx.Timeout(10, read=ANSWER_S + 10)
        self.http = httpx.Client(base_url=url, headers=headers, timeout=timeout, transport=transport)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self.http.close()

    def compare(
        self,
        before: Frame,
        after: Frame,
        *,
        wait: int = ANSWER_S,
        language: str | None = None,
        idempotency_key: str | None = None,
        **fields: Any,
    ) -> Comparison:
        """Posts two frames of one camera, and waits up to `wait` seconds: then `status` is still queued or running.

        `fields` are those of the request, such as `camera` and `metadata`; `language` is an Accept-Language.
        """
        metadata = {"metadata": json.dumps(fields.pop("metadata"))} if "metadata" in fields else {}
        files = {"before": _bytes_of(before), "after": _bytes_of(after)}
        headers = _headers(wait, language, idempotency_key)
        return self._post("/v1/comparisons", files, {**fields, **metadata}, headers)

    def post_frame(
        self,
        camera: str,
        frame: Frame,
        *,
        captured_at: datetime | None = None,
        wait: int = ANSWER_S,
        language: str | None = None,
        idempotency_key: str | None = None,
    ) -> Comparison:
        """Posts the next frame of a camera, in the order of the capture times (with a time zone; default: now)."""
        fields = {} if captured_at is None else {"captured_at": captured_at.isoformat()}
        headers = _headers(wait, language, idempotency_key)
        return self._post(f"/v1/cameras/{camera}/frames", {"frame": _bytes_of(frame)}, fields, headers)

    def changes(self, **query: Any) -> Iterator[Change]:
        """The changes, page after page, by the filters of GET /v1/changes: `camera`, `status`, `since`, ..."""
        while True:
            page = self.request("GET", "/v1/changes", params=query).json()
            yield from page["items"]
            if page["next_cursor"] is None:
                return
            query = {**query, "cursor": page["next_cursor"]}

    def events(self, *, camera: str | None = None, since: str | None = None) -> Iterator[tuple[str, StreamEvent]]:
        """Pairs of id and event, without end; `since`: the id of the last event that was handled.

        A stream that broke is opened again after the last event. Without `since` only new events come.
        """
        params = {} if camera is None else {"camera": camera}
        while True:
            try:
                for event_id, event in self._stream(params, since):
                    since = event_id
                    yield event_id, event
            except Failure as failure:
                if not failure.transient:
                    raise
            time.sleep(AGAIN_S)

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Sends any request; `options` are those of httpx. Raises Failure with the title and detail of a refusal."""
        try:
            response = self.http.request(method, path, **options)
        except httpx.TransportError as error:
            raise _no_answer(self.http, error) from error
        _check(response)
        return response

    def _post(self, path: str, frames: dict[str, bytes], fields: dict[str, Any], headers: dict[str, str]) -> Comparison:
        files = {name: (name, content) for name, content in frames.items()}
        answer: Comparison = self.request("POST", path, files=files, data=fields, headers=headers).json()
        return answer

    def _stream(self, params: dict[str, str], since: str | None) -> Iterator[tuple[str, StreamEvent]]:
        headers = {"Accept": "text/event-stream", **({} if since is None else {"Last-Event-ID": since})}
        options: dict[str, Any] = {"params": params, "headers": headers, "timeout": httpx.Timeout(10, read=SILENCE_S)}
        try:
            with self.http.stream("GET", "/v1/events", **options) as response:
                if not response.is_success:
                    response.read()
                _check(response)
                event: dict[str, str] = {}
                for line in response.iter_lines():
                    name, _, value = line.partition(": ")
                    if name:
                        event[name] = value
                    elif "id" in event and "data" in event:
                        yield event["id"], json.loads(event["data"])
                    if not line:
                        event = {}
        except httpx.TransportError as error:
            raise _no_answer(self.http, error) from error


class WebhookVerificationError(Exception):
    """The request is not a webhook of the service, or too old."""


def verify_webhook(secret: str, headers: Mapping[str, str], body: bytes | str, *, tolerance_s: float = 300) -> Any:
    """Checks the signature and the time of a webhook (Standard Webhooks), and returns its payload.

    `secret`: `whsec_...` of the endpoint; `body`: exactly as received. Raises WebhookVerificationError.
    """
    given = {name.lower(): value for name, value in headers.items()}
    try:
        message, sent_at, signatures = (given[f"webhook-{name}"] for name in ("id", "timestamp", "signature"))
        age_s = time.time() - int(sent_at)
    except (KeyError, ValueError) as error:
        raise WebhookVerificationError("the headers of a signed webhook are missing or malformed") from error
    if abs(age_s) > tolerance_s:
        raise WebhookVerificationError(f"sent {age_s:.0f} s ago, expected at most {tolerance_s:.0f} s")
    content = body.encode() if isinstance(body, str) else body
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error as error:
        raise ValueError("expected a secret of the form whsec_ and base64") from error
    digest = hmac.new(key, f"{message}.{sent_at}.".encode() + content, hashlib.sha256).digest()
    expected = f"v1,{base64.b64encode(digest).decode()}".encode()
    if not any(hmac.compare_digest(expected, one.encode()) for one in signatures.split(" ")):
        raise WebhookVerificationError("no signature is by this secret")
    return json.loads(content)


def _bytes_of(frame: Frame) -> bytes:
    return frame if isinstance(frame, bytes) else Path(frame).read_bytes()


def _headers(wait: int, language: str | None, idempotency_key: str | None) -> dict[str, str]:
    optional = {"Accept-Language": language, "Idempotency-Key": idempotency_key}
    return {"Prefer": f"wait={wait}", **{name: value for name, value in optional.items() if value is not None}}


def _no_answer(http: httpx.Client, error: Exception) -> Failure:
    return Failure(f"{http.base_url} does not answer ({error or type(error).__name__}): is the service running?")


def _check(response: httpx.Response) -> None:
    version = response.headers.get("scenedelta-version", __version__)
    ours, theirs = (one.split(".", 1)[0] for one in (__version__, version))
    if ours != theirs:
        needed = f"this client is {__version__}: a client of version {theirs} is needed"
        raise VersionMismatch(f"{response.url.host} is scenedelta {version}, and {needed}", response.status_code)
    if response.is_success:
        return
    try:
        problem = response.json()
    except ValueError:
        problem = {}
    texts = [str(problem[name]) for name in ("title", "detail") if name in problem] or [response.reason_phrase]
    raise Failure(f"{response.url} answered {response.status_code}: {': '.join(texts)}", response.status_code)
