"""The OpenAPI document: schemathesis calls every operation as it says, and otherwise, with all its checks."""

import html
import re
import shlex
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
import serving

CONFIG = """
hooks = "{hooks}"
parameters = {{ "path.name" = "tiny" }}

[checks.positive_data_acceptance]
expected-statuses = ["2xx", 400, 403, 404, 413, 429]  # 400: see what_is_documented_is_taken in the hooks
"""


class Looked(serving.Stub):
    """Answers at once, and has been looked into before: a thousand requests are about the wire, not about a model.
    What goes further is asked of the real one."""

    def __init__(self, trace, real):
        super().__init__()
        self.trace = trace
        self.real = real

    def __getattr__(self, name):
        return getattr(self.real, name)

    def look(self, results, *, alternative=0, views=("raw",)):
        return [self.trace for _ in (results if isinstance(results, list) else [results])]


@pytest.fixture(scope="module")
def url(translator):
    [trace] = translator.look(translator("The cat."))
    with serving.running({"tiny": lambda: Looked(trace, translator)}) as server:
        yield server.url


@pytest.mark.few(1)
@pytest.mark.parametrize("phases", ["examples", "fuzzing", "coverage"])
def test_schemathesis_finds_nothing(url, tmp_path, phases):
    config = tmp_path / "schemathesis.toml"
    config.write_text(CONFIG.format(hooks=Path(__file__).with_name("schemathesis_hooks.py")), encoding="utf-8")
    command = [str(Path(sys.executable).with_name("schemathesis")), "--config-file", str(config), "run",
               f"{url}/openapi.json", "--checks", "all", "--phases", phases, "--seed", "1",
               "--max-examples", "1", "--generation-database", "none", "--no-color"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert "what_is_documented_is_taken" not in done.stdout


def test_the_lines_of_the_documentation_s_page_work_as_a_shell_reads_them(url):
    lines = re.findall(r"<pre>(curl .*?)</pre>", httpx.get(f"{url}/docs").text)
    assert len(lines) >= 8
    for curl, address, *options in (shlex.split(html.unescape(line)) for line in lines):
        asked = dict(zip(options[::2], options[1::2], strict=True))
        name, value = asked.get("-H", "Content-Type: application/x-www-form-urlencoded").split(": ")  # which is curl's
        there = url + address.removeprefix("http://HOST").replace("{model}", "tiny")
        answer = httpx.post(there, content=asked["-d"].encode(), headers={name: value}, timeout=60)
        assert (curl, answer.status_code) == ("curl", 200), (address, answer.text)
