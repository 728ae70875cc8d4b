"""Software renderer for bodies cut open by a plane: projection, clipping, shading, depth buffer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.colors import to_rgb

from limpet.compiled import njit
from limpet.record.section import cut
from limpet.report import SectionFrame

Array = np.ndarray

SOFT = ("#e5a46c", "#d98a7b", "#e3c16f", "#c98f9f")
RIGID = ("#a3adb8", "#b9bfc4", "#8f9ba8", "#c2c8c4")
FIXED = "#e6e2d8"
LINE = "#3d3a36"
LIGHT = np.array([-0.35, -0.55, 0.76])  # direction to the light
AMBIENT = 0.62  # brightness of faces that the light does not reach


@dataclass(frozen=True)
class View:
    """Camera direction, the bodies to show, and the side that is cut away."""

    azimuth: float = -70.0  # [degree] about z; at -90 x points right and y away from the viewer
    elevation: float = 20.0  # [degree] above the horizon
    opened: float | None = -90.0  # [degree] azimuth of the side cut away; None: not cut
    focus: tuple[str, ...] = ()  # names of bodies; all bodies that are not fixed, if empty

    @property
    def axes(self) -> Array:
        """(3, 3) unit vectors: right and up in the image, and towards the viewer."""
        a, e = np.radians([self.azimuth, self.elevation])
        toward = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
        right = np.array([-np.sin(a), np.cos(a), 0.0])
        return np.array([right, np.cross(toward, right), toward])

    def project(self, points: Array) -> Array:
        """(..., 3) [m] right, up, and towards the viewer; a parallel projection."""
        return points @ self.axes.T


@dataclass(frozen=True)
class Plane:
    """A vertical plane; the side of its normal is cut away."""

    origin: Array  # (3,) [m]
    normal: Array  # (3,) horizontal, unit

    @property
    def along(self) -> Array:
        return np.array([-self.normal[1], self.normal[0], 0.0])

    def distance(self, points: Array) -> Array:
        """[m] signed distance, positive on the side that is cut away."""
        return (points - self.origin) @ self.normal

    def loops(self, points: Array, triangles: Array) -> list[Array]:
        """Intersection with a closed surface: loops (k, 3) [m]."""
        q = points - self.origin
        local = np.stack([q @ self.along, -self.distance(points), q[:, 2]], axis=1)
        up = np.array([0.0, 0.0, 1.0])
        return [
            self.origin + loop[:, :1] * self.along + loop[:, 1:] * up
            for loop in cut(local, triangles)
        ]


def is_closed(triangles: Array) -> bool:
    """Whether the surface is closed: every edge has two triangles."""
    ends = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    return bool(np.all(np.unique(ends, axis=0, return_counts=True)[1] == 2))


def clip(points: Array, triangles: Array, plane: Plane | None) -> Array:
    """(k, 3, 3) [m] corners of the triangles behind the plane; crossing triangles are clipped."""
    corners = points[triangles]
    if plane is None or len(corners) == 0:
        return corners
    d = plane.distance(corners)
    out = d > 0.0
    count = out.sum(axis=1)
    parts = [corners[count == 0]]
    for alone in (True, False):  # one corner is cut away, or one remains
        some = count == (1 if alone else 2)
        first = np.argmax(out[some] == alone, axis=1)
        order = (first[:, None] + np.arange(3)) % 3
        c = np.take_along_axis(corners[some], order[:, :, None], axis=1)
        e = np.take_along_axis(d[some], order, axis=1)
        one = _intersect(c[:, 0], c[:, 1], e[:, 0], e[:, 1])
        two = _intersect(c[:, 0], c[:, 2], e[:, 0], e[:, 2])
        if alone:
            parts.append(np.stack([one, c[:, 1], c[:, 2]], axis=1))
            parts.append(np.stack([one, c[:, 2], two], axis=1))
        else:
            parts.append(np.stack([c[:, 0], one, two], axis=1))
    return np.concatenate(parts)


def _intersect(a: Array, b: Array, da: Array, db: Array) -> Array:
    """The points on the lines from a to b with distance 0."""
    t = da / (da - db)
    return a + t[:, None] * (b - a)


def shade(corners: Array, colour: str, view: View) -> Array:
    """(k, 3) colours by Lambert's law, with light from above the viewer's left shoulder."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normal, axis=1)
    right, up, toward = view.axes
    light = LIGHT[0] * right - LIGHT[1] * toward + LIGHT[2] * up
    facing = normal @ (light / np.linalg.norm(light)) / np.maximum(length, 1e-30)
    bright = AMBIENT + (1.0 - AMBIENT) * np.maximum(facing, 0.0)
    return bright[:, None] * np.array(to_rgb(colour))


