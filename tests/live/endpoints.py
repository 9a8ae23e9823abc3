"""Asks the secure port of a process."""

from __future__ import annotations

import ssl
import urllib.error
import urllib.request


def ask(port: int, path: str, token: str = "") -> tuple[int, str]:
    context = ssl._create_unverified_context()  # the certificate is made for the process
    request = urllib.request.Request(f"https://127.0.0.1:{port}{path}")
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, context=context, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()
