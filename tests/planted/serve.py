"""Faults of the server: batches, limits, keys, hosts, and what it says."""

import logging
from dataclasses import replace
from typing import Any

from . import fault

ACCESS, CHECKS, SERVICE = "serve/test_access.py", "serve/test_request_checks.py", "serve/test_service.py"


@fault("requests in a batch share the first one's options", "serve.batcher:Batcher.submit", "serve/test_batcher.py")
async def _(original: Any, self: Any, work: Any) -> Any:
    return await original(self, [(source, work[0][1]) for source, _ in work])


@fault("a request counts as one text", "serve.access:Access.check_rate", ACCESS)
def _(original: Any, self: Any, caller: Any, texts: int) -> None:
    original(self, caller, 1)


@fault("a wrong key costs nothing", "serve.access:RateLimit.take", ACCESS)
def _(original: Any, self: Any, account: str, amount: int) -> None:
    original(self, account, amount if self.code != "wrong_keys" else 0)


@fault("a neighbouring site is the same", "serve.request_checks:is_same_origin", CHECKS)
def _(original: Any, request: Any) -> bool:
    return original(request) or request.headers.get("sec-fetch-site") == "same-site"


@fault("this machine is called by any name", "serve.settings:ServerSettings.hosts", f"{ACCESS} {CHECKS}")
def _(original: Any, self: Any, host: str) -> Any:
    return original(self, "0.0.0.0")


@fault("a failure is logged with its message", "serve.service:as_api_error", "serve/test_server.py")
def _(original: Any, error: Any) -> Any:
    logging.getLogger(original.__module__).error("a request failed: %s", error.__cause__ or error)
    return original(error)


@fault("a model of any name is served", "serve.service:Service.named", "serve/test_huggingface.py")
def _(original: Any, self: Any, model: Any) -> Any:
    return original(self, model if model in self.models else None)


@fault("looking shows the best, whichever was asked for", "serve.service:Service.translate_and_look",
       "serve/test_v1.py")  # fmt: skip
async def _(original: Any, self: Any, texts: Any, *, alternative: int = 0, **how: Any) -> Any:
    return await original(self, texts, **how)


@fault("max_length does not count the start", "serve.dialects.huggingface:Parameters.options",
       "serve/test_huggingface.py")  # fmt: skip
def _(original: Any, self: Any) -> Any:
    options = original(self)
    return options if self.max_length is None else replace(options, max_new_tokens=options.max_new_tokens + 1)