@njit(cache=True)
def nearest(corners: Array, width: int, height: int) -> Array:
    """(height, width) index of the nearest triangle at each pixel centre; -1 where there is none.

    `corners` (k, 3, 3): x and y in pixels, distance towards the viewer. Back faces are culled.
    """
    index = np.full((height, width), -1, np.int32)
    depth = np.full((height, width), -np.inf)
    for k in range(len(corners)):
        x0, y0, z0 = corners[k, 0]
        x1, y1, z1 = corners[k, 1]
        x2, y2, z2 = corners[k, 2]
        area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
        if area <= 0.0:
            continue
        left, right = max(0.0, min(x0, x1, x2)), min(width - 1.0, max(x0, x1, x2))
        low, high = max(0.0, min(y0, y1, y2)), min(height - 1.0, max(y0, y1, y2))
        for row in range(int(low), int(high) + 1):
            for column in range(int(left), int(right) + 1):
                x, y = column + 0.5, row + 0.5
                a = ((x1 - x) * (y2 - y) - (x2 - x) * (y1 - y)) / area
                b = ((x2 - x) * (y0 - y) - (x0 - x) * (y2 - y)) / area
                c = 1.0 - a - b
                if a < 0.0 or b < 0.0 or c < 0.0:
                    continue
                z = a * z0 + b * z1 + c * z2
                if z > depth[row, column]:
                    depth[row, column] = z
                    index[row, column] = k
    return index


def render(
    frame: SectionFrame, view: View, plane: Plane | None, window: tuple[float, float, float, float],
    pixels: tuple[int, int],
) -> Array:  # fmt: skip
    """(height, width, 3) image of the bodies without their cut faces, first row at the bottom."""
    parts, paint, owner = [], [], []
    for number, (name, points, triangles) in enumerate(frame.bodies):
        if not is_closed(triangles):  # a sheet is visible from both sides
            triangles = np.concatenate([triangles, triangles[:, ::-1]])
        corners = clip(points, triangles, plane)
        parts.append(view.project(corners))
        paint.append(shade(corners, colour_of(frame, name), view))
        owner.append(np.full(len(corners), number))
    left, right, bottom, top = window
    corners = np.concatenate(parts)
    corners[..., 0] = (corners[..., 0] - left) * (pixels[0] / (right - left))
    corners[..., 1] = (corners[..., 1] - bottom) * (pixels[1] / (top - bottom))
    index = nearest(corners, *pixels)
    image = np.vstack([*paint, np.ones((1, 3))])[index]  # index -1 is the last row, white
    body = np.concatenate([*owner, [-1]])[index]
    line = np.zeros(body.shape, dtype=bool)  # outlines: pixels between two bodies
    line[:, 1:] |= body[:, 1:] != body[:, :-1]
    line[1:] |= body[1:] != body[:-1]
    image[line] = to_rgb(LINE)
    return image


def colour_of(frame: SectionFrame, name: str) -> str:
    """Colour of a body: warm if soft, grey if rigid, light if fixed."""
    if name in frame.fixed:
        return FIXED
    soft = name in frame.soft
    peers = [n for n, *_ in frame.bodies if n not in frame.fixed and (n in frame.soft) == soft]
    colours = SOFT if soft else RIGID
    return colours[peers.index(name) % len(colours)]
