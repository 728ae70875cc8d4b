// Render meshes of triangulated surfaces: vertices split at sharp edges, and the edge lines.

import { THREE } from "three";

const CREASE = Math.cos((38 * Math.PI) / 180); // edges with a larger angle are drawn sharp

// Split vertices at sharp edges. Returns the triangles over the new vertices and the source of each vertex.
export function creased(triangles, rest, first) {
  const faces = triangles.length / 3, normals = [], corner = new THREE.Vector3();
  const at = (v) => new THREE.Vector3().fromArray(rest, 3 * (first + v));
  for (let f = 0; f < faces; f++) {
    const [a, b, c] = [0, 1, 2].map((i) => at(triangles[3 * f + i]));
    normals.push(b.sub(a).cross(corner.copy(c).sub(a)).normalize().clone());
  }
  const groups = new Map(), source = [], index = new Uint32Array(triangles.length);
  for (let i = 0; i < triangles.length; i++) {
    const v = triangles[i], normal = normals[Math.floor(i / 3)];
    const own = groups.get(v) || groups.set(v, []).get(v);
    let group = own.find((g) => g.normals.some((n) => n.dot(normal) > CREASE) || normal.lengthSq() < 0.5);
    if (!group) {
      own.push((group = { id: source.length, normals: [] }));
      source.push(v);
    }
    group.normals.push(normal);
    index[i] = group.id;
  }
  return { index, source: Uint32Array.from(source, (v) => v + first) };
}

export function edgesOf(triangles, first) {
  const edges = new Map();
  for (let i = 0; i < triangles.length; i++) {
    const a = triangles[i], b = triangles[i % 3 === 2 ? i - 2 : i + 1];
    edges.set(Math.min(a, b) * 2 ** 26 + Math.max(a, b), [a + first, b + first]);
  }
  return Uint32Array.from([...edges.values()].flat());
}
