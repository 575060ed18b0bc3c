"""Many cases in one netCDF file: cases of one shape lie along a dimension ``case`` in a group of their own.

A group is named by what all its cases share, such as ``n64_d3`` for 64 tokens in three dimensions
(``n64_d3_2`` for others of that size with other times). It has the variables of a case's file with the
dimension ``case`` in front, and for each case its name and, as JSON in ``attributes``, what would be the
attributes of its file. Rows of merges are padded as they are between runs: with NaN, and -1 for tokens.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from usaav.datasets import CONVENTIONS, FORMAT
from usaav.errors import DataError
from usaav.flow.variables import NO_CLUSTER

__all__ = ["Stack", "append", "cases", "groups", "read", "stacked"]

#: dimensions along which the cases of a group may differ
_OWN = ("case", "merge")
#: cases that are compressed together, so that reading one of them does not read all
_CHUNK = 32
#: dimensions, variables and attributes without which a group can't be read
_PARTS = {"attributes", "case", "component", "energy", "run", "seed", "signature", "time", "token", "tokens"}
_HOW_TO_MEND = "delete the file and run the same snakemake command again"


@dataclass(frozen=True)
class Stack:
    """Cases of one shape.

    Attributes
    ----------
    base
        Name for the group, before a number makes it unique.
    signature
        Equal for cases that fit into one group: the same variables, sizes, times and seeds.
    names, attributes
        Names of the cases; attributes of each as JSON.
    arrays
        Variable -> (dimensions, values, attributes); those with the dimension ``case`` first are stacked, the
        others (times, seeds) are the same for all cases.
    """

    base: str
    signature: str
    names: Sequence[str]
    attributes: Sequence[str]
    arrays: Mapping[str, tuple[tuple[str, ...], NDArray[Any], Mapping[str, Any]]]

    @property
    def merges(self) -> int:
        """Length of the dimension ``merge``."""
        lengths = [
            values.shape[dims.index("merge")] for dims, values, _ in self.arrays.values() if "merge" in dims
        ]
        return max(lengths, default=0)


def stacked(datasets: Sequence[xr.Dataset]) -> list[Stack]:
    """Datasets of cases (with the attribute ``case``) by shape, each in the order given."""
    members: dict[str, list[xr.Dataset]] = {}
    for dataset in datasets:
        members.setdefault(_signature(dataset), []).append(dataset)
    return [_stack(signature, alike) for signature, alike in members.items()]


def _signature(dataset: xr.Dataset) -> str:
    described = [
        [name, dataset[name].dims, dataset[name].dtype.str] for name in sorted(map(str, dataset.variables))
    ]
    sizes = sorted((str(name), size) for name, size in dataset.sizes.items() if name not in _OWN)
    total = hashlib.sha256(json.dumps([described, sizes]).encode())
    for name in sorted(map(str, dataset.coords)):
        total.update(np.ascontiguousarray(dataset[name].values).tobytes())
    return total.hexdigest()[:16]


def _stack(signature: str, alike: Sequence[xr.Dataset]) -> Stack:
    first = alike[0]
    merges = max(dataset.sizes.get("merge", 0) for dataset in alike)
    arrays: dict[str, tuple[tuple[str, ...], NDArray[Any], Mapping[str, Any]]] = {}
    for name in map(str, first.variables):
        dims = tuple(map(str, first[name].dims))
        if name in first.coords:
            arrays[name] = dims, np.asarray(first[name].values), first[name].attrs
        else:
            values = np.stack([_padded(dataset[name].values, dims, merges) for dataset in alike])
            arrays[name] = ("case", *dims), values, first[name].attrs
    return Stack(
        base=f"n{first.sizes['token']}_d{first.sizes['component']}",
        signature=signature,
        names=[str(dataset.attrs["case"]) for dataset in alike],
        attributes=[json.dumps(dataset.attrs, default=_plain) for dataset in alike],
        arrays=arrays,
    )


def _plain(value: Any) -> Any:
    return value.tolist()  # numbers and arrays of numpy


def _padded(values: NDArray[Any], dims: tuple[str, ...], merges: int) -> NDArray[Any]:
    """`values` with the dimension ``merge``, if it has one, filled up to `merges`."""
    if "merge" not in dims:
        return values
    axis = dims.index("merge")
    width = [(0, merges - values.shape[axis] if place == axis else 0) for place in range(values.ndim)]
    return np.pad(values, width, constant_values=np.nan if values.dtype.kind == "f" else NO_CLUSTER)


def append(file: netCDF4.Dataset, stack: Stack, merges: int | None = None) -> netCDF4.Group:
    """Add the cases of `stack` to its group in `file`, which is made if it is not there.

    Parameters
    ----------
    file
        Open for writing.
    stack
        The cases.
    merges
        Length of the dimension ``merge`` of a new group, at least that of every stack that will come; that
        of this one if not given.
    """
    group = _group_of(file, stack) or _new_group(file, stack, stack.merges if merges is None else merges)
    start = len(group.dimensions["case"])
    rows = slice(start, start + len(stack.names))
    for name, words in (("case", stack.names), ("attributes", stack.attributes)):
        group[name][rows] = np.array(words, dtype=object)
    room = len(group.dimensions["merge"]) if "merge" in group.dimensions else 0
    for name, (dims, values, _) in stack.arrays.items():
        if dims[:1] == ("case",):
            group[name][rows] = _padded(values, dims, room)
    return group


def _group_of(file: netCDF4.Dataset, stack: Stack) -> netCDF4.Group | None:
    return next((group for group in file.groups.values() if group.signature == stack.signature), None)


def _new_group(file: netCDF4.Dataset, stack: Stack, merges: int) -> netCDF4.Group:
    number = sum(name == stack.base or name.startswith(f"{stack.base}_") for name in file.groups)
    group = file.createGroup(stack.base if number == 0 else f"{stack.base}_{number + 1}")
    group.setncatts({"Conventions": CONVENTIONS, "format": FORMAT, "signature": stack.signature})
    group.createDimension("case", None)
    texts = {"case": "name of the case", "attributes": "attributes of the case, as JSON"}
    for name, long_name in texts.items():
        group.createVariable(name, str, ("case",)).setncatts({"long_name": long_name})
    for name, (dims, values, attributes) in stack.arrays.items():
        for dim, size in zip(dims, values.shape, strict=True):
            if dim not in group.dimensions:
                # length 0 would mean: grows
                group.createDimension(dim, max(merges, 1) if dim == "merge" else size)
        _new_variable(group, name, dims, values).setncatts(dict(attributes))
        if dims[:1] != ("case",):
            group[name][...] = values
    return group


def _new_variable(
    group: netCDF4.Group, name: str, dims: tuple[str, ...], values: NDArray[Any]
) -> netCDF4.Variable[Any]:
    stored = dims[:1] == ("case",)
    sizes = [len(group.dimensions[dim]) for dim in dims[1:]]
    chunks = [_CHUNK, *(max(1, size) for size in sizes)] if stored else None
    fill = np.nan if "merge" in dims and values.dtype.kind == "f" else None
    return group.createVariable(
        name,
        values.dtype,
        dims,
        compression="zlib" if stored else None,
        complevel=1,
        shuffle=True,
        chunksizes=chunks,
        fill_value=fill,
    )


def groups(path: Path) -> list[str]:
    """Names of the groups of a file.

    Raises
    ------
    DataError
        It can't be read, or has no groups of this format.
    """
    if not path.is_file():
        raise DataError(f"{path}: no such file; make it with snakemake --cores all {path}")
    try:
        with netCDF4.Dataset(path) as file:
            found = list(file.groups)
            formats = {getattr(group, "format", None) for group in file.groups.values()}
            lacking = [name for name in found if not _parts(file[name]) >= _PARTS]
    except (OSError, RuntimeError) as error:
        raise _unreadable(path, error) from error
    if formats != {FORMAT}:
        raise DataError(f"{path}: no cases of format {FORMAT!r}; {_HOW_TO_MEND}")
    if lacking:
        raise DataError(
            f"{path}: group {lacking[0]} lacks a part that every group has ({', '.join(sorted(_PARTS))}); "
            f"{_HOW_TO_MEND}"
        )
    return found


def read(path: Path) -> Iterator[Stack]:
    """The stacks of a file that :func:`append` wrote, one after the other.

    Raises
    ------
    DataError
        It can't be read.
    """
    for name in groups(path):
        try:
            with netCDF4.Dataset(path) as file:
                file.set_auto_mask(False)
                group = file[name]
                yield Stack(
                    base=f"n{len(group.dimensions['token'])}_d{len(group.dimensions['component'])}",
                    signature=group.signature,
                    names=list(group["case"][:]),
                    attributes=list(group["attributes"][:]),
                    arrays={
                        key: (variable.dimensions, np.asarray(variable[...]), _attributes(variable))
                        for key, variable in group.variables.items()
                        if key not in ("case", "attributes")
                    },
                )
        except (OSError, RuntimeError, IndexError) as error:
            raise _unreadable(path, error) from error


def _parts(group: netCDF4.Group) -> set[str]:
    return {*group.dimensions, *group.variables, *group.ncattrs()}


def _attributes(variable: netCDF4.Variable[Any]) -> dict[str, Any]:
    return {name: variable.getncattr(name) for name in variable.ncattrs() if name != "_FillValue"}


def _unreadable(path: Path, error: Exception) -> DataError:
    return DataError(f"{path}: not a whole netCDF file ({error}); {_HOW_TO_MEND}")


def cases(stack: Stack) -> Iterator[xr.Dataset]:
    """The dataset of each case, as :func:`usaav.datasets.open_` would read it."""
    for row, text in enumerate(stack.attributes):
        variables = {
            name: (dims[1:], values[row], attributes) if dims[:1] == ("case",) else (dims, values, attributes)
            for name, (dims, values, attributes) in stack.arrays.items()
        }
        coordinates = [name for name, (dims, _, _) in stack.arrays.items() if dims[:1] != ("case",)]
        yield xr.Dataset(variables, attrs=json.loads(text)).set_coords(coordinates)
