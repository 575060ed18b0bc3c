"""A table of settings that must be refused, and the good ones that they change."""

from __future__ import annotations

import copy
import math
from typing import Any

GOOD: dict[str, Any] = {
    "experiments": {
        "main": {
            "kernel": {"type": "rope", "beta": 1.0, "planes": [[0, 1]], "frequencies": [1.0]},
            "labels": {"law": "grid"},
            "initial": {"law": "uniform"},
            "dim": 3,
            "n_tokens": [8, 16],
            "seeds": 2,
            "times": {"start": 0, "stop": 10, "count": 11},
        },
        "other": {"kernel": {"type": "usa", "beta": 2}, "n_tokens": 8, "times": [0, 1, 2]},
    },
    "figures": {"one": {"draw": "overview", "experiments": ["main"]}},
    "films": {"one": {"draw": "overview", "experiments": ["main"]}},
    "claims": {"one": {"check": "collapse", "experiments": ["other"], "tolerance": 1e-3}},
}
PREFIX = {"type": "prefix", "beta": 1.0, "targets": {"law": "regular", "count": 4}}
ROTATION = {"type": "generalized_rope", "beta": 1.0, "rotations": [{"plane": [0, 1], "linear": 1.0}]}
BIAS = {"type": "distance_bias", "beta": 1.0, "profile": "exponential", "length": 1.0}
TOEPLITZ = {"type": "toeplitz", "coefficients": {"1": 1.0}}
COMBINED = {
    "type": "combined",
    "beta": 1.0,
    "gauge": {"type": "rope", "planes": [[0, 1]], "frequencies": [1]},
}


def with_changes(changes: dict[str, Any]) -> dict[str, Any]:
    """GOOD with changes by dotted path; a path that begins with a dot counts from ``experiments.main``."""
    data = copy.deepcopy(GOOD)
    for path, value in changes.items():
        parts = ("experiments.main" + path if path.startswith(".") else path).split(
            "|" if "|" in path else "."
        )
        node = data
        for part in parts[:-1]:
            node = node.setdefault(part, {}) if isinstance(node, dict) else node[int(part)]
        if value is DELETE:
            del node[parts[-1]]
        else:
            node[parts[-1]] = value
    return data


