"""Kernels compiled before they are needed, on all cores."""
