"""Reading a configuration: files and overrides in, one validated object out, or one error for all."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from usaav.config.cases import Case
from usaav.config.expand import Overrides, expand
from usaav.config.files import DataFiles
from usaav.config.models import ClaimSpec, Experiment, FigureSpec, FilmSpec, PageSpec, Settings
from usaav.config.problems import Problem, raise_problems, translate
from usaav.config.values import plain
from usaav.config.yaml_files import Document, read_document
from usaav.errors import ConfigError

_EXPERIMENT: TypeAdapter[Experiment] = TypeAdapter(Experiment)
COMMAND_LINE = "command line"


@dataclass(frozen=True)
class Config:
    """A validated configuration, reduced to the experiments of ``only``.

    Attributes
    ----------
    settings
        The configuration file as written, with all experiments.
    experiments, figures, films, claims
        What is to be made: with ``only``, the named experiments and what needs no other experiment.
    pages
        With ``only``, they show the named experiments alone.
    """

    settings: Settings
    experiments: Mapping[str, Experiment]
    figures: Mapping[str, FigureSpec]
    films: Mapping[str, FilmSpec]
    pages: Mapping[str, PageSpec]
    claims: Mapping[str, ClaimSpec]
    _cases: Mapping[str, tuple[Case, ...]]

    def cases(self, experiment: str | None = None) -> tuple[Case, ...]:
        """All cases, or those of one experiment, in the order of the file.

        Raises
        ------
        ConfigError
            There is no such experiment (or ``only`` leaves it out).
        """
        if experiment is None:
            return tuple(case for cases in self._cases.values() for case in cases)
        if experiment not in self._cases:
            raise ConfigError(f"no experiment {experiment!r} in this run; there are {', '.join(self._cases)}")
        return self._cases[experiment]

    def batches(self, experiment: str) -> list[tuple[Case, ...]]:
        """The cases of an experiment, so many together as its ``batch`` says; one batch for null.

        The cases of a batch follow one another, so that a value added at the end of the outermost list (the
        variants, or else the first swept key in the order of the alphabet) changes no batch but the last.

        Raises
        ------
        ConfigError
            As :meth:`cases`.
        """
        cases = self.cases(experiment)
        size = self.experiments[experiment].batch or len(cases)
        return [cases[start : start + size] for start in range(0, len(cases), size)]

    def case(self, experiment: str, name: str) -> Case:
        """One case by the names of its experiment and file."""
        for case in self.cases(experiment):
            if case.name == name:
                return case
        raise ConfigError(
            f"experiment {experiment} has no case {name!r}; it has {', '.join(self._names(experiment))}"
        )

    def _names(self, experiment: str) -> list[str]:
        return [case.name for case in self.cases(experiment)]


def load(files: Sequence[str | os.PathLike[str]], overrides: Mapping[str, Any] | None = None) -> Config:
    """Read configuration files (later ones merged over earlier ones, as Snakemake does) and overrides.

    Parameters
    ----------
    files
        YAML or JSON files.
    overrides
        Top-level settings such as ``{"only": "rope,prefix", "seeds": "3", "rtol": "1e-6"}``; strings become
        what they spell.

    Raises
    ------
    ConfigError
        Everything that is wrong, each with file and line, key, value, what was expected, and the nearest
        valid key.
    """
    documents = [read_document(Path(file)) for file in files]
    merged: dict[str, Any] = {}
    for document in documents:
        _merge(merged, document.data)
    given = _plain_or_error(overrides or {}, COMMAND_LINE)
    _merge(merged, given)
    return _built(merged, documents, set(given))


def from_mapping(mapping: Mapping[str, Any], sources: Iterable[str | os.PathLike[str]] = ()) -> Config:
    """The configuration that Snakemake hands over: its merged ``config`` and its ``workflow.configfiles``.

    The mapping decides; the files are read again only for what Snakemake's loader does not report, doubled
    keys and lines. Snakemake merges ``--configfile`` *into* a file that the Snakefile names with
    ``configfile:``, so that experiments of ``config.yaml`` would be left over in a run of
    ``config/quick.yaml``, which is complete in itself. Hence the Snakefile should name ``config.yaml`` only
    when the command line names no file::

        if not workflow.configfiles:
            configfile: os.path.join(workflow.basedir, "config.yaml")
        settings = usaav.config.from_mapping(config, workflow.configfiles)

    Raises
    ------
    ConfigError
        As :func:`load`.
    """
    documents = [read_document(Path(source)) for source in sources]
    merged: dict[str, Any] = {}
    for document in documents:
        _merge(merged, document.data)
    data = _plain_or_error(mapping, "configuration")
    changed = {
        key for key, value in data.items() if not isinstance(value, dict) and _differs(value, merged.get(key))
    }
    return _built(data, documents, changed | (set(data) - set(merged)))


def _differs(value: Any, other: Any) -> bool:
    # Snakemake's loader leaves 1e-9 a string, which is not a change
    try:
        return float(value) != float(other)
    except (TypeError, ValueError):
        return bool(value != other)


def _plain_or_error(data: Mapping[str, Any], what: str) -> dict[str, Any]:
    try:
        copy = plain(data)
    except ValueError as error:
        raise ConfigError(f"{what}: {error}") from None
    if not isinstance(copy, dict):
        raise ConfigError(f"{what}: expected a mapping of keys to values, not {type(data).__name__}")
    return copy


def _merge(into: dict[str, Any], other: Mapping[str, Any]) -> None:
    for key, value in other.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            into[key] = dict(into[key])
            _merge(into[key], value)
        else:
            into[key] = value


def _built(data: dict[str, Any], documents: list[Document], given: set[str]) -> Config:
    broken = [problem for document in documents for problem in document.problems]
    raise_problems(broken)  # without readable files every further message would mislead

    def locate(key: tuple[str, ...]) -> str:
        return _place(key, documents, given)

    files = DataFiles([document.path for document in documents])
    try:
        settings = Settings.model_validate(data)
    except ValidationError as error:
        problems = [_with_deep_hint(problem) for problem in translate(error, Settings, data)]
        problems += _problems_behind(data, files)
        raise_problems(problems, locate)
        raise
    names = ("seeds", "n_tokens", "backend", "rtol", "memory_limit", "time_limit")
    overrides = Overrides(**{name: getattr(settings, name) for name in names})
    # a size is absurd only if it is going to be run
    unlimited = replace(overrides, memory_limit=math.inf, time_limit=math.inf)
    expansions = {
        name: expand(name, entry, overrides if name in (settings.only or (name,)) else unlimited, files)
        for name, entry in settings.experiments.items()
    }
    raise_problems([problem for expansion in expansions.values() for problem in expansion.problems], locate)
    return _selected(settings, {name: tuple(expansion.cases) for name, expansion in expansions.items()})


def _selected(settings: Settings, cases: Mapping[str, tuple[Case, ...]]) -> Config:
    wanted = [name for name in settings.experiments if settings.only is None or name in settings.only]

    def kept(entries: Mapping[str, Any]) -> dict[str, Any]:
        return {name: entry for name, entry in entries.items() if set(entry.experiments) <= set(wanted)}

    return Config(
        settings=settings,
        experiments={name: settings.experiments[name] for name in wanted},
        figures=kept(settings.figures),
        films=kept(settings.films),
        pages=_shortened(settings.pages, wanted),
        claims=kept(settings.claims),
        _cases={name: cases[name] for name in wanted},
    )


def _shortened(pages: Mapping[str, PageSpec], wanted: list[str]) -> dict[str, PageSpec]:
    """The pages with their wanted experiments; none that has no such experiment."""
    short = {
        name: page.model_copy(
            update={"experiments": tuple(used for used in page.experiments if used in wanted)}
        )
        for name, page in pages.items()
    }
    return {name: page for name, page in short.items() if page.experiments}


def _place(key: tuple[str, ...], documents: list[Document], given: set[str]) -> str:
    """The file and line of the deepest part of `key` that a file has."""
    if key and key[0] in given:
        return COMMAND_LINE
    for length in range(len(key), 0, -1):
        for document in reversed(documents):
            if key[:length] in document.lines:
                return f"{document.path}:{document.lines[key[:length]]}"
    return str(documents[-1].path) if documents else ""


def _with_deep_hint(problem: Problem) -> Problem:
    """For an unknown key at the top, point to the key of that name further down if that is nearer."""
    if len(problem.key) != 1 or not problem.expected.startswith("unknown key"):
        return problem
    from difflib import get_close_matches

    deep = {name: f"experiments.<name>.{name}" for name in Experiment.model_fields}
    deep |= {
        name: f"experiments.<name>.kernel.{name}"
        for name in ("beta", "planes", "frequencies", "targets", "length")
    }
    deep |= {name: name for name in Settings.model_fields}
    close = get_close_matches(problem.key[0], deep, n=1, cutoff=0.6)
    hint = f" Did you mean {deep[close[0]]!r}?" if close else problem.hint
    return Problem(problem.key, problem.expected, problem.value, hint)


def _problems_behind(data: dict[str, Any], files: DataFiles) -> list[Problem]:
    """The problems that show only when keys fit together, in the experiments that are readable by themselves.

    They would otherwise be reported after the others are corrected, one round later. Unknown keys are put
    aside first.
    """
    experiments = data.get("experiments")
    found: list[Problem] = []
    for name, entry in experiments.items() if isinstance(experiments, dict) else ():
        known = _without_unknown(entry)
        try:
            experiment = _EXPERIMENT.validate_python(known)
        except ValidationError as error:
            found += [problem.below("experiments", name) for problem in translate(error, Experiment, known)]
            continue
        found += expand(name, experiment, Overrides(), files).problems
    return found


def _without_unknown(entry: Any) -> Any:
    try:
        _EXPERIMENT.validate_python(entry)
    except ValidationError as error:
        details = error.errors(include_url=False)
        if all(detail["type"] == "extra_forbidden" for detail in details):
            problems = translate(error, Experiment, entry)
            return _pruned(entry, {problem.key for problem in problems}, ())
    return entry


def _pruned(node: Any, keys: set[tuple[str, ...]], at: tuple[str, ...]) -> Any:
    if isinstance(node, dict):
        return {
            name: _pruned(value, keys, (*at, name)) for name, value in node.items() if (*at, name) not in keys
        }
    if isinstance(node, list):
        return [_pruned(value, keys, (*at, str(index))) for index, value in enumerate(node)]
    return node
