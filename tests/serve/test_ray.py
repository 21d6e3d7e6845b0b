"""The server by Ray Serve on two nodes, one front and some engines: it answers as any server, and under load engines
come and go, with their node or with their model.

What else a front is asked is for `test_replicated.py`; here that Ray carries it.
"""

import contextlib
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from seq2see import Translator
from seq2see.errors import UserError

ray = pytest.importorskip("ray", reason="the extra ray is not installed")
pytestmark = pytest.mark.timeout(900)  # each wait has an end of its own

TEXTS = ("The cat did not cross.", "The cat is tired.", "The box is big.")
PATIENCE = 240  # seconds for one thing: other tests keep the cores busy
ENGINES = "ServeReplica:engines:Engines"  # in the title of their processes


@pytest.fixture(scope="module")
def nodes(two_nodes, tmp_path_factory):
    """The cluster, with Ray Serve, as an operator has it: `deploy` writes the YAML and hands it to Ray's command."""
    from ray import serve

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    two_nodes.url, two_nodes.yaml = f"http://127.0.0.1:{port}", tmp_path_factory.mktemp("serve") / "ray.yaml"
    ray.init(two_nodes.address, configure_logging=False, log_to_driver=False)
    try:
        yield two_nodes
    finally:
        serve.shutdown()
        ray.shutdown()


def deploy(nodes, *, engines, model="storybook", root=Path(__file__).parents[2]):
    """The YAML of the documentation with other values; waits until all engines run."""
    config = yaml.safe_load((root / "docs" / "deploy" / "ray.yaml").read_text("utf-8"))
    config["http_options"] = {"host": "127.0.0.1", "port": int(nodes.url.rpartition(":")[2])}
    config["applications"][0]["args"] = {"models": f"served:{model}", "engine": "ctranslate2"}
    config["applications"][0]["deployments"][0]["autoscaling_config"] |= {
        "min_replicas": engines, "max_replicas": engines}
    nodes.yaml.write_text(yaml.safe_dump(config), encoding="utf-8")
    command = [sys.executable, "-m", "ray.serve.scripts", "run", "--non-blocking", "--address", nodes.address,
               str(nodes.yaml)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    until(lambda: len(of_engines(nodes)) == engines, f"there are not {engines} engines")
    until(lambda: ready(nodes), "the front is not ready")


def ready(nodes):
    with contextlib.suppress(httpx.HTTPError):
        return httpx.get(f"{nodes.url}/readyz", timeout=60).text == "ready"


def of_engines(nodes):
    """The processes of the engines."""
    return [one.pid for node in nodes.worker_nodes for one in nodes.work_on(node, ENGINES)]


def until(condition, what):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.2)


class Load:
    """Clients that ask all the time.  `right` and `refused` are the numbers of requests that got their own answer, and
    503 with Retry-After; `wrong` is what is neither, `slowest` in seconds."""

    def __init__(self, url, *models):
        self.url = url
        self.expected = {text: {Translator.from_pretrained(model)(text, target="fr").text for model in models}
                         for text in TEXTS}
        self.right, self.refused, self.wrong, self.slowest = 0, 0, [], 0.0

    def _ask(self, stopped):
        while not stopped.is_set():
            for text in TEXTS:
                began = time.monotonic()
                try:
                    answer = httpx.post(f"{self.url}/v1/translate", json={"texts": [text], "target": "fr"}, timeout=60)
                except httpx.HTTPError as error:
                    self.wrong.append(repr(error))
                    continue
                self.slowest = max(self.slowest, time.monotonic() - began)
                if answer.status_code == 503 and answer.headers["retry-after"]:
                    self.refused += 1
                elif answer.status_code == 200 and (
                        answer.json()["translations"][0]["text"] in self.expected[text]):
                    self.right += 1
                else:
                    self.wrong.append(answer.text)

    @contextlib.contextmanager
    def of(self, clients):
        """Inside, so many clients ask; at the end all have their answer."""
        stopped = threading.Event()
        threads = [threading.Thread(target=self._ask, args=(stopped,)) for _ in range(clients)]
        for one in threads:
            one.start()
        try:
            yield self
        finally:
            stopped.set()
            for one in threads:
                one.join(70)
            assert not any(one.is_alive() for one in threads)

    def wait_for(self, more):
        """Until so many more have been right."""
        enough = self.right + more
        until(lambda: self.right >= enough, f"{self.right} right, {self.refused} refused, wrong: {self.wrong}")


