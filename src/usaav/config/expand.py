"""From an experiment to its cases: variants times the product of the sweep times the numbers of tokens."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from usaav import needs
from usaav.config.cases import Case, CaseSettings
from usaav.config.files import DataFiles
from usaav.config.models import SWEEPABLE, Experiment
from usaav.config.problems import Problem, shortened, translate
from usaav.config.time_models import DEFAULT_SNAPSHOTS, Snapshots, TimeRange, Times
from usaav.config.values import Number

MAX_CASES = 20_000
MAX_NAME = 150
_TIMES: TypeAdapter[Any] = TypeAdapter(Times)
_SNAPSHOTS: TypeAdapter[Any] = TypeAdapter(Snapshots)
_NUMBER: TypeAdapter[float] = TypeAdapter(Number)

Path = tuple[str, ...]


@dataclass(frozen=True)
class Overrides:
    """Settings above the experiments that hold for all of them; None leaves each its own.

    The limits are those of one case, in gigabytes and core-hours.
    """

    seeds: tuple[int, ...] | None = None
    n_tokens: tuple[int, ...] | None = None
    backend: str | None = None
    rtol: float | None = None
    memory_limit: float = math.inf
    time_limit: float = math.inf


@dataclass
class _Point:
    """One combination: the settings that differ from the experiment's, by dotted path."""

    variant: str | None
    varied: Mapping[str, Any]
    swept: Mapping[str, Any]
    places: Mapping[str, int]  # position of each swept value in its list, to name lists and mappings


@dataclass
class Expansion:
    """The cases of one experiment and all that is wrong with them."""

    cases: list[Case] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def expand(name: str, experiment: Experiment, overrides: Overrides, files: DataFiles) -> Expansion:
    """All cases of `experiment`, or its problems with keys below ``experiments.<name>``."""
    found = Expansion()
    prefix = ("experiments", name)
    numbers = overrides.n_tokens or experiment.n_tokens
    count = max(1, len(experiment.variants)) * math.prod(map(len, experiment.sweep.values())) * len(numbers)
    if count > MAX_CASES:
        problem = Problem((*prefix, "sweep"), f"expected at most {MAX_CASES} cases, not {count}")
        return Expansion(problems=[problem])
    builder = _Builder(name, experiment, overrides, files)
    taken: dict[str, None] = {}
    for point in _points(experiment):
        for n_tokens in numbers:
            case, problems = builder.case(point, n_tokens)
            if case is not None:
                problems += _name_problems(case, taken, found)
                taken[case.name] = None
                found.cases.append(case)
            found.problems += [problem.below(*prefix) for problem in problems]
            if problems:
                break  # the other numbers of tokens would only repeat them
        if len(found.problems) > 1000:
            break
    found.problems = _told_once(found.problems, list(experiment.variants))
    return found


def _told_once(problems: Sequence[Problem], variants: Sequence[str]) -> list[Problem]:
    """Equal problems as one, with the names of the variants that have it unless that is all of them."""
    alike: dict[tuple[Any, ...], list[Problem]] = {}
    for problem in problems:
        alike.setdefault((problem.key, problem.expected, problem.hint, repr(problem.value)), []).append(
            problem
        )
    told = []
    for first, *others in alike.values():
        names = list(dict.fromkeys(problem.variant for problem in (first, *others) if problem.variant))
        if names and set(names) != set(variants):
            where = f"variant{'s' if len(names) > 1 else ''} {', '.join(names)}"
            told.append(replace(first, expected=f"{first.expected} ({where})"))
        else:
            told.append(first)
    return told


def _points(experiment: Experiment) -> Iterator[_Point]:
    variants: list[tuple[str | None, Mapping[str, Any]]] = list(experiment.variants.items()) or [(None, {})]
    paths = sorted(
        experiment.sweep
    )  # so that the order in the file, which means nothing, does not name files
    lists = [list(enumerate(experiment.sweep[path])) for path in paths]
    for (variant, varied), chosen in itertools.product(variants, itertools.product(*lists)):
        swept = {path: value for path, (_, value) in zip(paths, chosen, strict=True)}
        places = {path: place for path, (place, _) in zip(paths, chosen, strict=True)}
        yield _Point(variant, varied, swept, places)


def _name_problems(case: Case, taken: Mapping[str, None], found: Expansion) -> list[Problem]:
    if found.problems:
        return []  # one is enough: sweeps repeat them
    if case.name in taken:
        text = f"expected cases with different names; {case.name!r} stands for two: remove the double"
        return [Problem(("sweep",), text)]
    if len(case.name) > MAX_NAME:
        text = (
            f"expected a case name of at most {MAX_NAME} characters, not {shortened(case.name)}: use variants"
        )
        return [Problem(("sweep",), text)]
    return []


