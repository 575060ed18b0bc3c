"""The netCDF contract: how datasets are written, and what a file must hold to be read.

A file is written under a temporary name in its own folder, read back, and then renamed: whatever stands under
a final name is whole.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from usaav.config.cases import Case
from usaav.errors import ConfigError, DataError
from usaav.flow.variables import CONVENTIONS, COORDINATES, VARIABLES

#: raised when the meaning of a variable changes; older files are refused
FORMAT = "usaav-1"
_REQUIRED = ("tokens", "energy", "dirac_distance", "mean_token", "label", "step_count")
_HOW_TO_MEND = "delete the file and run the same snakemake command again"


def save(dataset: xr.Dataset, path: Path) -> None:
    """Write `dataset` to `path` (netCDF4, compressed), all or nothing.

    Raises
    ------
    DataError
        A variable is unknown or not finite where it must be, the folder can't be written, or the file does
        not read back.
    """
    _check_contents(dataset, path)
    marked = dataset.assign_attrs({"Conventions": CONVENTIONS, "format": FORMAT, **dataset.attrs})
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        marked.to_netcdf(temporary, format="NETCDF4", engine="netcdf4", encoding=_encoding(marked))
        with xr.open_dataset(temporary, engine="netcdf4") as written:
            _check_same(written, marked, path)
        temporary.replace(path)
    except (OSError, RuntimeError) as error:
        raise DataError(
            f"{path}: can't write ({error}); check free space and permissions, then run again"
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


def open_(
    path: Path, *, experiment: str | None = None, case: str | None = None, in_place: bool = False
) -> xr.Dataset:
    """Read a file that :func:`save` wrote, whole, into memory.

    Parameters
    ----------
    path
        The file.
    experiment, case
        If given, the names that its attributes must carry.
    in_place
        The file must hold the case that its place says, ``<experiment>/<case>.nc``.

    Raises
    ------
    DataError
        Missing, damaged, of another format or version, or of another experiment or case; the message names
        the file.
    """
    with _opened(path) as stored:
        _check_names(stored, path, experiment, case)
        if in_place:
            _check_names(stored, path, path.absolute().parent.name, path.stem)
        _check_shape(stored, path)
        dataset = stored.load()
    for name in _REQUIRED:
        if not bool(np.isfinite(dataset[name]).all()):
            raise DataError(f"{path}: variable {name} is not finite; {_HOW_TO_MEND}")
    return dataset


def case_of(path: Path) -> Case:
    """The case that a file in its place holds, without reading the data.

    Raises
    ------
    DataError
        As :func:`open_`, or the settings in the file are not those of this version.
    """
    with _opened(path) as stored:
        _check_names(stored, path, path.absolute().parent.name, path.stem)
        text = str(stored.attrs.get("settings", ""))
    try:
        return Case.from_json(text)
    except ConfigError as error:
        raise DataError(f"{path}: settings of another version ({error}); {_HOW_TO_MEND}") from error


@contextmanager
def _opened(path: Path) -> Iterator[xr.Dataset]:
    if not path.is_file():
        raise DataError(f"{path}: no such file; make it with snakemake --cores all {path}")
    try:
        with xr.open_dataset(path, engine="netcdf4") as stored:
            found = stored.attrs.get("format")
            if found != FORMAT:
                raise DataError(f"{path}: format {found!r}, expected {FORMAT!r}; {_HOW_TO_MEND}")
            yield stored
    except PermissionError as error:
        raise DataError(f"{path}: may not be read ({error.strerror}); check its permissions") from error
    except (OSError, RuntimeError, ValueError, KeyError, AttributeError) as error:
        raise DataError(f"{path}: not a whole netCDF file ({error}); {_HOW_TO_MEND}") from error


def _check_names(dataset: xr.Dataset, path: Path, experiment: str | None, case: str | None) -> None:
    for attribute, wanted in (("experiment", experiment), ("case", case)):
        if wanted is not None and dataset.attrs.get(attribute) != wanted:
            raise DataError(
                f"{path}: holds {attribute} {dataset.attrs.get(attribute)!r}, "
                f"expected {wanted!r}; {_HOW_TO_MEND}"
            )


def _check_shape(dataset: xr.Dataset, path: Path) -> None:
    missing = [name for name in _REQUIRED if name not in dataset]
    if missing:
        raise DataError(f"{path}: variables {', '.join(missing)} are missing; {_HOW_TO_MEND}")
    for name in _REQUIRED:
        found, wanted = dataset[name], VARIABLES[name][0]
        dims = {"time" if dim == "snapshot" else str(dim) for dim in found.dims}
        if dims != set(wanted) or found.dtype.kind not in "fiu":
            along = ", ".join(map(str, found.dims)) or "nothing"
            raise DataError(
                f"{path}: variable {name} has values of type {found.dtype} along {along}, "
                f"expected numbers along {', '.join(wanted)}; {_HOW_TO_MEND}"
            )


def _check_contents(dataset: xr.Dataset, path: Path) -> None:
    for name, values in dataset.data_vars.items():
        if name not in VARIABLES:
            raise DataError(f"{path}: unknown variable {name}: describe it in usaav.flow.variables first")
        padded = "merge" in values.dims
        if not padded and values.dtype.kind == "f" and not bool(np.isfinite(values).all()):
            raise DataError(f"{path}: variable {name} is not finite; nothing was written")


def _encoding(dataset: xr.Dataset) -> dict[str, Mapping[str, Any]]:
    encoding: dict[str, Mapping[str, Any]] = {}
    for name in map(str, dataset.variables):
        values = dataset[name]
        settings: dict[str, Any] = {"zlib": True, "complevel": 1, "shuffle": True} if values.size > 64 else {}
        # NaN marks what a run does not have; integer columns carry NO_CLUSTER there and stay integers
        settings["_FillValue"] = np.nan if "merge" in values.dims and values.dtype.kind == "f" else None
        encoding[name] = settings
    return encoding


def _check_same(written: xr.Dataset, meant: xr.Dataset, path: Path) -> None:
    for name in meant.variables:
        padded = "merge" in meant[name].dims and meant[name].dtype.kind == "f"
        if name not in written or not np.array_equal(
            written[name].values, meant[name].values, equal_nan=padded
        ):
            raise DataError(
                f"{path}: variable {name} did not read back as written; the disk may be full or failing"
            )


__all__ = ["CONVENTIONS", "COORDINATES", "FORMAT", "VARIABLES", "case_of", "open_", "save"]
