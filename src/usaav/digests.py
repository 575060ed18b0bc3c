"""A digest of the code that a stage of the workflow runs, so that new code reruns what it concerns.

Snakemake compares the script of a rule and its parameters, but does not see what the script imports. Each
rule therefore has the digest of its script, with everything of this package that it imports, as a parameter.
Syntax trees are compared, so comments, docstrings and formatting do not count.

Imports are found wherever they stand, also inside functions, but not those for type checkers only. A name
taken from a package counts as the module that defines it, not as the whole package. Names built at run time
(``import_module(f"usaav.figures.{name}")``) cannot be followed and must be given as entries of their own.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from usaav.errors import UsaavError

__all__ = ["digest", "modules"]

PACKAGE = "usaav"
ROOT = Path(__file__).parent
#: modules that change no result: they word errors, write logs, or list what there is; they are not followed
BOUNDARY = frozenset(
    {
        "usaav.claims.names",
        "usaav.config.problems",
        "usaav.digests",
        "usaav.errors",
        "usaav.figures.names",
        "usaav.films.names",
        "usaav.joblog",
        "usaav.outdated",
    }
)


def digest(*entries: str | Path) -> str:
    """Sixteen hexadecimal digits that change with the code of `entries` and of what they import from us.

    Parameters
    ----------
    entries
        Scripts (paths) or modules (dotted names).

    Raises
    ------
    UsaavError
        An entry or an import leads to no module of this package, so that a change could go unseen.
    """
    total = hashlib.sha256()
    for script in [entry for entry in entries if isinstance(entry, Path)]:
        total.update(_code(script).encode())
    for name in modules(*entries):
        total.update(f"{name} {_module_digest(name)}\n".encode())
    return total.hexdigest()[:16]


def modules(*entries: str | Path) -> list[str]:
    """The sorted dotted names of all modules behind :func:`digest` (same parameters and errors)."""
    found: set[str] = set()
    ahead: list[str] = []
    for entry in entries:
        ahead += _imported(_tree(entry), str(entry), False) if isinstance(entry, Path) else [entry]
    while ahead:
        name = ahead.pop()
        if name not in found and name not in BOUNDARY:
            found.add(name)
            ahead += _imports(name)
    return sorted(found)


@cache
def _file(name: str) -> Path | None:
    """The source of a module or package of ours, None if there is none of that name."""
    parts = name.split(".")
    if parts[0] != PACKAGE:
        return None
    base = ROOT.joinpath(*parts[1:])
    candidates = (base / "__init__.py", base.with_name(base.name + ".py"))
    return next((file for file in candidates if file.is_file()), None)


def _source(name: str) -> Path:
    file = _file(name)
    if file is None:
        raise UsaavError(f"digest of the code: no module {name} in {ROOT}; correct the entry or the import")
    return file


@cache
def _tree(file: Path) -> ast.Module:
    """The syntax tree of a file, without docstrings."""
    tree = ast.parse(file.read_bytes(), filename=str(file))
    return ast.Module(_without_text(tree.body), [])


@cache
def _module_digest(name: str) -> str:
    source = _source(name)
    total = hashlib.sha256(_code(source).encode())
    kernels = source.with_suffix(".cu")  # what a device runs belongs to the module of the same name
    if kernels.is_file():
        total.update(kernels.read_bytes())
    return total.hexdigest()


@cache
def _imports(name: str) -> tuple[str, ...]:
    return tuple(_imported(_tree(_source(name)), name, _source(name).name == "__init__.py"))


def _imported(tree: ast.Module, where: str, is_package: bool) -> Iterator[str]:
    """Modules of ours that the module `where` imports when it runs."""
    for statement in _statements(tree.body):
        if isinstance(statement, ast.Import):
            names = [alias.name for alias in statement.names]
            if PACKAGE in names:
                hint = "it hides what is used; import the modules that are needed"
                raise UsaavError(f"digest of the code: {where} has `import {PACKAGE}`; {hint}")
            yield from filter(_file, names)
        elif isinstance(statement, ast.ImportFrom):
            base = _base(statement, where, is_package)
            if base.split(".")[0] == PACKAGE:
                yield from (_home(base, alias.name, where) for alias in statement.names)


def _base(statement: ast.ImportFrom, where: str, is_package: bool) -> str:
    """The absolute name of the module in ``from <module> import ...``."""
    module = statement.module or ""
    if statement.level == 0:
        return module
    up = statement.level - (1 if is_package else 0)
    parts = where.split(".")
    return ".".join([*parts[: len(parts) - up], *([module] if module else [])])


def _home(base: str, name: str, where: str) -> str:
    """The module behind ``from base import name``: a submodule, where `base` has the name from, or `base`."""
    if _file(f"{base}.{name}"):
        return f"{base}.{name}"
    source = _file(base)
    if source is None:
        raise UsaavError(f"digest of the code: {where} imports from {base}, which has no source in {ROOT}")
    if source.name != "__init__.py":
        return base
    # A package that only passes the name on is no dependency, or a job would depend on all that it passes on.
    # Imports for type checkers count here: so a package that loads on first use says where a name comes from.
    for statement in _statements(_tree(source).body, type_checking=True):
        if isinstance(statement, ast.ImportFrom):
            origin = _base(statement, base, True)
            for alias in statement.names:
                if (alias.asname or alias.name) == name and origin.split(".")[0] == PACKAGE:
                    return _home(origin, alias.name, base)
    return base


def _statements(body: list[ast.stmt], type_checking: bool = False) -> Iterator[ast.stmt]:
    """All statements, also those inside others, but not what is for type checkers only (unless asked for)."""
    for statement in body:
        yield statement
        skipped = not type_checking and isinstance(statement, ast.If) and _is_type_checking(statement.test)
        for field in ("orelse",) if skipped else ("body", "orelse", "finalbody"):
            yield from _statements(getattr(statement, field, []), type_checking)
        for block in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            yield from _statements(block.body, type_checking)


def _is_type_checking(test: ast.expr) -> bool:
    return getattr(test, "id", getattr(test, "attr", "")) == "TYPE_CHECKING"


def _code(file: Path) -> str:
    """The syntax tree as text, without positions."""
    return ast.dump(_tree(file))


def _without_text(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements without docstrings (or any other text that stands alone), also inside one another."""
    kept = [statement for statement in body if not _is_text(statement)]
    for statement in kept:
        for inner in (statement, *getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            for field in ("body", "orelse", "finalbody"):
                if getattr(inner, field, None):
                    setattr(inner, field, _without_text(getattr(inner, field)))
    return kept


def _is_text(statement: ast.stmt) -> bool:
    constant = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(constant, ast.Constant) and isinstance(constant.value, str)
