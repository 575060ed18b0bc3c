"""Results that their data have overtaken do not keep the name of a current one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from usaav import outdated
from usaav.joblog import job_log


def made(path: Path, time: int) -> Path:
    path.write_text("old")
    os.utime(path, ns=(time, time))
    return path


def test_what_is_there_moves_and_data_stay(tmp_path: Path) -> None:
    files = [made(tmp_path / name, 1) for name in ("a.pdf", "a.events.csv", "b.nc", "c.parquet")]
    moved = outdated.set_aside([*files, tmp_path / "absent.pdf"])
    assert [path.name for path in moved] == ["a.outdated.pdf", "a.events.outdated.csv"]
    assert {path.name for path in tmp_path.iterdir()} == {
        "a.outdated.pdf",
        "a.events.outdated.csv",
        "b.nc",
        "c.parquet",
    }


def test_only_what_is_older_than_a_source_is_overtaken(tmp_path: Path) -> None:
    source, absent = made(tmp_path / "data.nc", 5), tmp_path / "absent.nc"
    older, newer = made(tmp_path / "old.pdf", 4), made(tmp_path / "new.pdf", 6)
    sources = [absent, source]
    assert outdated.overtaken({older: sources, newer: sources, tmp_path / "no.pdf": sources}) == [older]
    assert outdated.overtaken({older: [absent]}) == []


def test_a_job_deletes_the_old_file_when_the_new_one_is_there(tmp_path: Path) -> None:
    output = tmp_path / "a.pdf"
    outdated.set_aside([made(output, 1)])
    with pytest.raises(SystemExit), job_log(tmp_path / "log", [output]):
        raise ValueError("no figure")
    assert outdated.aside(output).exists()
    with job_log(tmp_path / "log", [output]):
        output.write_text("new")
    assert {path.name for path in tmp_path.iterdir()} == {"a.pdf", "log"}


def test_what_was_set_aside_and_how_to_go_on_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    outdated.tell([Path(f"{letter}.outdated.pdf") for letter in "abcdefgh"], outdated.HOW_TO_GO_ON)
    told = capsys.readouterr().err
    assert "a.outdated.pdf" in told
    assert "and 2 more" in told
    assert "give the same command again" in told
    outdated.tell([])
    assert not capsys.readouterr().err
