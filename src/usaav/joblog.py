"""What a job of the workflow tells: all to its log file, and what a person follows to the terminal too."""

from __future__ import annotations

import io
import logging
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from glob import escape
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from usaav.errors import UsaavError
from usaav.outdated import aside

__all__ = ["job_log"]

#: seconds between two lines of progress, so that short jobs say nothing and long ones do not flood
INTERVAL = 10.0


@contextmanager
def job_log(
    path: str | Path,
    outputs: Iterable[str | Path] = (),
    title: str = "",
    runs: int = 1,
    unit: str = "run",
) -> Iterator[Callable[[int, float], None]]:
    """Send what the block prints, logs and warns to the file `path`; yield a function that reports progress.

    What outdated results of theirs were set aside (:mod:`usaav.outdated`) is deleted when the block has ended
    well. A log that can't be written is told to the terminal and stops nothing.

    The function is called as ``progress(run, fraction)``, with the run that is under way, counted from 0, and
    the fraction of it that is done. It writes at most one line each ten seconds, to log and terminal.

    Parameters
    ----------
    path
        The log file; its folder must exist.
    outputs
        The files that the job makes. They are written as ``.<name>.<process>.tmp``, then renamed, so a job
        that was killed may have left such a file; it is removed first.
    title, runs, unit
        Name of the job, its number of runs, and what a run is called, for the lines of progress.

    Raises
    ------
    SystemExit
        The block failed. The log then has the traceback, the terminal the message of a :class:`UsaavError`,
        or the last line for any other exception. (Ctrl-C passes through, after its traceback is logged.)
    """
    made = [Path(output) for output in outputs]
    terminal = sys.stderr
    with _opened(Path(path), terminal) as log:
        _clear(left for output in made for left in output.parent.glob(f".{escape(output.name)}.*.tmp"))
        handler = logging.StreamHandler(log)
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        logger = logging.getLogger()
        level = logger.level
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        try:
            with redirect_stdout(log), redirect_stderr(log):
                yield _progress([log, terminal], title, runs, unit)
            _clear(map(aside, made))
        except UsaavError as error:
            raise _failure(log, terminal, str(error)) from error
        except Exception as error:
            message = traceback.format_exception_only(error)[-1].strip()
            raise _failure(log, terminal, message) from error
        except BaseException:
            traceback.print_exc(file=log)
            raise
        finally:
            logger.removeHandler(handler)
            logger.setLevel(level)


class _Log(io.TextIOWrapper):
    """Text to a file; that it can't be written, as on a full disk, is told once and no error of the job."""

    def __init__(self, path: Path, terminal: TextIO) -> None:
        super().__init__(
            cast("BinaryIO", path.open("wb", buffering=0)),
            encoding="utf-8",
            errors="backslashreplace",
            write_through=True,
        )
        self._path, self._terminal, self._works = path, terminal, True

    def write(self, text: str) -> int:
        if self._works:
            try:
                super().write(text)
            except OSError as error:
                self._works = False
                self._terminal.write(f"{self._path}: the log ends here ({error.strerror})\n")
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            super().flush()

    def close(self) -> None:
        with suppress(OSError):
            super().close()


def _opened(path: Path, terminal: TextIO) -> TextIO:
    try:
        return _Log(path, terminal)
    except OSError as error:
        terminal.write(
            f"{path}: no log can be written ({error.strerror}); check free space and permissions\n"
        )
        return io.StringIO()


def _clear(files: Iterable[Path]) -> None:
    for file in files:
        with suppress(OSError):
            file.unlink(missing_ok=True)


def _failure(log: TextIO, terminal: TextIO, message: str) -> SystemExit:
    traceback.print_exc(file=log)
    terminal.write(f"{message}\n")
    return SystemExit(1)


def _progress(streams: list[TextIO], title: str, runs: int, unit: str) -> Callable[[int, float], None]:
    last = time.monotonic()

    def progress(run: int, fraction: float) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= INTERVAL:
            last = now
            place = f"{unit} {run + 1} of {runs}, " if runs > 1 else ""
            for stream in streams:
                stream.write(f"{title}: {place}{fraction:.0%}\n")
                stream.flush()

    return progress
