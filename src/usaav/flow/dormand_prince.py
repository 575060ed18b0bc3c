"""The Dormand-Prince pair of order 8(5,3), and one step of it on the sphere in plain array code.

Coefficients: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, 2nd edition, section II.5
(DOP853). The step is written once for any array library that has NumPy's interface; ``compiled.py`` holds the
same step for the compiled engine.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

Array = Any  # numpy or cupy array: the step uses only what both have

N_STAGES = 12
ORDER = 8

# row s: weights of the stages before s in the point at which stage s is evaluated
A = np.array(
    [
        [
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
        ],
        [
            0.05260015195876773,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
        ],
        [
            0.0197250569845379,
            0.0591751709536137,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
        ],
        [
            0.02958758547680685,
            0.0,
            0.08876275643042054,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
        ],
        [
            0.2413651341592667,
            0.0,
            -0.8845494793282861,
            0.924834003261792,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
        ],
        [
            0.037037037037037035,
            0.0,
            0.0,
            0.17082860872947386,
            0.12546768756682242,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
        ],
        [
            0.037109375,
            0.0,
            0.0,
            0.17025221101954405,
            0.06021653898045596,
            -0.017578125,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
        ],
        [
            0.03709200011850479,
            0.0,
            0.0,
            0.17038392571223998,
            0.10726203044637328,
            -0.015319437748624402,
            0.008273789163814023,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
        ],
        [
            0.6241109587160757,
            0.0,
            0.0,
            -3.3608926294469414,
            -0.868219346841726,
            27.59209969944671,
            20.154067550477894,
            -43.48988418106996,
            0.0,
            0.0,
            0.0,
            0.0,
        ],
        [
            0.47766253643826434,
            0.0,
            0.0,
            -2.4881146199716677,
            -0.590290826836843,
            21.230051448181193,
            15.279233632882423,
            -33.28821096898486,
            -0.020331201708508627,
            0.0,
            0.0,
            0.0,
        ],
        [
            -0.9371424300859873,
            0.0,
            0.0,
            5.186372428844064,
            1.0914373489967295,
            -8.149787010746927,
            -18.52006565999696,
            22.739487099350505,
            2.4936055526796523,
            -3.0467644718982196,
            0.0,
            0.0,
        ],
        [
            2.273310147516538,
            0.0,
            0.0,
            -10.53449546673725,
            -2.0008720582248625,
            -17.9589318631188,
            27.94888452941996,
            -2.8589982771350235,
            -8.87285693353063,
            12.360567175794303,
            0.6433927460157636,
            0.0,
        ],
    ]
)
# the step of order 8
B = np.array(
    [
        0.054293734116568765,
        0.0,
        0.0,
        0.0,
        0.0,
        4.450312892752409,
        1.8915178993145003,
        -5.801203960010585,
        0.3111643669578199,
        -0.1521609496625161,
        0.20136540080403034,
        0.04471061572777259,
    ]
)
# difference to the embedded step of order 5
E5 = np.array(
    [
        0.01312004499419488,
        0.0,
        0.0,
        0.0,
        0.0,
        -1.2251564463762044,
        -0.4957589496572502,
        1.6643771824549864,
        -0.35032884874997366,
        0.3341791187130175,
        0.08192320648511571,
        -0.022355307863886294,
    ]
)
# difference to the embedded step of order 3
E3 = np.array(
    [
        -0.18980075407240762,
        0.0,
        0.0,
        0.0,
        0.0,
        4.450312892752409,
        1.8915178993145003,
        -5.801203960010585,
        -0.4226823213237919,
        -0.1521609496625161,
        0.20136540080403034,
        0.02265179219836082,
    ]
)


def displaced(tokens: Array, stages: Array, weights: Array, size: float) -> Array:
    """Unit rows in the direction of ``tokens + size * sum_s weights[s] stages[s]``; stages ``(s, m, d)``."""
    xp = _namespace(tokens)
    point = tokens + size * xp.tensordot(xp.asarray(weights), stages, 1)
    return point / xp.linalg.norm(point, axis=-1, keepdims=True)


def largest_error(stages: Array, size: float) -> float:
    """The largest error of any token as an angle, from both embedded formulas as Hairer combines them."""
    xp = _namespace(stages)
    fifth = xp.sum(xp.tensordot(xp.asarray(E5), stages, 1) ** 2, axis=-1)
    third = xp.sum(xp.tensordot(xp.asarray(E3), stages, 1) ** 2, axis=-1)
    scale = xp.sqrt(fifth + 0.01 * third)
    # where both estimates vanish the error does; NaN is no zero, and passes through the maximum
    angles = fifth / xp.where(scale == 0.0, 1.0, scale)
    return abs(size) * float(xp.max(angles))


def step(
    velocity: Callable[[Array], Array],
    tokens: Array,
    initial_velocity: Array,
    size: float,
    displace: Callable[[Array, Array, Array, float], Array] = displaced,
    error: Callable[[Array, float], float] = largest_error,
) -> tuple[Array, float]:
    """One step of order 8 on the sphere.

    Stages leave the sphere by rounding and truncation; the velocity is therefore evaluated at the normalised
    stage, and the new tokens are normalised.

    Parameters
    ----------
    velocity
        Maps unit rows ``(m, d)`` to tangent velocities ``(m, d)``.
    tokens, initial_velocity
        Unit rows ``(m, d)`` and their velocity.
    size
        Step in the unit of time that `velocity` uses.
    displace, error
        The two sums over stages, for an engine that has faster ones than :func:`displaced` and
        :func:`largest_error`.

    Returns
    -------
    tokens, error
        New unit rows, and the largest error of any token as an angle (radians).
    """
    stages = _namespace(tokens).empty((N_STAGES, *tokens.shape))
    stages[0] = initial_velocity
    for stage in range(1, N_STAGES):
        stages[stage] = velocity(displace(tokens, stages[:stage], A[stage, :stage], size))
    return displace(tokens, stages, B, size), error(stages, size)


def _namespace(array: Array) -> Any:
    # by the array's module: cupy's arrays do not have __array_namespace__
    return np if isinstance(array, np.ndarray) else import_module(type(array).__module__.partition(".")[0])
