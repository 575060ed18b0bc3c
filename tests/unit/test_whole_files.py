"""Files that appear whole or not at all."""

from __future__ import annotations

import pytest

from usaav.errors import DataError
from usaav.whole_files import write_text


def test_text_is_written_as_it_is(tmp_path):
    path = tmp_path / "new" / "näme.csv"
    write_text(path, "a,β\n1,2\n")
    write_text(path, "b\r\n")
    assert path.read_bytes() == b"b\r\n"
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_failed_write_leaves_nothing_behind(tmp_path):
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "inside").write_text("")
    with pytest.raises(DataError, match="can't write"):
        write_text(tmp_path / "taken", "text")
    assert [file.name for file in tmp_path.iterdir()] == ["taken"]
    with pytest.raises(DataError, match="can't write"):
        write_text(tmp_path / "taken" / "inside" / "file", "text")
