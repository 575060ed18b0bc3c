"""The GPU engine: the flow on a CUDA device through cupy, with kernels of its own.

Nothing here needs cupy before a device is asked for.
"""