class _Builder:
    """Builds the cases of one experiment; what no variant and no sweep touches is validated only once."""

    def __init__(self, name: str, experiment: Experiment, overrides: Overrides, files: DataFiles) -> None:
        self.name, self.experiment, self.files = name, experiment, files
        self.seeds = overrides.seeds or experiment.seeds
        self.limits = overrides
        self.base: dict[str, Any] = {key: getattr(experiment, key) for key in SWEEPABLE}
        self.base["backend"] = overrides.backend or experiment.backend
        self.base["rtol"] = overrides.rtol or experiment.rtol
        self.varied_paths = sorted({path for entry in experiment.variants.values() for path in entry})

    def case(self, point: _Point, n_tokens: int) -> tuple[Case | None, list[Problem]]:
        """The case at `point`, or None and its problems (keys below the experiment)."""
        data, problems = self._data(point)
        if problems:
            return None, problems
        data["n_tokens"] = n_tokens
        try:
            settings = CaseSettings.model_validate(data)
        except ValidationError as error:
            return None, [
                self._attributed(problem, point) for problem in translate(error, CaseSettings, data)
            ]
        parameters = self._parameters(point, settings)
        case = Case(self.name, _case_name(point, parameters, n_tokens), self.seeds, settings, parameters)
        return case, self._size_problems(case)

    def _data(self, point: _Point) -> tuple[dict[str, Any], list[Problem]]:
        data = dict(self.base)
        problems: list[Problem] = []
        for path, value in (*point.varied.items(), *point.swept.items()):
            try:
                _assign(data, path.split("."), value)
            except ValueError as error:
                problems.append(self._attributed(Problem(tuple(path.split(".")), str(error), value), point))
        if problems:
            return data, problems
        for key in ("kernel", "labels", "initial"):
            data[key], missing = self.files.located(data[key], (key,))
            problems += [self._attributed(problem, point) for problem in missing]
        problems += [self._attributed(problem, point) for problem in _set_times(data)]
        return data, problems

    def _attributed(self, problem: Problem, point: _Point) -> Problem:
        """The problem with the key of its cause in the file: a sweep, a variant, or the experiment itself."""
        for section, paths in ((("sweep",), point.swept), (("variants", str(point.variant)), point.varied)):
            for path in paths:
                parts = tuple(path.split("."))
                if problem.key[: len(parts)] == parts:
                    return replace(problem, key=(*section, path, *problem.key[len(parts) :]))
        return problem if point.variant is None else replace(problem, variant=point.variant)

    def _parameters(self, point: _Point, settings: CaseSettings) -> dict[str, float | str]:
        parameters: dict[str, float | str] = {} if point.variant is None else {"variant": point.variant}
        for path in self.varied_paths:
            value = _setting(settings, path)
            if isinstance(value, (str, int, float)):
                parameters[path] = value if isinstance(value, str) else float(value)
        for path, raw in point.swept.items():
            parameters[path] = _parameter(settings, path, raw, point.places[path])
        return parameters

    def _size_problems(self, case: Case) -> list[Problem]:
        """What is absurd about the size of `case`, by the estimates that jobs ask a scheduler with."""
        held, hours = needs.held_gb(case), needs.work(case) / 3600
        found = []
        if held > self.limits.memory_limit:
            found.append(
                f"expected at most {self.limits.memory_limit:g} GB in memory (memory_limit), not "
                f"{held:.3g} GB (seeds x snapshots x tokens x dim; tokens x tokens for a weight); lower "
                "them, or raise memory_limit"
            )
        if hours > self.limits.time_limit:
            found.append(
                f"expected at most {self.limits.time_limit:g} core-hours of work (time_limit), not about "
                f"{hours:.3g} (an estimate, from seeds, tokens and times); lower them, or raise time_limit"
            )
        return [Problem(("n_tokens",), text, case.settings.n_tokens) for text in found]


def _assign(data: dict[str, Any], parts: list[str], value: Any) -> None:
    """Set the entry at a dotted path, copying what it lies in."""
    *above, last = parts
    node: Any = data
    for part in above:
        child = _child(node, part)
        child = child.model_dump() if hasattr(child, "model_dump") else child
        child = (
            dict(_stringed(child))
            if isinstance(child, Mapping)
            else list(child)
            if isinstance(child, (list, tuple))
            else child
        )
        _put(node, part, child)
        node = child
    _child(node, last)
    _put(node, last, value)


