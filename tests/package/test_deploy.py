"""The files of docs/deploy.md fit the server and each other; the commands that exchange nginx's file, and back, do."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from seq2see.cli.parser import build_parser
from seq2see.serve.request_checks import FIELDS_BYTES
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
    files = NGINX.partition("location = /translate_file {")[2].partition("}")[0]
    assert int(re.search(r"proxy_read_timeout (\d+)s;", files)[1]) > settings.file_seconds
    assert int(re.search(r"client_max_body_size (\d+)m;", files)[1]) * 1_000_000 > settings.file_bytes + FIELDS_BYTES
    assert "proxy_request_buffering off;" in files, "nor is a file"


@pytest.mark.skipif(sys.platform != "linux", reason="the page is for Linux")
def test_the_move_from_libretranslate_takes_the_old_tls_over_and_can_go_back(tmp_path):
    sites, new = tmp_path / "nginx" / "sites-enabled", tmp_path / "nginx" / "conf.d" / "seq2see.conf"
    for folder in (sites, new.parent, tmp_path / "move"):
        folder.mkdir(parents=True)
    old = tmp_path / "libre"  # as certbot leaves it, with a certificate of another name
    tls = ["ssl_certificate /x/cert.pem; # managed by Certbot", "ssl_certificate_key /x/key.pem; # managed by Certbot",
           "include /etc/letsencrypt/options-ssl-nginx.conf;", "ssl_dhparam /x/dh.pem;"]  # fmt: skip
    old.write_text("server {\n  server_name mt.example.net;\n  listen 443 ssl;\n    " + "\n\t".join(tls) + "\n}\n")
    (sites / "libre").symlink_to(old)
    page = (FOLDER.parent / "libretranslate.md").read_text("utf-8")
    blocks = re.findall(r"^```text\n(.*?)^```", page[page.index("**4. Cut over.**"):], re.MULTILINE | re.DOTALL)[:3]
    for path, here in (("/etc/nginx", tmp_path / "nginx"), ("/root/move", tmp_path / "move"),
                       ("/opt/seq2see", FOLDER.parents[1])):  # fmt: skip
        blocks = [block.replace(path, str(here)) for block in blocks]
    finding, exchange, back = blocks

    def run(commands: str) -> None:
        subprocess.run(["bash", "-ec", f"HOST=mt.example.net PORT=8001\n{commands}"], check=True, capture_output=True)

    run(finding + exchange.partition("nginx -t")[0])
    lines = [line.strip() for line in new.read_text("utf-8").splitlines()]
    assert all(lines.count(line) == 1 for line in tls) and sum(line.startswith("ssl_cert") for line in lines) == 2
    assert "proxy_pass http://127.0.0.1:8001;" in lines and lines.count("server_name mt.example.net;") == 2
    assert "example.org" not in new.read_text("utf-8") and not list(sites.iterdir())
    run(back.partition("nginx -t")[0])
    assert (sites / "libre").resolve() == old and not new.exists()
