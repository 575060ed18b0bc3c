"""All batches of a sweep in one table and one file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pandas as pd

from usaav import tables
from usaav.metrics.columns import describe
from usaav.sweeps import stacks
from usaav.whole_files import replacing, write_text

__all__ = ["gather_stores", "gather_tables"]


def gather_tables(
    batches: Sequence[Path | str], cluster_angle: float, table: Path | str, columns: Path | str
) -> None:
    """Put the tables of all batches below one another.

    Parameters
    ----------
    batches
        Files of :func:`usaav.sweeps.batches.measure_batch`; rows keep their order.
    cluster_angle
        Radians, for the description of the columns.
    table
        Parquet file to write. A setting that some cases do not have is missing in their rows.
    columns
        CSV file to write: what each column is, with its unit.

    Raises
    ------
    DataError
        A table can't be read or written.
    """
    frames = [tables.read(path) for path in batches]
    rows = pd.concat(frames, ignore_index=True)
    with replacing(table) as temporary:
        rows.to_parquet(temporary, engine="pyarrow", index=False)
    write_text(columns, describe([("time", rows)], cluster_angle).to_csv(index=False, lineterminator="\n"))


def gather_stores(batches: Sequence[Path | str], store: Path | str) -> None:
    """Put the cases of all batches into one netCDF file, a batch at a time.

    It opens lazily, ``xarray.open_dataset(store, group="n64_d3")``: data are read when they are asked for.
    See :mod:`usaav.sweeps.stacks`; besides, each setting that cases differ in is a variable along ``case``.

    Parameters
    ----------
    batches
        Files of :func:`usaav.sweeps.batches.simulate_batch`; cases keep their order.
    store
        The file to write, all or nothing.

    Raises
    ------
    DataError
        A batch can't be read or the file can't be written.
    """
    longest = _longest(batches)
    settings: dict[str, list[dict[str, Any]]] = {}
    with replacing(store) as temporary, netCDF4.Dataset(temporary, "w") as file:
        for path in batches:
            for stack in stacks.read(Path(path)):
                group = stacks.append(file, stack, longest[stack.signature])
                settings.setdefault(group.name, []).extend(map(_settings, stack.attributes))
        for name, rows in settings.items():
            _write_settings(file[name], rows)


def _longest(batches: Sequence[Path | str]) -> dict[str, int]:
    """Signature -> the longest dimension ``merge`` in any batch."""
    longest: dict[str, int] = {}
    for path in batches:
        for name in stacks.groups(Path(path)):
            with netCDF4.Dataset(path) as file:
                group = file[name]
                length = len(group.dimensions["merge"]) if "merge" in group.dimensions else 0
                longest[group.signature] = max(length, longest.get(group.signature, 0))
    return longest


def _settings(attributes: str) -> dict[str, Any]:
    """What a case may be selected by: kernel, beta, and what distinguishes it in its experiment."""
    case = json.loads(json.loads(attributes)["settings"])
    kernel = case["settings"]["kernel"]
    found = {"kernel": kernel["type"], "beta": kernel.get("beta")}
    return {**found, **{key: value for key, value in case["parameters"].items() if key not in found}}


def _write_settings(group: netCDF4.Group, rows: Sequence[dict[str, Any]]) -> None:
    for name in dict.fromkeys(key for row in rows for key in row):
        # names with dots are allowed, but many programs take what stands before one for a group
        plain = name.replace(".", "_").replace("-", "_")
        key = f"setting_{plain}" if plain in group.variables else plain
        values = [row.get(name) for row in rows]
        if all(value is None or isinstance(value, (int, float)) for value in values):
            variable = group.createVariable(key, "f8", ("case",), fill_value=np.nan)
            variable.units = "1"
            variable[:] = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
        else:
            variable = group.createVariable(key, str, ("case",))
            variable[:] = np.array([_word(value) for value in values], dtype=object)
        variable.long_name = f"setting {name} of the case"


def _word(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
