"""Pressure-field contact (F): penetration extents, equal-pressure polygons, wrench, energy."""