def _stringed(entries: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(key): entry for key, entry in entries.items()}


def _child(node: Any, part: str) -> Any:
    if isinstance(node, Mapping):
        return node.get(part)
    if isinstance(node, list) and part.isdigit() and int(part) < len(node):
        return node[int(part)]
    raise ValueError(
        f"expected the dotted path of an existing setting; there is no {part!r} in {shortened(node)}"
    )


def _put(node: Any, part: str, value: Any) -> None:
    if isinstance(node, list):
        node[int(part)] = value
    else:
        node[part] = value


def _set_times(data: dict[str, Any]) -> list[Problem]:
    """Replace ``times`` by all times and ``snapshots`` by indices into them."""
    given, snapshots = data["times"], data["snapshots"]
    try:
        # untouched ones are validated already
        times = given if isinstance(given, (tuple, TimeRange)) else _TIMES.validate_python(given)
    except ValidationError as error:
        return [problem.below("times") for problem in translate(error, Times, given)]
    try:
        chosen = _SNAPSHOTS.validate_python(snapshots)
    except ValidationError as error:
        return [problem.below("snapshots") for problem in translate(error, Snapshots, snapshots)]
    values = times.values() if isinstance(times, TimeRange) else times
    data["times"] = values
    try:
        data["snapshots"] = _indices(chosen, values)
    except PydanticCustomError as error:
        return [Problem(("snapshots",), f"expected {error.message()}", snapshots)]
    return []


def _indices(snapshots: int | str | tuple[float, ...] | None, times: tuple[float, ...]) -> tuple[int, ...]:
    if snapshots == "all":
        return tuple(range(len(times)))
    last = len(times) - 1
    if isinstance(snapshots, tuple):
        found = {time: _position(time, times) for time in snapshots}
        absent = [time for time, place in found.items() if place is None]
        if absent or not snapshots:
            text = f"times among the output times; {absent[0]:g} is none" if absent else "at least one time"
            raise PydanticCustomError("snapshots", "{text}", {"text": text})
        return tuple(sorted({place for place in found.values() if place is not None} | {last}))
    if isinstance(snapshots, int) and snapshots > len(times):
        text = f"at most as many snapshots as there are times, {len(times)}"
        raise PydanticCustomError("snapshots", "{text}", {"text": text})
    count = snapshots if isinstance(snapshots, int) else min(DEFAULT_SNAPSHOTS, len(times))
    return tuple(sorted({round(index * last / max(1, count - 1)) for index in range(count)} | {last}))


def _position(time: float, times: tuple[float, ...]) -> int | None:
    for index, candidate in enumerate(times):
        if math.isclose(time, candidate, rel_tol=1e-9):
            return index
    return None


def _setting(settings: CaseSettings, path: str) -> Any:
    """The validated value at a dotted path, None where it is no single value of the case."""
    node: Any = settings
    for part in path.split("."):
        if isinstance(node, Mapping):
            node = _stringed(node).get(part)
        elif isinstance(node, tuple):
            node = node[int(part)] if part.isdigit() and int(part) < len(node) else None
        else:
            node = getattr(node, part, None)
    return node


def _parameter(settings: CaseSettings, path: str, raw: Any, place: int) -> float | str:
    value = _setting(settings, path)
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float)):
        return float(value)
    try:
        return _NUMBER.validate_python(raw)  # such as times.stop, which is no setting of the case
    except ValidationError:
        pass
    if isinstance(raw, Mapping):
        return str(raw.get("type") or raw.get("law") or json.dumps(raw, sort_keys=True))
    return str(place + 1) if isinstance(raw, (list, tuple)) else str(raw)


def _case_name(point: _Point, parameters: Mapping[str, float | str], n_tokens: int) -> str:
    words = [point.variant] if point.variant else []
    shorts = _short_paths(list(point.swept))
    words += [shorts[path] + _spelt(parameters[path]) for path in point.swept]
    return "_".join([*words, f"n{n_tokens}"])


def _short_paths(paths: list[str]) -> dict[str, str]:
    """The last word of each dotted path, or more where that is a number or not unique."""
    last = [path.split(".")[-1] for path in paths]
    return {
        path: word if last.count(word) == 1 and not word.isdigit() else path.replace(".", "-") + "-"
        for path, word in zip(paths, last, strict=True)
    }


def _spelt(value: float | str) -> str:
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return "-" + "".join(
        letter if letter.isascii() and (letter.isalnum() or letter in "_.") else "-"
        for letter in value.lower()
    )
