"""A Slurm of its own for these tests: one node, this machine, gone when they end.

Slurm comes from the system's packages. It runs without munge, database and cgroups, on free ports of the
loopback device, with all its files in a temporary folder; an installed Slurm is not touched.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

PROGRAMS = ("slurmctld", "slurmd", "sbatch", "squeue", "sinfo", "scancel", "srun")
TINY = Path(__file__).parents[1] / "workflow" / "tiny.yaml"
MEMORY = 6000  # megabytes of the node, as Slurm sees it

SETTINGS = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2
ReturnToService=2
MpiDefault=none
SwitchType=switch/none
# Jobs that take more memory than they asked for are ended.
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
JobAcctGatherParams=OverMemoryKill
# As on a small cluster: no accounting.
AccountingStorageType=accounting_storage/none
MinJobAge=600
KillWait=5
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} RealMemory={memory} State=UNKNOWN
PartitionName=standard Nodes=ALL Default=YES MaxTime=1-00:00:00 State=UP
"""


@dataclass(frozen=True)
class Run:
    """Snakemake in a working directory, with results below it."""

    code: Path
    directory: Path
    environment: Mapping[str, str]

    @property
    def results(self) -> Path:
        return self.directory / "results"

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start Snakemake; `words` are options and, after ``--``, targets."""
        where = ["-s", str(self.code / "Snakefile"), "--directory", str(self.directory)]
        files = ["--configfile", str(self.directory / "tiny.yaml")]
        return subprocess.Popen(
            [sys.executable, "-m", "snakemake", *where, *files, *words],
            cwd=self.directory,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def start_on_slurm(self, *words: str) -> subprocess.Popen[str]:
        """The same through the profile as it is shipped, but for how often Slurm is asked."""
        often = ["--slurm-init-seconds-before-status-checks", "5", "--latency-wait", "10"]
        return self.start("--profile", str(self.code / "profiles" / "slurm"), *often, *words)

    def on_slurm(self, *words: str) -> tuple[int, str]:
        """Run through the profile to the end: exit status and text."""
        return self.finish(self.start_on_slurm(*words))

    @staticmethod
    def finish(process: subprocess.Popen[str], seconds: float = 400) -> tuple[int, str]:
        """Exit status and text of a run; one that hangs is ended."""
        try:
            text, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            text, _ = process.communicate()
            pytest.fail(f"still running after {seconds:g} seconds:\n{text[-4000:]}")
        return process.returncode, text

    def squeue(self, fields: str) -> list[str]:
        """What Slurm knows about all jobs, also those that ended, a line each, the oldest first."""
        command = ["squeue", "--states=all", "--noheader", f"--format=%i {fields}"]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=True)
        lines = [line.split(maxsplit=1) for line in done.stdout.splitlines()]
        return [rest for _, rest in sorted(lines, key=lambda line: int(line[0]))]


@pytest.fixture(scope="session")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, str]]:
    """The environment in which Slurm's commands talk to the Slurm of these tests."""
    if os.environ.get("USAAV_TEST_SLURM") != "1":
        pytest.skip("starts a Slurm of its own: run `make test-slurm`")
    missing = [program for program in PROGRAMS if not shutil.which(program)]
    if os.geteuid() != 0 or missing:
        pytest.skip(
            f"needs root and Slurm's programs ({', '.join(missing) or 'not root'}): apt install slurm-wlm"
        )
    folder = tmp_path_factory.mktemp("slurm")
    environment = written(folder)
    daemons: list[subprocess.Popen[bytes]] = []
    try:
        for name in ("slurmctld", "slurmd"):
            with (folder / f"{name}.out").open("wb") as out:
                daemons.append(
                    subprocess.Popen(
                        [name, "-D"], env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out
                    )
                )
        wait_until_idle(folder, environment, daemons)
        yield environment
    finally:
        stop(environment, daemons)


def written(folder: Path) -> dict[str, str]:
    """Write the settings into `folder`; the environment that goes with them."""
    for name in ("state", "spool", "bin"):
        (folder / name).mkdir()
    settings = folder / "slurm.conf"
    settings.write_text(
        SETTINGS.format(
            folder=folder,
            host=socket.gethostname().split(".")[0],
            controller_port=free_port(),
            node_port=free_port(),
            cores=len(os.sched_getaffinity(0)),
            memory=MEMORY,
        )
    )
    # Inside a job the plugin deletes every SLURM_* variable before it calls srun, and with them the settings.
    shim = folder / "bin" / "srun"
    shim.write_text(f'#!/bin/sh\nSLURM_CONF="{settings}" exec {shutil.which("srun")} "$@"\n')
    shim.chmod(0o755)
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("SLURM_", "SBATCH_", "SRUN_", "COVERAGE_", "COV_CORE_", "PYTEST_"))
    }
    return {**inherited, "SLURM_CONF": str(settings), "PATH": f"{folder}/bin:{os.environ['PATH']}"}


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def wait_until_idle(
    folder: Path, environment: Mapping[str, str], daemons: list[subprocess.Popen[bytes]]
) -> None:
    end = time.monotonic() + 60
    while True:
        asked = subprocess.run(
            ["sinfo", "--noheader", "--format=%T"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if asked.stdout.strip() == "idle":
            return
        if time.monotonic() > end or any(daemon.poll() is not None for daemon in daemons):
            logs = [path.read_text(errors="replace")[-2000:] for path in sorted(folder.glob("slurm*.log"))]
            pytest.fail("\n".join(["Slurm did not start:", asked.stderr, *logs]))
        time.sleep(0.1)


def stop(environment: Mapping[str, str], daemons: list[subprocess.Popen[bytes]]) -> None:
    """End all jobs, then the daemons, the node's first: each is a child of ours and ended by its own id."""
    subprocess.run(["scancel", "--user=root"], env=environment, capture_output=True, timeout=30, check=False)
    for daemon in reversed(daemons):
        daemon.terminate()
        try:
            daemon.wait(20)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()


def fresh(code: Path, directory: Path, environment: Mapping[str, str]) -> Run:
    """A working directory with nothing in it but the configuration."""
    directory.mkdir(parents=True)
    shutil.copy(TINY, directory / "tiny.yaml")
    return Run(code, directory, environment)


@pytest.fixture(scope="session")
def local(slurm: Mapping[str, str], repo: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The finished run of the same configuration on this machine, without Slurm; not to be changed."""
    run = fresh(repo, tmp_path_factory.mktemp("local") / "run", slurm)
    status, text = run.finish(run.start("--cores", "2"))
    assert status == 0, text
    return run


@pytest.fixture
def run(slurm: Mapping[str, str], repo: Path, tmp_path: Path) -> Run:
    """A run that has not started, on Slurm."""
    return fresh(repo, tmp_path / "run", slurm)
