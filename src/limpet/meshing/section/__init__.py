"""Sections in the plane (r, z): outlines, meshes of quadrilaterals, and sweeps of them."""
