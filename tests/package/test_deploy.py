"""The files of docs/deploy.md fit the server and each other."""

import re
from pathlib import Path

import yaml

from seq2see.cli.parser import build_parser
from seq2see.serve.settings import read_settings

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "deploy"
UNIT, NGINX = ((FOLDER / name).read_text("utf-8") for name in ("seq2see.service", "nginx.conf"))


def directive(name: str) -> str:
    return re.search(rf"^ *{name} +(\S+);", NGINX, re.MULTILINE)[1]


def test_the_unit_starts_the_server_that_nginx_asks_with_the_settings_of_the_page(tmp_path):
    command = re.search(r"^ExecStart=\S+/seq2see (.+)$", UNIT, re.MULTILINE)[1]
    args = build_parser().parse_args(command.split())
    assert (args.run, args.config) == (["everyday"], "/etc/seq2see/serve.yaml")
    assert directive("proxy_pass") == f"http://127.0.0.1:{args.port}" and args.host == "127.0.0.1"
    settings = read_settings(str(FOLDER / "serve.yaml"))
    assert set(yaml.safe_load((FOLDER / "serve.yaml").read_text("utf-8"))) <= set(vars(settings))
    assert "127.0.0.1" in settings.trusted_proxies and directive("server_name") in settings.allowed_hosts
    page = (FOLDER.parent / "deploy.md").read_text("utf-8")
    assert f">> {settings.keys_file}\n" in page and f"> {args.config}\n" in page


def test_nobody_gives_up_before_the_server_does():
    settings = read_settings(str(FOLDER / "serve.yaml"))
    assert int(re.search(r"^TimeoutStopSec=(\d+)$", UNIT, re.MULTILINE)[1]) > settings.grace_seconds
    assert int(directive("proxy_read_timeout").rstrip("s")) > max(settings.look_seconds, settings.deadline_seconds)
    assert int(directive("client_max_body_size").rstrip("m")) * 1_000_000 >= settings.body_bytes
    assert directive("client_body_buffer_size") == directive("client_max_body_size"), "no text is written to a file"
