"""Contenders of ``trajectory.py``: a job from standard input, a JSON line with seconds and tokens back.

The field is the usual one, ``P_x (1/n) sum_j exp(beta <x, y>) y``, as a user of these libraries would write
it. Lines before that: ``{"setup": ...}``, the seconds of imports and compilation, which do not count, and the
progress ``{"tau": ...}`` where the library lets us see it.
"""

from __future__ import annotations

import json
import sys
import time

STARTED = time.perf_counter()

import numpy as np  # noqa: E402  imports are part of the setup


def say(**facts: object) -> None:
    """Print one JSON line at once."""
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


def begin(job: dict) -> None:
    """Start the clock of `job`: what came before was setup."""
    job["began"] = time.perf_counter()
    say(setup=job["began"] - STARTED)


def field(x: np.ndarray, beta: float) -> np.ndarray:
    """Velocity per tau of rows ``(n, d)``, evaluated at the normalised rows."""
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    pull = np.exp(beta * (x @ x.T)) @ x / len(x)
    return pull - np.sum(pull * x, axis=1, keepdims=True) * x


def run_scipy(method: str, job: dict) -> np.ndarray:
    """``scipy.integrate.solve_ivp``."""
    from scipy.integrate import solve_ivp

    shape, last = np.shape(job["tokens"]), [0.0]

    def rhs(tau: float, flat: np.ndarray) -> np.ndarray:
        if time.perf_counter() - last[0] > 5.0:
            last[0] = time.perf_counter()
            say(tau=tau)
        return field(flat.reshape(shape), job["beta"]).ravel()

    begin(job)
    solved = solve_ivp(
        rhs, (0.0, job["tau"]), np.ravel(job["tokens"]), method=method, rtol=job["rtol"], atol=job["rtol"]
    )
    return solved.y[:, -1].reshape(shape)


def run_diffrax(solver: str, job: dict) -> np.ndarray:
    """diffrax, jitted, timed after compilation."""
    import diffrax
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    beta = job["beta"]

    def rhs(_t, x, _args):
        x = x / jnp.linalg.norm(x, axis=1, keepdims=True)
        pull = jnp.exp(beta * (x @ x.T)) @ x / x.shape[0]
        return pull - jnp.sum(pull * x, axis=1, keepdims=True) * x

    @jax.jit
    def solve(x, tau):
        controller = diffrax.PIDController(rtol=job["rtol"], atol=job["rtol"])
        return diffrax.diffeqsolve(
            diffrax.ODETerm(rhs),
            getattr(diffrax, solver)(),
            0.0,
            tau,
            1e-6,
            x,
            stepsize_controller=controller,
            max_steps=10_000_000,
        ).ys[-1]

    x = jnp.asarray(job["tokens"])
    solve(x, 1e-5).block_until_ready()
    begin(job)
    return np.asarray(solve(x, job["tau"]).block_until_ready())


def run_torchdiffeq(method: str, job: dict) -> np.ndarray:
    """Run torchdiffeq in float64."""
    import torch
    from torchdiffeq import odeint

    torch.set_grad_enabled(False)
    beta, last = job["beta"], [0.0]

    def rhs(t: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        if time.perf_counter() - last[0] > 5.0:
            last[0] = time.perf_counter()
            say(tau=float(t))
        x = x / torch.linalg.norm(x, dim=1, keepdim=True)
        pull = torch.exp(beta * (x @ x.T)) @ x / len(x)
        return pull - (pull * x).sum(1, keepdim=True) * x

    x = torch.tensor(job["tokens"], dtype=torch.float64)
    times = torch.tensor([0.0, job["tau"]], dtype=torch.float64)
    begin(job)
    return odeint(rhs, x, times, method=method, rtol=job["rtol"], atol=job["rtol"])[-1].numpy()


def run_euler(job: dict, step: float) -> np.ndarray:
    """The loop of published scripts: Euler steps and a normalisation."""
    x = np.array(job["tokens"])
    begin(job)
    for _ in range(round(job["tau"] / step)):
        x = x + step * field(x, job["beta"])
        x /= np.linalg.norm(x, axis=1, keepdims=True)
    return x


def main() -> None:
    """Run the named contender."""
    job = json.loads(sys.stdin.read())
    library, _, method = job["name"].partition("-")
    if library == "scipy":
        tokens = run_scipy(method, job)
    elif library == "diffrax":
        tokens = run_diffrax(method, job)
    elif library == "torchdiffeq":
        tokens = run_torchdiffeq(method, job)
    else:
        tokens = run_euler(job, 0.1)
    seconds = time.perf_counter() - job["began"]
    say(seconds=seconds, tokens=(tokens / np.linalg.norm(tokens, axis=1, keepdims=True)).tolist())


if __name__ == "__main__":
    main()
