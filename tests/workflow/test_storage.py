"""File systems as clusters have them: a read-only source, no home, no locks, results elsewhere."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.workflow

# In a view of the file system that ends with the command, two folders are read-only, for root too.
READ_ONLY = """
for folder in "$1" "$2"; do
    mount --bind "$folder" "$folder" && mount -o remount,bind,ro "$folder" || exit 77
done
shift 2
exec "$@"
"""


def read_only(
    code: Path, home: Path, command: list[str], **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["unshare", "--mount", "sh", "-c", READ_ONLY, "sh", str(code), str(home), *command],
        # this process has set numba's variables for itself, if a test before has imported the engine
        env={k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
        | {"HOME": str(home)}
        | environment,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home that can't be written."""
    (tmp_path / "home").mkdir()
    if os.geteuid() != 0 or read_only(tmp_path / "home", tmp_path / "home", ["true"]).returncode != 0:
        pytest.skip("needs root and the right to mount")
    return tmp_path / "home"


def test_a_read_only_source_and_home_and_results_elsewhere(
    copy_with_code, home: Path, tmp_path: Path
) -> None:
    run = copy_with_code
    (run.results / "figures" / "rope.pdf").unlink()
    # Snakemake itself does not start without a folder for its cache
    environment = {"PYTHONPATH": str(run.code / "src"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = read_only(run.code, home, run.command("--", "results/figures/rope.pdf"), **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (run.results / "figures" / "rope.pdf").exists()
    assert not list(home.iterdir())


COMPILED = """
import usaav
from usaav.flow import compiled
kernel = usaav.kernel({"type": "usa", "beta": 1})
tokens = usaav.initial_tokens({"law": "uniform"}, n_tokens=4, dim=3)
print(compiled.neighbours(tokens, tokens, 1e-6, 1e-18, 9) is not None)
"""


def test_compiled_code_is_kept_where_neither_source_nor_home_can_be_written(
    repo: Path, home: Path, tmp_path: Path
) -> None:
    code, temporary = tmp_path / "code", tmp_path / "temporary"
    shutil.copytree(repo / "src", code, ignore=shutil.ignore_patterns("__pycache__"))
    temporary.mkdir()
    environment = {"PYTHONPATH": str(code), "TMPDIR": str(temporary), "XDG_CACHE_HOME": ""}
    done = read_only(code, home, [sys.executable, "-c", COMPILED], **environment)
    assert done.stdout == "True\n", done.stderr
    assert not list(home.iterdir())
    # in a folder that the next job finds
    assert list(temporary.glob(f"usaav-numba-{os.getuid()}/**/compiled.neighbours*.nbi"))


READ = """
import sys
from pathlib import Path
from usaav import datasets
print(type(datasets.open_(Path(sys.argv[1]))).__name__)
"""


def test_a_file_that_is_locked_can_be_read_and_written(finished, tmp_path: Path) -> None:
    """What locks do on a file system without them can't be had here; that none are asked for, can."""
    stored = finished.results / "simulations" / "rope" / "n8.nc"
    with stored.open("rb+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        # in a process of its own, as in a job: HDF5 asks once, when it is loaded
        done = subprocess.run(
            [sys.executable, "-c", READ, str(stored)], capture_output=True, text=True, check=False
        )
    assert done.stdout == "Dataset\n", done.stderr
