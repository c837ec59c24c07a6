"""Claims about what publishes the course: GitHub's workflow and Binder's environment."""

from __future__ import annotations

import re
import subprocess

import pytest
import yaml
from conftest import ROOT

WORKFLOW = ROOT / ".github" / "workflows" / "book.yml"


@pytest.fixture(scope="module")
def workflow():
    """The workflow; YAML 1.1 reads its key `on` as true."""
    return yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))


def steps(workflow):
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def test_every_action_is_pinned_to_a_commit_and_says_its_version():
    used = re.findall(r"uses: (.*)", WORKFLOW.read_text(encoding="utf-8"))
    assert len(used) >= 5
    assert not [action for action in used if not re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action)]


def test_a_job_has_no_right_but_those_that_it_needs(workflow):
    assert workflow["permissions"] == {}
    assert {name: job["permissions"] for name, job in workflow["jobs"].items()} == {
        "build": {"contents": "read"},
        "publish": {"pages": "write", "id-token": "write"},
        "colab": {"contents": "write"},
    }


def test_nothing_is_published_from_a_pull_request_or_before_the_tests(workflow):
    assert set(workflow[True]) == {"push", "pull_request", "workflow_dispatch"}
    assert workflow[True]["push"] == {"branches": ["main"]}
    for name in ("publish", "colab"):
        job = workflow["jobs"][name]
        assert job["needs"] == "build"
        assert "github.ref == 'refs/heads/main'" in job["if"]
    said = [step.get("run", "") for step in workflow["jobs"]["build"]["steps"]]
    assert said.index("make test") < said.index("make pdf zip")


def test_every_job_and_command_is_bounded_and_is_a_script_that_bash_reads(workflow):
    assert all(job["timeout-minutes"] <= 60 for job in workflow["jobs"].values())
    for step in steps(workflow):
        assert ("run" in step) != ("uses" in step)
        if "run" in step:
            # An expression of GitHub's inside a script would be text put into a program: they come by `env` alone.
            assert "${{" not in step["run"]
            subprocess.run(["bash", "-n"], input=step["run"], text=True, check=True, timeout=10)


def test_what_the_workflow_makes_the_makefile_knows(workflow):
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    asked = {
        target
        for step in steps(workflow)
        for line in re.findall(r"make (.*)", step.get("run", ""))
        for target in line.split()
    }
    assert asked == {"test", "pdf", "zip"}
    assert asked <= targets


def test_binder_installs_pinned_packages_and_the_course():
    lines = (ROOT / ".binder" / "requirements.txt").read_text(encoding="utf-8").splitlines()
    wanted = [line for line in lines if not line.startswith("#")]
    pinned = set(re.findall(r"^([\w-]+)==", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.M))
    assert wanted[0] == "-c ../constraints.txt"
    assert wanted[-1] == "--editable ."
    assert set(wanted[1:-1]) <= pinned
    course = (ROOT / "requirements.txt").read_text(encoding="utf-8").split("# The course itself\n")[1].split("\n\n")[0]
    assert set(wanted[1:-1]) == set(re.findall(r"^([\w-]+)", course, re.M))
