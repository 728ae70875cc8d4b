"""Small closed surfaces to press on each other, and the contacts between them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest

from limpet.cavity.mesh import JoinedSurface, join_surfaces
from limpet.contact.contacts import Contacts
from limpet.contact.detect import collider
from limpet.contact.detect import detect as detect_contacts
from limpet.geometry.surface import surface_topology

# Radius and height [m] from the inner apex to the outer one: a dome with a flat rim, three rings of
# vertices wide, at 15, 16 and 17 mm.
CUP = (
    np.array(
        [
            (0.0, 8.0),
            (6.0, 7.0),
            (11.0, 4.0),
            (14.0, 1.5),
            (15.0, 0.0),
            (16.0, 0.0),
            (17.0, 0.0),
            (17.5, 1.5),
            (14.0, 4.5),
            (7.0, 9.0),
            (0.0, 10.0),
        ]
    )
    / 1000.0
)


@dataclass
class Scene:
    """Bodies and where they are: X (N, 3) joined."""

    surfaces: list
    surface: JoinedSurface
    x: np.ndarray

    def part(self, body: int) -> slice:
        return slice(self.surface.offset[body], self.surface.offset[body + 1])

    def moved(self, body: int, by) -> np.ndarray:
        x = self.x.copy()
        x[self.part(body)] += by
        return x

    def contacts(self, x=None, alarm: float = 2e-3) -> Contacts:
        x = self.x if x is None else x
        parts = [x[self.part(b)] for b in range(len(self.surfaces))]
        bodies = [collider(s, p) for s, p in zip(self.surfaces, parts)]
        pairs = [(i, j) for i in range(len(parts)) for j in range(i + 1, len(parts))]
        return detect_contacts(bodies, parts, pairs, alarm)


def outward(x, triangles):
    """The triangles, all turned round if the volume is negative."""
    a, b, c = x[triangles[:, 0]], x[triangles[:, 1]], x[triangles[:, 2]]
    return triangles if np.einsum("ij,ij", a, np.cross(b, c)) > 0 else triangles[:, ::-1].copy()


class Kit:
    CUP = CUP

    @staticmethod
    def cup(profile=CUP, sectors: int = 16):
        """A surface of revolution about z; the profile starts and ends on the axis."""
        points, rows, triangles = [], [], []
        angle = 2 * np.pi * np.arange(sectors) / sectors
        for r, z in profile:
            first = len(points)
            if r == 0.0:
                points.append((0.0, 0.0, z))
                rows.append(np.full(sectors, first))
            else:
                points += [(r * np.cos(t), r * np.sin(t), z) for t in angle]
                rows.append(first + np.arange(sectors))
        for low, high in pairwise(rows):
            for j in range(sectors):
                k = (j + 1) % sectors
                for t in ((low[j], low[k], high[k]), (low[j], high[k], high[j])):
                    if len(set(t)) == 3:
                        triangles.append(t)
        x = np.array(points)
        return x, outward(x, np.array(triangles, dtype=np.int32))

    @staticmethod
    def heightfield(height, size=0.06, bottom=-0.03, cells=1):
        """A block whose top is a grid of cells x cells with the given height(x, y)."""
        n = cells + 1
        grid = np.linspace(-size / 2, size / 2, n)
        gx, gy = (g.ravel() for g in np.meshgrid(grid, grid, indexing="ij"))
        top = np.column_stack([gx, gy, np.broadcast_to(height(gx, gy), gx.shape)])
        x = np.concatenate([top, np.column_stack([gx, gy, np.full(n * n, bottom)])])
        i, j = (g.ravel() for g in np.meshgrid(np.arange(cells), np.arange(cells), indexing="ij"))
        a, b, c, d = i * n + j, (i + 1) * n + j, (i + 1) * n + j + 1, i * n + j + 1
        upper = np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])])
        triangles = [upper, upper[:, ::-1] + n * n]
        k = np.arange(cells)
        rim = np.concatenate(
            [k * n, cells * n + k, (cells - k) * n + cells, cells - k]
        )  # counter-clockwise seen from above
        nxt = np.roll(rim, -1)
        triangles += [
            np.column_stack([rim, rim + n * n, nxt + n * n]),
            np.column_stack([rim, nxt + n * n, nxt]),
        ]
        return x, outward(x, np.concatenate(triangles).astype(np.int32))

    @classmethod
    def block(cls, cells=1, size=0.06):
        return cls.heightfield(lambda x, y: 0.0 * x, size=size, cells=cells)

    @staticmethod
    def scene(*bodies) -> Scene:
        surfaces = [surface_topology(t, len(x)) for x, t in bodies]
        return Scene(surfaces, join_surfaces(surfaces), np.concatenate([x for x, _ in bodies]))

    @classmethod
    def bellows(cls):
        """A long dimple over a block: the scene, x of it whole, x with a ridge that splits it."""

        def shape(x, y):
            near = np.maximum(np.abs(x) / 2.0, np.abs(y)) / 8e-3
            return -4e-3 * np.clip(2.0 * (1.2 - near), 0.0, 1.0)

        x, t = cls.heightfield(shape, cells=30, size=0.06, bottom=-0.01)
        whole = x * [1.0, 1.0, -1.0]
        split = whole.copy()
        split[(np.abs(x[:, 0]) < 2.5e-3) & (whole[:, 2] < 5e-3), 2] = 0.0
        scene = cls.scene((whole, t[:, ::-1].copy()), cls.block())
        y = scene.x.copy()
        y[: len(split)] = split
        return scene, scene.x, y

    @staticmethod
    def polygon(radius, sectors: int = 16) -> float:
        """Area of the regular polygon on a circle."""
        return 0.5 * sectors * np.sin(2 * np.pi / sectors) * radius**2

    @staticmethod
    def gradient(mesh, x):
        """dV/dX, dense (N, 3)."""
        from limpet.cavity.mesh import volume_and_gradient

        dense = np.zeros_like(x)
        dense[mesh.support] = volume_and_gradient(mesh, x)[1]
        return dense


@pytest.fixture(scope="session")
def kit() -> type[Kit]:
    return Kit
