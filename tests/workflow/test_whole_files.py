"""Killed while it writes, a process leaves the old file or the new one, never a part of either."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.faults

KILLS = 15
#: writer -> how it writes the version `turn` (0 or 1) to `path`; each kind of file that the workflow makes
WRITERS = {
    "text": "write_text(path, str(turn) * 200_000)",
    "netCDF": "datasets.save(stored[turn], path)",
    "batch": "write_stacks(stored[turn], path)",
    "Parquet": "write_parquet(tables[turn], path)",
    "figure": "saving.save(figures[turn], path, path.with_suffix('.png'))",
}
# The parent forks a child that writes one version after the other, and kills it at a random moment.
SCRIPT = """
import os, random, signal, sys, time
from pathlib import Path
import matplotlib
matplotlib.use("Agg")
import netCDF4, numpy as np, pandas as pd
from matplotlib.figure import Figure
import usaav
from usaav import datasets
from usaav.figures import saving
from usaav.sweeps import stacks
from usaav.whole_files import replacing, write_text

def write_stacks(dataset, path):
    with replacing(path) as temporary, netCDF4.Dataset(temporary, "w") as file:
        for stack in stacks.stacked([dataset.assign_attrs(case="a", settings="{}")]):
            stacks.append(file, stack)

def write_parquet(table, path):
    with replacing(path) as temporary:
        table.to_parquet(temporary, engine="pyarrow", index=False)

def drawn(turn):
    figure = Figure()
    figure.subplots().plot([0, 1], [turn, 1 - turn])
    return figure

kernel = usaav.kernel({"type": "usa", "beta": 1})
tokens = [usaav.initial_tokens({"law": "uniform"}, n_tokens=64, dim=3, seed=seed) for seed in range(2)]
stored = [usaav.simulate(kernel, rows, times=[0.0, 1.0], backend="numpy", rtol=1e-3) for rows in tokens]
tables = [pd.DataFrame({"x": np.arange(20_000) + turn}) for turn in range(2)]
figures = [drawn(turn) for turn in range(2)]

folder = Path(sys.argv[1])
def write(turn, path):
    WRITER

def contents(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir() if not file.name.endswith(".tmp")}

versions = []
for turn in range(2):
    folder.mkdir(exist_ok=True)
    start = time.perf_counter()
    write(turn, folder / "f.pdf")
    once = time.perf_counter() - start
    versions.append(contents(folder))
moment = random.Random(sys.argv[2])
cut = number = 0
# a kill that meets no write tests nothing, and on a busy machine that may be so for most
while number < KILLS or (cut == 0 and number < 40 * KILLS):
    number += 1
    child = os.fork()
    if child == 0:
        for turn in range(1000):
            write(turn % 2, folder / "f.pdf")
        os._exit(0)
    time.sleep(moment.uniform(0.2, 3.0) * once)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    for name, content in contents(folder).items():
        assert content in [version[name] for version in versions], (number, name)
    left = [file for file in folder.iterdir() if file.name.endswith(".tmp")]
    cut += bool(left)
    for file in left:
        file.unlink()
print(number, cut)
"""


@pytest.mark.parametrize("writer", WRITERS)
def test_a_kill_while_writing_leaves_whole_files(tmp_path: Path, writer: str, count) -> None:
    script = SCRIPT.replace("WRITER", WRITERS[writer]).replace("KILLS", str(KILLS))
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "out"), writer],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    kills, cut = map(int, done.stdout.split())
    # else no kill has met a write, and nothing was tested
    assert cut > 0
    count("kills of one writer survived", kills)
