"""A disk that is full or read-only, a folder without permission, names that are too long.

Each job says so in one message with the file and what to check, and what earlier jobs made stays as it was.
"""

from __future__ import annotations

import os
import random
import string
import subprocess
from pathlib import Path

import pytest

from usaav.errors import DataError
from usaav.whole_files import write_text

pytestmark = [pytest.mark.workflow, pytest.mark.faults]

# In a view of the file system that ends with the command, results lie on a small disk of their own.
SMALL_DISK = """
mount -t tmpfs -o size="$2" tmpfs "$1" && cp -a "$3/." "$1" || exit 77
results=$1; kept=$3; free=$4; shift 4
if [ "$free" != all ]; then
    head -c 1G /dev/zero > "$results/filler" 2>/dev/null
    [ "$free" = none ] || truncate -s -"$free" "$results/filler"
fi
"$@"; status=$?
rm -f "$results/filler"
find "$results" -name '.*.tmp' >&2
cp -a "$results/." "$kept"
exit $status
"""
READ_ONLY = """
mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" || exit 77
shift; exec "$@"
"""


def isolated(script: str, *words: str, code: Path, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, "sh", *words],
        env={**os.environ, "PYTHONPATH": str(code / "src")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=280,
        check=False,
        **options,
    )


@pytest.fixture(autouse=True)
def may_mount(tmp_path: Path, repo: Path) -> None:
    (tmp_path / "trial").mkdir()
    if os.geteuid() != 0 or isolated(READ_ONLY, str(tmp_path / "trial"), "true", code=repo).returncode != 0:
        pytest.skip("needs root and the right to mount")


def said(text: str) -> str:
    """What is told in words of ours: nothing of a traceback."""
    assert "Traceback" not in text, text
    return text


@pytest.mark.parametrize(
    ("target", "folder"),
    [
        ("results/simulations/rope/n8.nc", "simulations/rope"),
        pytest.param("results/metrics/rope.csv", "metrics", marks=pytest.mark.long),
        pytest.param("results/films/both.mp4", "films", marks=pytest.mark.long),
        pytest.param("results/claims.html", "claims.html", marks=pytest.mark.long),
    ],
)
def test_a_full_disk(copy, finished, tmp_path: Path, target: str, folder: str, count) -> None:
    """Results fill their disk but for a few kilobytes: the job starts, and can't write its file."""
    for path in [copy.results / folder] if folder.endswith("html") else (copy.results / folder).iterdir():
        path.unlink()
    kept = tmp_path / "kept"
    copy.results.rename(kept)
    copy.results.mkdir()
    before = {path.relative_to(kept).as_posix(): path.read_bytes() for path in kept.rglob("*.[cnph]*")}
    done = isolated(
        SMALL_DISK,
        str(copy.results),
        "64M",
        str(kept),
        "8k" if target.endswith("csv") else "12k",
        *copy.command("--", target),
        code=copy.code,
    )
    assert done.returncode not in {0, 77}, done.stdout
    text = said(done.stdout)
    assert target in text
    assert "No space left on device" in text or "can't write" in text
    assert "check free space and permissions" in text
    assert ".tmp" not in text.splitlines()[-1]
    for name, content in before.items():
        if not name.startswith(("logs", "benchmarks")):
            found = kept / name if (kept / name).exists() else (kept / name.replace(".", ".outdated.", 1))
            assert found.read_bytes() == content, name
    count("full disks")
    # with room again, the same command goes on
    copy.results.rmdir()
    kept.rename(copy.results)
    again = copy.run("--", target)
    assert again.status == 0, again.text
    wanted = target.removeprefix("results/")
    assert copy.contents()[wanted] == finished.contents()[wanted]


def test_a_disk_without_a_single_byte_left(copy, tmp_path: Path) -> None:
    """Not even a log can be written."""
    (copy.results / "metrics" / "rope.csv").unlink()
    kept = tmp_path / "kept"
    copy.results.rename(kept)
    copy.results.mkdir()
    command = copy.command("--", "results/metrics/rope.csv")
    done = isolated(SMALL_DISK, str(copy.results), "8M", str(kept), "none", *command, code=copy.code)
    assert done.returncode not in {0, 77}, done.stdout
    assert "No space left on device" in said(done.stdout)
    assert (kept / "figures" / "distances.pdf").exists()


@pytest.mark.parametrize("kept", [["rope.events.csv", "rope.columns.csv"], []])
def test_read_only_results(copy, kept: list[str]) -> None:
    """Snakemake sees that a file which is there is protected; where there is none, the run says so."""
    for path in (copy.results / "metrics").glob("rope*"):
        if path.name not in kept:
            path.unlink()
    before = copy.contents()
    command = copy.command("--", "results/metrics/rope.csv")
    done = isolated(READ_ONLY, str(copy.results), *command, code=copy.code)
    assert done.returncode not in {0, 77}, done.stdout
    text = said(done.stdout)
    assert "results/metrics" in text
    assert "Write-protected output" in text if kept else "can't write into this folder; check" in text
    assert copy.contents() == before


def test_a_folder_without_permission(copy) -> None:
    """Root may write anywhere unless it gives up the right to: then it is as any other user."""
    names = "-dac_override,-dac_read_search,-fowner"
    drop = ["setpriv", f"--bounding-set={names}", f"--inh-caps={names}"]
    folder = copy.results / "metrics"
    for path in folder.glob("rope*"):
        path.unlink()
    before = copy.contents()
    folder.chmod(0o555)
    try:
        if (
            subprocess.run([*drop, "touch", str(folder / "x")], capture_output=True, check=False).returncode
            == 0
        ):
            pytest.skip("the right to write anywhere can't be given up here")
        done = subprocess.run(
            [*drop, *copy.command("--", "results/metrics/rope.csv")],
            env={**os.environ, "PYTHONPATH": str(copy.code / "src")},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=100,
            check=False,
        )
    finally:
        folder.chmod(0o755)
    assert done.returncode != 0
    text = said(done.stdout)
    assert f"{folder}: can't write into this folder; check its permissions" in text
    assert copy.contents() == before


def test_names_that_are_too_long(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"can't write .*File name too long"):
        write_text(tmp_path / f"{'a' * 255}.csv", "text")
    assert [path.name for path in tmp_path.iterdir()] == ["trial"]


def test_the_longest_names_that_a_configuration_may_have(unstarted) -> None:
    """64 letters for an experiment, variant and figure; with all that comes before and behind, they fit."""
    name = "".join(random.Random(0).choices(string.ascii_lowercase, k=64))
    unstarted.replace(
        "tiny.yaml", "  rope:\n    kernel", f"  {name}:\n    variants: {{{name}: {{dim: 3}}}}\n    kernel"
    )
    unstarted.replace("tiny.yaml", "experiments: [rope]}\n\nfilms", f"experiments: [{name}]}}\n\nfilms")
    unstarted.replace("tiny.yaml", "  rope: {draw", f"  {name}: {{draw")
    text = (unstarted.directory / "tiny.yaml").read_text(encoding="utf-8")
    text = text[: text.index("films:")].replace("experiments: [baseline, rope]", "experiments: [baseline]")
    (unstarted.directory / "tiny.yaml").write_text(text, encoding="utf-8")
    outcome = unstarted.run("--", f"results/figures/{name}.pdf")
    assert outcome.status == 0, outcome.text
    assert f"simulations/{name}/{name}_n8.nc" in unstarted.files()
