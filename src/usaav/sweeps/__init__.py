"""Sweeps: many small cases, simulated many to a job, and kept in one table and one file.

Nothing is imported here, for the modules need different libraries: :mod:`usaav.sweeps.batches` simulates and
measures a batch, :mod:`usaav.sweeps.gathering` makes one table and one file of all batches,
:mod:`usaav.sweeps.stacks` is how cases share a netCDF file.
"""