DELETE = object()
# changes, and what the message must contain: the key first, then words of the expectation
BAD: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    # unknown keys at each level, with the nearest valid one
    ({"betta": 1}, ("betta = 1", "experiments.<name>.kernel.beta")),
    ({"seed": 1}, ("seed = 1", "'seeds'")),
    ({"experiment": {}}, ("experiment = {}", "'experiments'")),
    ({".n": 64}, ("experiments.main.n = 64", "'n_tokens'")),
    ({".kernels": {}}, ("experiments.main.kernels", "'kernel'")),
    ({".kernel.betta": 1}, ("experiments.main.kernel.betta = 1", "'beta'")),
    ({".labels.kapa": 1}, ("experiments.main.labels.kapa", "start")),
    ({".initial.kappa": 1}, ("experiments.main.initial.kappa",)),
    ({".times.stopp": 1}, ("experiments.main.times.stopp", "'stop'")),
    (
        {".kernel": {**ROTATION, "rotations": [{"plane": [0, 1], "linera": 1}]}},
        ("rotations.0.linera", "'linear'"),
    ),
    ({".kernel": {**PREFIX, "targets": {"law": "uniform", "cout": 1}}}, ("kernel.targets.cout", "'count'")),
    ({"figures.one.drw": "overview"}, ("figures.one.drw", "'draw'")),
    ({"films.one.option": {}}, ("films.one.option", "'options'")),
    ({"claims.one.tolerence": 1}, ("claims.one.tolerence", "'tolerance'")),
    ({".sweep": {"kernel.betta": [1, 2]}}, ("experiments.main.sweep.kernel.betta", "'beta'")),
    ({".sweep": {"kernle.beta": [1, 2]}}, ("experiments.main.sweep.kernle.beta", "'kernel'")),
    ({".sweep": {"kernel.planes.5": [1]}}, ("experiments.main.sweep.kernel.planes.5",)),
    ({".sweep": {"dim.x": [1]}}, ("experiments.main.sweep.dim.x", "existing setting")),
    ({".variants": {"a": {"kernel.betta": 1}}}, ("experiments.main.variants.a.kernel.betta", "'beta'")),
    ({".variants": {"a": {"lables": None}}}, ("experiments.main.variants.a.lables", "'labels'")),
    # wrong types
    ({".kernel.beta": "high"}, ("experiments.main.kernel.beta = 'high'", "a number")),
    ({".kernel.beta": True}, ("experiments.main.kernel.beta = True", "a number")),
    ({".kernel.beta": None}, ("experiments.main.kernel.beta = None", "a number")),
    ({".kernel.beta": [1]}, ("experiments.main.kernel.beta = [1]", "a number")),
    ({".kernel": 3}, ("experiments.main.kernel = 3", "mapping")),
    ({".kernel": []}, ("experiments.main.kernel = []", "mapping")),
    ({".labels": "grid"}, ("experiments.main.labels = 'grid'", "mapping")),
    ({".initial": 0}, ("experiments.main.initial = 0", "mapping")),
    ({".dim": 2.5}, ("experiments.main.dim = 2.5", "whole number")),
    ({".dim": True}, ("experiments.main.dim = True", "whole number")),
    ({".n_tokens": "many"}, ("experiments.main.n_tokens", "whole number")),
    ({".n_tokens": [8, False]}, ("experiments.main.n_tokens", "whole number")),
    ({".seeds": True}, ("experiments.main.seeds = True", "number of seeds")),
    ({".seeds": "x"}, ("experiments.main.seeds = 'x'", "number of seeds")),
    ({".seeds": [0, 1.5]}, ("experiments.main.seeds", "whole number")),
    ({".times": 5}, ("experiments.main.times = 5", "mapping")),
    ({".times": [0, "late"]}, ("experiments.main.times.1 = 'late'", "a number")),
    ({".description": 7}, ("experiments.main.description = 7", "text")),
    ({".sweep": [1]}, ("experiments.main.sweep = [1]", "mapping")),
    ({".sweep": {"kernel.beta": 3}}, ("experiments.main.sweep.kernel.beta = 3", "list")),
    ({".variants": {"a": 1}}, ("experiments.main.variants.a = 1", "mapping")),
    ({"experiments": []}, ("experiments = []", "mapping")),
    ({"figures": 1}, ("figures = 1", "mapping")),
    ({"figures.one.options": 1}, ("figures.one.options = 1", "mapping")),
    ({"claims.one.tolerance": "small"}, ("claims.one.tolerance = 'small'", "a number")),
    ({".kernel.planes": "xy"}, ("experiments.main.kernel.planes = 'xy'", "list")),
    # ranges, NaN, infinities, huge sizes
    ({".kernel.beta": 0}, ("experiments.main.kernel.beta = 0", "0.01 to 700")),
    ({".kernel.beta": -1}, ("experiments.main.kernel.beta = -1", "0.01 to 700")),
    ({".kernel.beta": 0.001}, ("experiments.main.kernel.beta = 0.001", "0.01 to 700")),
    ({".kernel.beta": 701}, ("experiments.main.kernel.beta = 701", "0.01 to 700")),
    ({".kernel.beta": math.nan}, ("experiments.main.kernel.beta = nan", "finite")),
    ({".kernel.beta": math.inf}, ("experiments.main.kernel.beta = inf", "finite")),
    ({".kernel.beta": "nan"}, ("experiments.main.kernel.beta = 'nan'", "finite")),
    ({".kernel.beta": 10**400}, ("experiments.main.kernel.beta", "float64")),
    ({".dim": 1}, ("experiments.main.dim = 1", "2")),
    ({".dim": 0}, ("experiments.main.dim = 0", "2")),
    ({".dim": 10**9}, ("experiments.main.dim", "4096")),
    ({".n_tokens": 0}, ("experiments.main.n_tokens", "1")),
    ({".n_tokens": -3}, ("experiments.main.n_tokens", "1")),
    ({".n_tokens": 10**12}, ("experiments.main.n_tokens", "4194304")),
    ({".n_tokens": []}, ("experiments.main.n_tokens", "1")),
    ({".n_tokens": [8, 8]}, ("experiments.main.n_tokens", "differ")),
    ({".n_tokens": math.nan}, ("experiments.main.n_tokens", "whole number")),
    ({".seeds": 0}, ("experiments.main.seeds = 0", "1 to 100000")),
    ({".seeds": -1}, ("experiments.main.seeds = -1", "1 to 100000")),
    ({".seeds": 10**9}, ("experiments.main.seeds", "100000")),
    ({".seeds": math.inf}, ("experiments.main.seeds", "100000")),
    ({".seeds": [1, 1]}, ("experiments.main.seeds", "differ")),
    ({".seeds": [-1]}, ("experiments.main.seeds", "0")),
    ({".seeds": [2**70]}, ("experiments.main.seeds", "below")),
    ({".seeds": []}, ("experiments.main.seeds", "1")),
    ({".rtol": 0}, ("experiments.main.rtol = 0", "1e-14")),
    ({".rtol": 0.5}, ("experiments.main.rtol = 0.5", "0.01")),
    ({"rtol": "tiny"}, ("rtol = 'tiny'", "a number")),
    ({".merge_angle": 0}, ("experiments.main.merge_angle = 0", "1e-06")),
    ({".cluster_angle": 4}, ("experiments.main.cluster_angle = 4", "3.14")),
    ({".snapshots": 1}, ("experiments.main.snapshots = 1", "at least 2")),
    ({".snapshots": True}, ("experiments.main.snapshots = True", "snapshots")),
    ({".snapshots": "every"}, ("experiments.main.snapshots = 'every'", "all")),
    ({"claims.one.tolerance": 0}, ("claims.one.tolerance = 0", "0")),
    ({"memory_limit": 0}, ("memory_limit = 0", "0")),
    ({"time_limit": math.nan}, ("time_limit = nan", "finite")),
    ({".n_tokens": 4_000_000, ".seeds": 1000}, ("experiments.main.n_tokens", "raise memory_limit")),
    ({".n_tokens": 4_000_000, ".field": "direct"}, ("experiments.main.n_tokens", "raise time_limit")),
    ({".n_tokens": 200_000, ".kernel": BIAS}, ("experiments.main.n_tokens", "not 320 GB", "memory_limit")),
    ({".seeds": 100_000, ".n_tokens": 4096, ".field": "direct"}, ("experiments.main.n_tokens", "core-hours")),
    (
        {".sweep": {"kernel.beta": [1 + k / 1000 for k in range(2000)], "dim": list(range(3, 30))}},
        (".sweep", "20000 cases"),
    ),
    # times
    ({".times": [0, 2, 1]}, ("experiments.main.times", "increase")),
    ({".times": [0, 0]}, ("experiments.main.times", "increase")),
    ({".times": [-1, 0]}, ("experiments.main.times.0 = -1", "0")),
    ({".times": [0, math.inf]}, ("experiments.main.times.1 = inf", "finite")),
    ({".times": [0, 1e301]}, ("experiments.main.times.1", "1e+300")),
    ({".times": []}, ("experiments.main.times", "1")),
    ({".times": {"start": 5, "stop": 5, "count": 3}}, ("experiments.main.times.stop = 5", "above start")),
    (
        {".times": {"start": 0, "stop": 5, "count": 3, "spacing": "log"}},
        ("experiments.main.times.start = 0", "log"),
    ),
    (
        {".times": {"stop": 5, "count": 3, "spacing": "cubic"}},
        ("experiments.main.times.spacing = 'cubic'", "linear"),
    ),
    ({".times": {"stop": 5, "count": 1}}, ("experiments.main.times.count = 1", "2")),
    ({".times": {"stop": 5, "count": 10**8}}, ("experiments.main.times.count", "20000")),
    ({".times": {"stop": 5}}, ("experiments.main.times.count", "required")),
    ({".times": DELETE}, ("experiments.main.times", "required")),
    ({".n_tokens": DELETE}, ("experiments.main.n_tokens", "required")),
    ({".snapshots": [0, 3.3]}, ("experiments.main.snapshots", "3.3 is none")),
    ({".snapshots": 12}, ("experiments.main.snapshots = 12", "11")),
    ({".snapshots": [0, True]}, ("experiments.main.snapshots", "times as numbers")),
    ({".snapshots": [0, "x"]}, ("experiments.main.snapshots", "times as numbers")),
    ({".snapshots": []}, ("experiments.main.snapshots = []", "at least one time")),
    ({".sweep": {"snapshots": ["x"]}}, ("experiments.main.sweep.snapshots = 'x'", "or all")),
    # kernels
    ({".kernel.type": "ropee"}, ("experiments.main.kernel.type = 'ropee'", "'rope'")),
    ({".kernel.type": DELETE}, ("experiments.main.kernel.type", "required")),
    ({".kernel": DELETE}, ("experiments.main.kernel", "a kernel")),
    ({".kernel.planes": [[0, 3]]}, ("experiments.main.kernel.planes.0 = [0, 3]", "dim is 3")),
    ({".kernel.planes": [[1, 1]]}, ("experiments.main.kernel.planes.0 = [1, 1]", "two different axes")),
    ({".kernel.planes": [[0, -1]]}, ("experiments.main.kernel.planes.0.1 = -1", "0")),
    ({".kernel.planes": [[0, 1, 2]]}, ("experiments.main.kernel.planes.0", "2")),
    ({".kernel.planes": []}, ("experiments.main.kernel.planes", "1")),
    ({".kernel.frequencies": [1, 2]}, ("experiments.main.kernel.frequencies", "one frequency per plane")),
    ({".kernel": {**ROTATION, "rotations": []}}, ("kernel.rotations = []", "1")),
    ({".kernel": {**ROTATION, "rotations": [{"plane": [0, 4]}]}}, ("kernel.rotations.0.plane", "dim is 3")),
    (
        {".kernel": {**ROTATION, "rotations": [{"plane": [0, 1], "harmonics": [[0, 1, 1]]}]}},
        ("kernel.rotations.0.harmonics.0.0 = 0", "1"),
    ),
    (
        {".kernel": {**PREFIX, "targets": [[1, 0, 0], [1, 1, 0]]}, ".labels": {"law": "prompts"}},
        ("kernel.targets.1", "length 1"),
    ),
    (
        {".kernel": {**PREFIX, "targets": [[1, 0], [0, 1]]}, ".labels": {"law": "prompts"}},
        ("kernel.targets", "rows of 3"),
    ),
    (
        {".kernel": {**PREFIX, "targets": [[1, 0, 0], [1, 0]]}, ".labels": {"law": "prompts"}},
        ("kernel.targets.1", "equal length"),
    ),
    (
        {".kernel": {**PREFIX, "targets": {"law": "regular", "count": 7}}, ".labels": {"law": "prompts"}},
        ("kernel.targets.count = 7", "regular figure"),
    ),
    (
        {".kernel": {**PREFIX, "targets": {"law": "anchored"}}, ".labels": {"law": "prompts"}},
        ("kernel.targets.law", "anchored"),
    ),
    (
        {".kernel": {**PREFIX, "targets": "regular"}, ".labels": {"law": "prompts"}},
        ("kernel.targets = 'regular'", "mapping"),
    ),
    ({".kernel": {**BIAS, "length": 0}}, ("kernel.length = 0", "0")),
    ({".kernel": {**BIAS, "period": -1}}, ("kernel.period = -1", "0")),
    ({".kernel": {**BIAS, "profile": "alibi"}}, ("kernel.slope", "alibi")),
    ({".kernel": {**BIAS, "slope": 1}}, ("kernel.slope = 1", "exponential")),
    ({".kernel": {**BIAS, "profile": "gausian"}}, ("kernel.profile = 'gausian'", "'gaussian'")),
    ({".kernel": {**TOEPLITZ, "beta": 1}}, ("kernel.beta = 1", "linear")),
    ({".kernel": {**TOEPLITZ, "phi": "exponential"}}, ("kernel.beta", "exponential")),
    ({".kernel": {**TOEPLITZ, "coefficients": {}}}, ("kernel.coefficients = {}", "1")),
    ({".kernel": {**TOEPLITZ, "coefficients": {"x": 1}}}, ("kernel.coefficients.x", "whole number")),
    ({".kernel": {**TOEPLITZ, "coefficients": {"-1": 1}}}, ("kernel.coefficients.-1", "0")),
    ({".kernel": {**TOEPLITZ, "coefficients": {"1": 0}}}, ("kernel.coefficients", "not 0")),
    ({".kernel": {**TOEPLITZ, "coefficients": {"1": math.nan}}}, ("kernel.coefficients.1 = nan", "finite")),
    ({".kernel": {**COMBINED, "gauge": {"type": "ropee"}}}, ("kernel.gauge.type = 'ropee'", "'rope'")),
    ({".kernel": {**COMBINED, "weight": {"kind": "toeplitz"}}}, ("kernel.weight.type", "found only kind")),
    ({".kernel": COMBINED, ".kernel.gauge.planes": [[0, 4]]}, ("kernel.gauge.planes.0 = [0, 4]", "dim is 3")),
    # labels that do not fit, and laws
    ({".labels": None}, ("experiments.main.labels = None", "depends on them")),
    ({".labels": DELETE}, ("experiments.main.labels", "depends on them")),
    ({".labels": {"law": "prompts"}}, ("experiments.main.labels.law = 'prompts'", "real labels")),
    ({".kernel": PREFIX}, ("experiments.main.labels.law = 'grid'", "name prompts")),
    (
        {".kernel": PREFIX, ".labels": {"law": "prompts", "count": 5}},
        ("experiments.main.labels.count = 5", "4"),
    ),
    (
        {".kernel": PREFIX, ".labels": {"law": "atoms", "positions": [0, 4]}},
        ("experiments.main.labels.positions", "0 ... 3"),
    ),
    (
        {".kernel": PREFIX, ".labels": {"law": "atoms", "positions": [0.5]}},
        ("experiments.main.labels.positions", "whole numbers"),
    ),
    ({".labels": {"law": "gird"}}, ("experiments.main.labels.law = 'gird'", "'grid'")),
    (
        {".labels": {"law": "grid", "start": 3, "stop": 2}},
        ("experiments.main.labels.stop = 2", "above start"),
    ),
    (
        {".labels": {"law": "uniform", "start": 3, "stop": 2}},
        ("experiments.main.labels.stop = 2", "above start"),
    ),
    ({".labels": {"law": "grid", "count": 0}}, ("experiments.main.labels.count = 0", "1")),
    ({".labels": {"law": "von_mises", "kappa": -1}}, ("experiments.main.labels.kappa = -1", "0")),
    ({".labels": {"law": "arcs", "arcs": [[1, 0]]}}, ("experiments.main.labels.arcs.0", "from < to")),
    ({".labels": {"law": "arcs", "arcs": [[0, 2], [1, 3]]}}, ("experiments.main.labels.arcs", "overlap")),
    ({".labels": {"law": "atoms", "positions": [1, 1]}}, ("experiments.main.labels.positions", "distinct")),
    (
        {".labels": {"law": "atoms", "positions": [1, 2], "weights": [1]}},
        ("experiments.main.labels.weights", "2"),
    ),
    (
        {".labels": {"law": "atoms", "positions": [1], "weights": [0]}},
        ("experiments.main.labels.weights", "positive sum"),
    ),
    (
        {".labels": {"law": "atoms", "positions": [1], "weights": [-1]}},
        ("experiments.main.labels.weights.0 = -1", "0"),
    ),
    ({".labels": {"law": "cantor", "depth": 99}}, ("experiments.main.labels.depth = 99", "40")),
    (
        {".labels": {"law": "points", "file": "nowhere.csv"}},
        ("experiments.main.labels.file = 'nowhere.csv'", "existing file"),
    ),
    ({".labels": {"law": "points", "file": ""}}, ("experiments.main.labels.file = ''", "1")),
    ({".labels": {"law": "points", "file": "a\0b"}}, ("experiments.main.labels.file", "control characters")),
    ({".initial": {"law": "von_mises_fisher", "mean": [0, 0, 0], "kappa": 1}}, ("initial.mean", "not zero")),
    ({".initial": {"law": "von_mises_fisher", "mean": [0, 1], "kappa": 1}}, ("initial.mean", "dim is 3")),
    ({".initial": {"law": "hemisphere", "angle": 4}}, ("initial.angle = 4", "3.14")),
    ({".initial": {"law": "hemisphere", "pole": [1, 0]}}, ("initial.pole", "dim is 3")),
    ({".initial": {"law": "regular", "count": 9}}, ("initial.count = 9", "regular figure")),
    ({".initial": {"law": "uniform", "count": 9}}, ("initial.count = 9", "no count")),
    ({".initial": {"law": "spiral"}, ".dim": 4}, ("initial.law = 'spiral'", "dim 3")),
    ({".initial": {"law": "band", "width": 2, "latitude": 1}}, ("initial.width = 2", "between the poles")),
    ({".initial": {"law": "mixture", "components": []}}, ("initial.components = []", "1")),
    (
        {".initial": {"law": "mixture", "components": [{"law": "mixture"}]}},
        ("initial.components.0.law", "uniform"),
    ),
    (
        {".initial": {"law": "mixture", "components": [{"law": "uniform", "count": 3}]}},
        ("initial.components.0.count = 3", "no count"),
    ),
    (
        {".initial": {"law": "mixture", "components": [{"law": "hemisphere", "pole": [1, 0]}]}},
        ("initial.components.0.pole", "dim is 3"),
    ),
    # methods
    ({".method": "layer"}, ("experiments.main.method = 'layer'", "'layers'")),
    ({".method": "layers"}, ("experiments.main.step", "eta")),
    ({".step": 0.1}, ("experiments.main.step = 0.1", "adaptive")),
    ({".method": "layers", ".step": 0.3}, ("experiments.main.times", "multiples of step")),
    ({".method": "layers", ".step": -0.5}, ("experiments.main.step = -0.5", "0")),
    ({".field": "spectral", ".dim": 5}, ("experiments.main.field = 'spectral'", "dim 2 and 3")),
    (
        {".field": "spectral", ".kernel": BIAS},
        ("experiments.main.field = 'spectral'", "for weight 1, Toeplitz"),
    ),
    (
        {".normalization": "softmax", ".kernel": TOEPLITZ},
        ("experiments.main.normalization = 'softmax'", "exponential"),
    ),
    ({".normalization": "sotfmax"}, ("experiments.main.normalization", "'softmax'")),
    ({".backend": "cuda"}, ("experiments.main.backend = 'cuda'", "cupy")),
    ({"backend": "numpi"}, ("backend = 'numpi'", "'numpy'")),
    # sweeps and variants
    ({".sweep": {}}, ("experiments.main.sweep = {}", "at least one entry in sweep")),
    ({".variants": {}}, ("experiments.main.variants = {}", "no key variants")),
    ({".sweep": {"kernel.beta": []}}, ("experiments.main.sweep.kernel.beta = []", "at least one")),
    ({".sweep": {"kernel.beta": [1, 1.0]}}, ("experiments.main.sweep", "beta1_n8")),
    ({".sweep": {"kernel.beta": [1, "800"]}}, ("experiments.main.sweep.kernel.beta = '800'", "700")),
    ({".sweep": {"n_tokens": [8]}}, ("experiments.main.sweep.n_tokens", "takes a list")),
    ({".sweep": {"seeds": [8]}}, ("experiments.main.sweep.seeds", "takes a list")),
    ({".sweep": {"dim": [3, 1]}}, ("experiments.main.sweep.dim = 1", "2")),
    ({".sweep": {"times": [[0, 1], [1, 0]]}}, ("experiments.main.sweep.times", "increase")),
    ({".sweep": {"snapshots": [99]}}, ("experiments.main.sweep.snapshots = 99", "11")),
    ({".variants": {"a": {}}}, ("experiments.main.variants.a", "at least one")),
    ({".variants": {"A-1": {"dim": 3}}}, ("experiments.main.variants.A-1", "small letters")),
    (
        {".variants": {"a": {"dim": 2, "kernel.planes": [[0, 2]]}}},
        ("experiments.main.variants.a.kernel.planes", "dim is 2"),
    ),
    (
        {".variants": {"b" * 64: {"dim": 3}}, ".sweep": {"labels": ["x" * 150]}},
        ("experiments.main", "mapping"),
    ),
    (
        {
            ".sweep": {
                key: [0.1 + 0.2, 0.7]
                for key in (
                    "kernel.beta",
                    "kernel.frequencies.0",
                    "labels.start",
                    "times.start",
                    "merge_angle",
                )
            }
            | {"times.stop": [1.1 + 2.2, 3], "labels.stop": [1.1 + 2.2, 3]}
        },
        ("experiments.main.sweep", "at most 150 characters"),
    ),
    # names, and what refers to them
    ({"experiments|../x": {}}, ("experiments.../x", "small letters")),
    ({"experiments|Main": {}}, ("experiments.Main", "small letters")),
    ({"experiments|a b": {}}, ("experiments.a b", "small letters")),
    ({"experiments|é": {}}, ("experiments.é", "small letters")),
    ({"experiments|": {}}, ("experiments.", "small letters")),
    ({"experiments|" + "a" * 65: {}}, ("experiments.aaaa", "small letters")),
    ({"experiments|a\n": {}}, ("experiments.a\n", "small letters")),
    ({"experiments": {}}, ("experiments = {}", "at least 1 entry, not 0")),
    ({"experiments": DELETE}, ("experiments", "required")),
    ({"figures|..": {"draw": "overview", "experiments": ["main"]}}, ("figures...", "small letters")),
    ({"figures.one.experiments": ["mian"]}, ("figures.one.experiments.0 = 'mian'", "'main'")),
    ({"films.one.experiments": ["mian"]}, ("films.one.experiments.0 = 'mian'", "'main'")),
    ({"claims.one.experiments": ["others"]}, ("claims.one.experiments.0 = 'others'", "'other'")),
    ({"figures.one.experiments": []}, ("figures.one.experiments", "1")),
    ({"figures.one.experiments": ["main", "main"]}, ("figures.one.experiments", "differ")),
    ({"figures.one.draw": "overwiev"}, ("figures.one.draw = 'overwiev'", "'overview'")),
    ({"figures.one.options": {"sed": 1}}, ("figures.one.options.sed = 1", "'seed'")),
    ({"films.one.draw": "overwiev"}, ("films.one.draw = 'overwiev'", "'overview'")),
    ({"claims.one.check": "colapse"}, ("claims.one.check = 'colapse'", "'collapse'")),
    ({"only": "mian"}, ("only", "'mian'", "'main'")),
    ({"only": ["main", "main"]}, ("only", "differ")),
    ({"only": []}, ("only", "1")),
    ({"seeds": 0}, ("seeds = 0", "1 to 100000")),
    ({"n_tokens": "[8, x]"}, ("n_tokens", "whole number")),
]
