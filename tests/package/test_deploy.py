"""The files of docs/deploy.md fit the server and each other; the commands that exchange nginx's file, and back, do."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from seq2see.cli.parser import build_parser
from seq2see.serve.request_checks import FIELDS_BYTES
from seq2see.serve.settings import read_settings

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "deploy"
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


def test_no_log_has_the_names_of_downloads():
    """The names are all that is needed to read them."""
    block = NGINX.partition("location /download_file/ {")[2].partition("}")[0]
    assert {"access_log off;", "error_log /dev/null;", "proxy_buffering off;"} <= set(re.findall(r"\S[^;#\n]*;", block))
    page = (FOLDER.parent / "deploy.md").read_text("utf-8")
    assert "`access_log off`" in page.partition("location /mt/download_file/ {")[2].partition("}")[0]


def test_systemctl_reload_sends_the_signal_that_reloads():
    assert re.search(r"^ExecReload=/bin/kill -HUP \$MAINPID$", UNIT, re.MULTILINE)


def test_the_compose_file_starts_the_image_s_server_with_the_keys_and_settings_of_the_page(tmp_path):
    file, image = yaml.safe_load((FOLDER / "compose.yaml").read_text("utf-8")), (ROOT / "Dockerfile").read_text("utf-8")
    [service] = file["services"].values()
    entry = json.loads(re.search(r"^ENTRYPOINT (.+)$", image, re.MULTILINE)[1])
    args = build_parser().parse_args([*entry[1:], *service["command"]])
    mounted = dict(volume.split(":")[:2] for volume in service["volumes"])
    assert mounted["./serve.yaml"] == args.config and args.host == "0.0.0.0" and args.run == ["everyday"]
    settings = read_settings(str(FOLDER / "serve.yaml"), args.set)
    [secret], [network] = service["secrets"], file["networks"]["default"]["ipam"]["config"]
    assert settings.keys_file == f"/run/secrets/{secret}" and secret in file["secrets"]
    assert settings.trusted_proxies == (network["gateway"],), "where nginx on the host comes from"
    assert service["ports"] == [f"{directive('proxy_pass').removeprefix('http://')}:{args.port}"]
    assert float(service["stop_grace_period"].rstrip("s")) > settings.grace_seconds
    healthy = json.loads(re.search(r"^HEALTHCHECK .*CMD (\[.+\])$", image, re.MULTILINE)[1])
    assert service["healthcheck"]["test"] == ["CMD", *healthy] and f"127.0.0.1:{args.port}/readyz" in healthy[-1]
    assert "127.0.0.1" in settings.allowed_hosts, "the health check's host"
    user, home = re.search(r"--uid (\d+) seq2see$", image, re.MULTILINE)[1], re.search("WORKDIR (/home/.+)", image)[1]
    assert f"chown {user} {Path(file['secrets'][secret]['file']).name}" in (FOLDER / "compose.yaml").read_text("utf-8")
    assert mounted["cache"] == f"{home}/.cache" and service["build"] == "../.."
    assert service["read_only"] and service["cap_drop"] == ["ALL"] and service["tmpfs"] == ["/tmp"]


def test_the_image_s_commands_are_those_of_this_project():
    """The target of make, and what is left out of the context is none that the package needs."""
    image = (ROOT / "Dockerfile").read_text("utf-8")
    target, = re.findall(r"make (\S+)", image.replace("recommends make", ""))
    assert f"USE := {target}\n" in (ROOT / "Makefile").read_text("utf-8")
    left_out = {line.rstrip("/") for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines()}
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["package-dir"]
    assert left_out.isdisjoint(Path(folder).parts[0] for folder in packages.values() if Path(folder).parts)


@pytest.mark.skipif(sys.platform != "linux", reason="the page is for Linux")
def test_the_move_from_libretranslate_takes_the_old_tls_over_and_can_go_back(tmp_path):
    sites, new = tmp_path / "nginx" / "sites-enabled", tmp_path / "nginx" / "conf.d" / "seq2see.conf"
    for folder in (sites, new.parent, tmp_path / "move"):
        folder.mkdir(parents=True)
    old = tmp_path / "libre"  # as certbot leaves it, with a certificate of another name
    tls = ["ssl_certificate /x/cert.pem; # managed by Certbot", "ssl_certificate_key /x/key.pem; # managed by Certbot",
           "include /etc/letsencrypt/options-ssl-nginx.conf;", "ssl_dhparam /x/dh.pem;"]
    old.write_text("server {\n  server_name mt.example.net;\n  listen 443 ssl;\n    " + "\n\t".join(tls) + "\n}\n")
    (sites / "libre").symlink_to(old)
    page = (FOLDER.parent / "libretranslate.md").read_text("utf-8")
    page = page[page.index("### 4. Switch nginx over"):]
    blocks = re.findall(r"^```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL)[:3]
    (tmp_path / "seq2see").symlink_to(FOLDER.parents[1])  # the path of a checkout may have spaces
    for path, here in (("/etc/nginx", tmp_path / "nginx"), ("/root/move", tmp_path / "move"),
                       ("/opt/seq2see", tmp_path / "seq2see")):
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
