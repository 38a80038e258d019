"""Status and text of the exceptions of providers' packages, whichever the package."""

from __future__ import annotations

import json

# ClassifyError accepts 1 MiB; a character has up to 4 bytes.
_MOST_CHARACTERS = 1 << 18


def http_status(error: BaseException) -> int:
    """Find the HTTP status of an exception.

    Args:
        error: The exception of a provider's package.

    Returns:
        The status; 0 where the exception has none.
    """
    response = _attribute(error, "response")
    for holder, name in (
        (error, "status_code"),
        (error, "status"),
        (error, "code"),
        (response, "status_code"),
        (response, "status"),
    ):
        value = _attribute(holder, name)
        if isinstance(value, int) and not isinstance(value, bool) and 100 <= value <= 999:
            return value
    return 0


def text(error: BaseException) -> str:
    """Find the provider's text of an error.

    Args:
        error: The exception of a provider's package.

    Returns:
        The body of the response where the exception has it, else the exception's own text.
    """
    body = _attribute(error, "body")
    for said in (_attribute(_attribute(error, "response"), "text"), body, str(error)):
        if isinstance(said, bytes):
            said = said.decode("utf-8", "replace")
        elif isinstance(said, (dict, list)):
            said = json.dumps(said, default=str, ensure_ascii=False)
        if isinstance(said, str) and said:
            return said[:_MOST_CHARACTERS]
    return ""


def _attribute(holder: object, name: str) -> object:
    try:
        return getattr(holder, name, None)
    except Exception:  # A streamed response that was not read raises an error.
        return None
