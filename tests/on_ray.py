"""A cluster of Ray whose nodes are processes of this machine."""

import contextlib
import os
from collections.abc import Iterator

import psutil
from ray.cluster_utils import Cluster

SMALL = {"object_store_memory": 10**8, "include_log_monitor": False}
VARIABLES = {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "RAY_enable_metrics_collection": "0",
             "RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled"}


class Nodes(Cluster):
    """A head without CPUs, where Ray's own processes are, and nodes that work."""

    def work_on(self, node, title):
        """The processes of a node whose title contains `title`, such as a task's name."""
        pid = node.all_processes["raylet"][0].process.pid
        found = []
        for one in psutil.Process(pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                if title in "".join(one.cmdline()):
                    found.append(one)
        return found

    def working(self, title):
        """The nodes with such processes."""
        return [node for node in self.worker_nodes if self.work_on(node, title)]

    def halted(self, title):
        """A node with such a process, halted in the middle of its task; None if there is none."""
        for node in self.worker_nodes:
            for process in self.work_on(node, title):
                process.suspend()
                if title in "".join(process.cmdline()):
                    return node
                process.resume()
        return None

    def lose(self, node) -> None:
        """All processes of a node die at once."""
        workers = self.work_on(node, "")
        self.remove_node(node, allow_graceful=False)
        for one in workers:
            with contextlib.suppress(psutil.NoSuchProcess):
                one.kill()

    def add(self, cpus=2) -> None:
        """Another node."""
        patiently(self.add_node, num_cpus=cpus, wait=False, **SMALL)


def patiently(start, **arguments):
    """Ray gives up on a node that has not started within 30 seconds, as on a busy machine.  What it leaves running is
    killed: it would join the cluster later, unknown to us, and take engines."""
    for attempts_left in (2, 1, 0):
        before = psutil.Process().children()
        try:
            return start(**arguments)
        except Exception:
            for left in set(psutil.Process().children()) - set(before):
                left.kill()
            if not attempts_left:
                raise


@contextlib.contextmanager
def cluster(*, nodes: int = 2, cpus: int = 2) -> Iterator[Nodes]:
    before = {name: os.environ.get(name) for name in VARIABLES}
    os.environ.update(VARIABLES)
    made = Nodes()
    try:
        patiently(made.add_node, num_cpus=0, include_dashboard=False, **SMALL)
        for _ in range(nodes):
            made.add(cpus)
        made.wait_for_nodes()
        yield made
    finally:
        made.shutdown()
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
