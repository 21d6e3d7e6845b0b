"""LibreTranslate's routes for files: `POST /translate_file` returns the address for `GET /download_file/NAME`.

The name of a file gives its format, and the name of its translation.  It is never a path.  Nothing is written to disk.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import aclosing
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from ...documents.formats import usable_formats
from ...documents.protocol import FileOptions
from ...translate.results import Warned
from ..access import AccessControl, Caller
from ..api_errors import APIError
from ..batcher import busy_error
from ..downloads import Download, Downloads
from ..service import Service
from .bodies import key_wanted

MOST_FIELDS = 20
LONGEST_FIELD = 5_000  # bytes
MOST_ARRIVING = 32  # files that are being received, each in memory ...
MOST_UNKNOWN = 16  # ... of them those whose key is still to come, in the form ...
MOST_OF_ONE = 8  # ... and those of one account or address
RECEPTION_SECONDS = 60
LONGEST_NAME = 100  # characters
UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")  # in a name


class TranslatedFile(BaseModel):
    translatedFileUrl: str = Field(description="address of the translated file, valid for a limited time")
    warnings: dict[Warned, int] | None = Field(
        default=None, description="how many texts of the file have each warning of `/translate`, if any has one. "
        "LibreTranslate has no such field")


def router(service: Service) -> APIRouter:
    routes = APIRouter(tags=["LibreTranslate"])
    settings = service.settings
    arriving: list[Caller] = []
    downloads = Downloads(seconds=settings.download_seconds, most_bytes=settings.download_bytes)

    @routes.post("/translate_file", summary="Translate a file", response_model=TranslatedFile,
                 response_model_exclude_none=True, dependencies=key_wanted(service),
                 openapi_extra={"requestBody": documented()},
                 description="The extension of the file's name gives its format; `/frontend/settings` lists the "
                 "formats. Fields may also be query parameters.")
    async def translate_file(request: Request) -> TranslatedFile:
        sender = _sender(service.access, request)
        if (len(arriving) >= MOST_ARRIVING or arriving.count(sender) >= MOST_OF_ONE
                or (not sender.account and sum(not one.account for one in arriving) >= MOST_UNKNOWN)):
            raise busy_error()
        arriving.append(sender)
        try:
            async with asyncio.timeout(RECEPTION_SECONDS):
                fields, name, data = await _sent(request, await _form(request), most=settings.file_bytes)
        except TimeoutError:
            raise APIError(408, "too_slow", f"the file did not arrive within {RECEPTION_SECONDS} seconds: send a"
                           " smaller one") from None
        finally:
            arriving.remove(sender)
        caller = service.access.authenticate(request, fields.get("api_key"))
        if fields.get("glossary"):
            raise APIError(400, "bad_request", "glossary: only /v1/translate takes one")
        columns, keys = (tuple(filter(None, re.split(r"\s*,\s*", fields.get(which, "").strip())))
                         for which in ("columns", "keys"))
        translated = await service.translate_document(
            name, data, caller=caller, source=fields["source"], target=fields["target"],
            model=fields.get("model") or None, options=FileOptions(columns=columns, keys=keys))
        path = PurePosixPath(re.sub(r"\.pot\Z", ".po", name, flags=re.IGNORECASE))  # of a template, a catalogue
        file = Download(f"{path.stem}.{fields['target']}{path.suffix}", translated.data, caller.account)
        own = downloads.add(file, extension=path.suffix.lower().removeprefix("."))
        where = request.url
        return TranslatedFile(
            translatedFileUrl=f"{where.scheme}://{where.netloc}{settings.root_path}/download_file/{own}",
            warnings=translated.warnings or None)

    @routes.get("/download_file/{name}", summary="Download a translated file", response_class=Response, responses={
        200: {"content": {"application/octet-stream": {}}, "description": "The file, with its name for saving"}})
    async def download_file(name: str) -> Response:
        file = downloads.find(name)
        return Response(file.data, media_type="application/octet-stream", headers={  # which no browser shows as a page
            "Content-Disposition": disposition(file.filename), "Cache-Control": "no-store"})

    return routes


def _sender(access: AccessControl, request: Request) -> Caller:
    """The sender of a file, as far as is known before the file has arrived; without an account if the key may be in the
    form.

    Raises APIError for a wrong key.
    """
    try:
        return access.authenticate(request, request.query_params.get("api_key"))
    except APIError as error:
        if error.code != "key_missing":
            raise
    return Caller("", request.client.host if request.client else "unknown")


class InMemory(MultiPartParser):
    """A parser that never writes files to disk; `RequestChecks` limits the size of the body."""

    spool_max_size = 0  # no limit


async def _form(request: Request) -> FormData:
    """The form of a request; empty for another kind of body."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "multipart/form-data":
        return FormData()
    try:
        async with aclosing(request.stream()) as stream:
            return await InMemory(request.headers, stream, max_files=1, max_fields=MOST_FIELDS,
                                  max_part_size=LONGEST_FIELD).parse()
    except MultiPartException as error:
        raise APIError(400, "bad_request", error.message) from None


async def _sent(request: Request, form: FormData, *, most: int) -> tuple[dict[str, str], str, bytes]:
    """The fields, and the name and bytes of the file; raises APIError if they are missing or too large."""
    given = {name: value for name, value in form.items() if isinstance(value, str)} | dict(request.query_params)
    file = form.get("file")
    if not isinstance(file, UploadFile):
        raise APIError(400, "bad_request", "Invalid request: missing file parameter")
    for name in ("source", "target"):
        if not given.get(name):
            raise APIError(400, "bad_request", f"Invalid request: missing {name} parameter")
    if (name := safe_name(file.filename or "")) == "":
        raise APIError(400, "bad_request", "Invalid request: empty file name; its extension gives the format")
    if (file.size or 0) > most:
        raise APIError(413, "file_too_large", f"the file has {file.size:,} bytes: at most {most:,} are allowed")
    return given, name, await file.read()


def safe_name(name: str) -> str:
    """The last part of a path of any system, without characters that control, shortened before its extension."""
    name = UNSAFE.sub("", name.replace("%22", '"'))  # which browsers write so in a form
    path = PurePosixPath(re.split(r"[/\\]", name)[-1].strip())
    return f"{path.stem[: LONGEST_NAME - len(path.suffix)]}{path.suffix}" if len(path.suffix) < LONGEST_NAME else ""


def disposition(filename: str) -> str:
    """The header that saves a file under a name (RFC 6266): in ASCII, and in UTF-8 for clients that support it."""
    plain = re.sub(r'[^ -~]|["\\%]', "_", filename)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(filename, safe='')}"


def documented() -> dict[str, Any]:
    """The form, for OpenAPI, which FastAPI cannot see."""
    text: dict[str, Any] = {"type": "string", "maxLength": LONGEST_FIELD // 4}
    what = {"file": {"type": "string", "contentMediaType": "application/octet-stream", "description": "the file"},
            "source": text | {"minLength": 1, "description": "source language, or `auto`"},
            "target": text | {"minLength": 1, "description": "target language"},
            "api_key": text | {"description": "the API key, if the server requires one"},
            "model": text | {"description": "name of the model (default: the first with the language pair)"},
            "columns": text | {"description": "for a table: names or numbers of the columns to translate, separated by "
                                "commas"},
            "keys": text | {"description": "for JSON: names of the members to translate, separated by commas"}}
    return {"required": True, "content": {"multipart/form-data": {"schema": {
        "type": "object", "properties": what, "required": ["file", "source", "target"]}}}}


def endings() -> list[str]:
    """The file extensions that can be translated, such as `.txt`."""
    return [f".{one}" for one in usable_formats()]
