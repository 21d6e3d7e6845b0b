"""GitHub's workflows run what a developer runs, with actions that nobody can replace."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def steps(path):
    return [step for job in yaml.safe_load(path.read_text("utf-8"))["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_commit_and_targets_exist(path):
    targets = re.findall(r"^([\w./-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    for step in steps(path):
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", step.get("uses", "a/b@" + "0" * 40)), step
        for words in re.findall(r"^make (.+)$", step.get("run", ""), re.MULTILINE):
            names = [word for word in words.split() if "=" not in word and not word.startswith(".venv")]
            assert set(names) <= {*targets}, words


def test_the_oldest_and_the_newest_python_are_tried():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    versions = [name.rpartition(" ")[2] for name in project["classifiers"] if re.search(r":: 3\.\d+$", name)]
    assert workflow["jobs"]["linux"]["strategy"]["matrix"]["python"] == [versions[0], versions[-1]]
