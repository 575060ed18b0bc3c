"""Runs that go on together: each waits until all have asked for something, and one launch serves all.

A run keeps its own control, in a thread of its own; its steps are as large as it can take. Only the launches
are shared, which for few tokens cost more time than what they compute.
"""

from __future__ import annotations

import threading
from typing import Any

from numpy.typing import NDArray

from usaav.gpu.launches import Launches, Work


class _Request:
    def __init__(self, work: Work, run: NDArray[Any]) -> None:
        self.work, self.run = work, run
        self.done = False
        self.error: Exception | None = None


class Batch:
    """The runs of one call that are on the device."""

    def __init__(self, launches: Launches) -> None:
        self._launches = launches
        self._asked = threading.Condition()
        self._members = 0
        self._requests: list[_Request] = []

    def join(self) -> None:
        """Another run goes on with the others, which from now on wait for it."""
        with self._asked:
            self._members += 1

    def leave(self) -> None:
        """A run of the batch will ask no more."""
        with self._asked:
            self._members -= 1
            self._serve_if_all_wait()

    def ask(self, work: Work, run: NDArray[Any]) -> None:
        """Have `work` done for `run`, a row of the table, which afterwards holds the outcomes.

        Raises
        ------
        BackendError
            The device failed.
        """
        request = _Request(work, run)
        with self._asked:
            self._requests.append(request)
            self._serve_if_all_wait()
            self._asked.wait_for(lambda: request.done)
        if request.error is not None:
            raise request.error

    def _serve_if_all_wait(self) -> None:
        if not self._requests or len(self._requests) < self._members:
            return
        requests, self._requests = self._requests, []
        for work in dict.fromkeys(request.work for request in requests):
            alike = [request for request in requests if request.work == work]
            try:
                self._launches.serve(work, [request.run for request in alike])
            except Exception as error:  # noqa: BLE001  each of the runs raises it
                for request in alike:
                    request.error = error
        for request in requests:
            request.done = True
        self._asked.notify_all()
