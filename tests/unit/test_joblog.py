"""The log of a job: what goes where, and what remains of a failure."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import pytest

from usaav import joblog
from usaav.errors import DataError
from usaav.joblog import job_log


def test_keeps_what_is_printed_and_logged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "job.log"
    level = logging.getLogger().level
    with job_log(path):
        sys.stdout.write("printed\n")
        sys.stderr.write("written to the error stream\n")
        logging.getLogger("usaav").info("logged")
    text = path.read_text(encoding="utf-8")
    assert all(part in text for part in ("printed", "written to the error stream", "logged"))
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""
    assert logging.getLogger().level == level


def test_an_error_of_ours_is_told_and_its_traceback_logged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "job.log"
    with pytest.raises(SystemExit) as caught, job_log(path):
        raise DataError("case.nc: not a whole file; delete it")
    assert caught.value.code == 1
    assert capsys.readouterr().err == "case.nc: not a whole file; delete it\n"
    assert "Traceback" in path.read_text(encoding="utf-8")


def test_of_any_other_error_the_last_line_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "job.log"
    with pytest.raises(SystemExit), job_log(path):
        raise ZeroDivisionError("by zero")
    assert capsys.readouterr().err == "ZeroDivisionError: by zero\n"
    assert "Traceback" in path.read_text(encoding="utf-8")


def test_ctrl_c_passes_through(tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    with pytest.raises(KeyboardInterrupt), job_log(path):
        raise KeyboardInterrupt
    assert "KeyboardInterrupt" in path.read_text(encoding="utf-8")


def test_progress_goes_to_log_and_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(joblog, "INTERVAL", 0.0)
    path = tmp_path / "job.log"
    with job_log(path, title="rope/n64", runs=20) as progress:
        progress(2, 0.453)
    with job_log(tmp_path / "film.log", title="overview") as progress:
        progress(0, 0.5)
    assert path.read_text(encoding="utf-8") == "rope/n64: run 3 of 20, 45%\n"
    assert capsys.readouterr().err == "rope/n64: run 3 of 20, 45%\noverview: 50%\n"


def test_a_short_job_reports_no_progress(tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    with job_log(path, title="rope/n64", runs=20) as progress:
        progress(2, 0.453)
    assert path.read_text(encoding="utf-8") == ""


def test_removes_what_a_killed_job_left_of_its_own_outputs_only(tmp_path: Path) -> None:
    ours, others = tmp_path / ".n[8].nc.123.tmp", tmp_path / ".n8.nc.123.tmp"
    for file in (ours, others, tmp_path / "n[8].nc"):
        file.write_text("half")
    with job_log(tmp_path / "job.log", [tmp_path / "n[8].nc"]):
        pass
    assert not ours.exists()
    assert others.exists()
    assert (tmp_path / "n[8].nc").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_log_that_cannot_be_written_is_told_once_and_stops_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with job_log("/dev/full"):
        logging.getLogger("usaav").warning("one")
        sys.stdout.write("two\n")
    assert capsys.readouterr().err == "/dev/full: the log ends here (No space left on device)\n"
    with pytest.raises(SystemExit), job_log("/dev/full"):
        raise DataError("x.nc: can't write")
    assert capsys.readouterr().err.splitlines()[-1] == "x.nc: can't write"


def test_a_log_that_cannot_be_opened_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with job_log(tmp_path):
        sys.stdout.write("into nothing\n")
    assert f"{tmp_path}: no log can be written" in capsys.readouterr().err
