"""A Prometheus server, asked over its HTTP API."""

import json
import ssl
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from typing import Any, Final

from podium.errors import InputError, PodiumError

#: How long one query may take, in seconds.
TIMEOUT: Final = 10.0


class Prometheus:
    """Instant queries to one server.

    Args:
        url: of the server, with a path if it has one.
        token: sent as bearer token if there is one.

    Raises:
        InputError: if the URL is not one of HTTP.

    """

    def __init__(self, url: str, token: str | None = None) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise InputError(f"{url}: a Prometheus URL is http://HOST:PORT or https://HOST:PORT")
        self._endpoint = url.rstrip("/") + "/api/v1/query"
        self._token = token
        self._context = ssl.create_default_context() if parts.scheme == "https" else None

    def query(self, query: str) -> Mapping[str, Any]:
        """Ask an instant query for now.

        Returns ``data`` of the answer: ``resultType`` and ``result``. Raises PodiumError if there is none.
        """
        form = urllib.parse.urlencode({"query": query}).encode()
        request = urllib.request.Request(self._endpoint, data=form)
        if self._token:
            request.add_header("Authorization", f"Bearer {self._token}")
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT, context=self._context) as answer:
                body = answer.read()
        except urllib.error.HTTPError as error:
            body = error.read()
        except (OSError, ValueError) as error:
            raise PodiumError(f"unable to capture prometheus metrics: {error}") from None
        return _data(body)


def _data(body: bytes) -> Mapping[str, Any]:
    try:
        answer = json.loads(body)
        if answer["status"] == "success":
            data: Mapping[str, Any] = answer["data"]
            return data
        problem = f"{answer['errorType']}: {answer['error']}"
    except (ValueError, KeyError, TypeError):
        problem = "the answer is not that of Prometheus' HTTP API"
    raise PodiumError(f"unable to capture prometheus metrics: {problem}")