def counted(nodes):
    """The samples of /metrics: name and labels, and the value."""
    text = httpx.get(f"{nodes.url}/metrics", timeout=60).text
    return [(one.name, one.labels, one.value) for family in text_string_to_metric_families(text)
            for one in family.samples]


def test_a_node_is_lost_under_load(nodes):
    """Each request gets its own answer, or 503 with Retry-After; none waits for ever.  Before that it answers as any
    server does, and its metrics are those of both engines."""
    deploy(nodes, engines=2)
    sent = {"text": TEXTS[0], "target": "fr", "evidence": True, "maps": ["cross"]}
    load = Load(nodes.url, "storybook")
    [trace] = httpx.post(f"{nodes.url}/v1/look", json=sent, timeout=120).json()["traces"]
    assert {trace["target_text"]} == load.expected[TEXTS[0]]
    assert len(trace["evidence"]["log_odds"]) == len(trace["words"]["target"])
    answer = httpx.post(f"{nodes.url}/translate", json={"q": "Hi", "source": "en", "target": "zz"}, timeout=60)
    assert answer.status_code == 400 and answer.json()["error"].startswith("this model does not translate to zz")
    assert "Seq2See" in httpx.get(f"{nodes.url}/ui/", timeout=60).text
    with load.of(clients=4):
        load.wait_for(100)
        found = counted(nodes)
        assert ("seq2see_engines", {}, 2.0) in found
        read = [value for name, labels, value in found if name == "seq2see_tokens_total" and labels["side"] == "source"]
        assert len(read) == 2 and min(read) > 0
        before = set(of_engines(nodes))
        nodes.lose(nodes.working(ENGINES)[0])
        left = before & set(of_engines(nodes))
        assert left < before
        load.wait_for(100)
        nodes.add()
        until(lambda: len(set(of_engines(nodes)) - left) == len(before - left), "no engine in place of the lost one")
        load.wait_for(20)
    assert not load.wrong and load.slowest < 30
    print(f"{load.right} right, {load.refused} refused, slowest {load.slowest:.1f} s")


@pytest.mark.long
def test_engines_and_models_change_under_load_and_nothing_is_lost(nodes):
    """From one engine to four and back, and from one model to another under the same name."""
    deploy(nodes, engines=1)
    load = Load(nodes.url, "storybook", "everyday")
    with load.of(clients=4):
        load.wait_for(50)
        for engines in (4, 1):
            deploy(nodes, engines=engines)
            load.wait_for(50)
            until(lambda wanted=engines: ("seq2see_engines", {}, wanted) in counted(nodes), "metrics of other engines")
        deploy(nodes, engines=2)
        deploy(nodes, engines=2, model="everyday")
        until(lambda: "de" in httpx.get(f"{nodes.url}/v1/models", timeout=60).text, "the front has the old languages")
        load.wait_for(50)
    assert not load.wrong and not load.refused
    print(f"{load.right} right, {load.refused} refused, slowest {load.slowest:.1f} s")
    only = Load(nodes.url, "everyday")
    with only.of(clients=2):
        only.wait_for(20)
    assert not only.wrong


@pytest.mark.parametrize("name, arguments, said", [
    ("engines", {}, "there are no models: expected models="),
    ("engines", {"models": "x", "modles": "y"}, "unknown argument modles: expected models="),
    ("engines", {"models": "x", "cpus": "all"}, "cpus must be a whole number"),
    ("front", {"models": "x"}, "unknown argument models: expected config=FILE"),
])
def test_wrong_arguments_are_one_line(name, arguments, said):
    from seq2see.serve import ray_app

    with pytest.raises(UserError, match=said):
        getattr(ray_app, name)(arguments)


def test_a_model_has_its_own_name_or_a_given_one():
    from seq2see.serve.ray_app import named

    assert [*map(named, ("runs/v2", "everyday", "mine:runs/v2", "opus:Helsinki-NLP/opus-mt-en-fr"))] == [
        ("v2", "runs/v2"), ("everyday", "everyday"), ("mine", "runs/v2"), ("opus", "Helsinki-NLP/opus-mt-en-fr")]
