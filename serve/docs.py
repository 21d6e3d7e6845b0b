"""The API's documentation as one page, made from its OpenAPI document: FastAPI's own would load a script from a CDN."""

import json
import shlex
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

STYLE = """
:root { color-scheme: light dark } body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto;
padding: 0 1rem } h2 { border-top: 1px solid; padding-top: .6rem; margin-top: 1.6rem } h3 { margin-bottom: 0 }
code, pre { font-size: .9em } pre { overflow-x: auto; border: 1px solid; padding: .6rem }
td { padding: .1rem 1rem .1rem 0; vertical-align: top }
"""


def docs_page(document: Mapping[str, Any]) -> str:
    """HTML, with nothing to load and nothing to run."""
    title = escape(document["info"]["title"])
    body = "\n".join(_operations(document))
    return (f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
            f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body><h1>{title}</h1>'
            f'<p>{escape(document["info"].get("description", ""))} The same for programs: '
            f'<a href="/openapi.json">/openapi.json</a></p>{body}</body></html>')


def _operations(document: Mapping[str, Any]) -> Iterator[str]:
    last = None
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            tag = next(iter(operation.get("tags", [])), "")
            if tag != last:
                yield f"<h2>{escape(tag)}</h2>"
                last = tag
            yield f"<h3><code>{escape(method.upper())} {escape(path)}</code></h3>"
            yield f"<p>{escape(operation.get('summary', ''))}. {escape(operation.get('description', ''))}</p>"
            content = operation.get("requestBody", {}).get("content", {})
            if "application/json" in content:
                name = content["application/json"]["schema"]["$ref"].rpartition("/")[2]
                yield from _body(path, document["components"]["schemas"][name])


def _body(path: str, schema: Mapping[str, Any]) -> Iterator[str]:
    rows = (f"<tr><td><code>{escape(name)}</code></td><td>{escape(str(field.get('description', '')))}</td></tr>"
            for name, field in schema["properties"].items())
    yield f"<table>{''.join(rows)}</table>"
    for example in schema.get("examples", []):
        text = shlex.quote(json.dumps(example, ensure_ascii=False))
        yield f"<pre>curl http://HOST{escape(path)} -H 'Content-Type: application/json' -d {escape(text)}</pre>"
