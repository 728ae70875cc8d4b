// Arrows of the contact forces, as two instanced meshes.

import { THREE } from "three";

const MAX_ARROWS = 4000;
const LONGEST = 0.22; // length of the longest arrow, relative to the bodies in focus
const SHORTEST = 0.02; // shorter arrows, relative to the longest, are not drawn

export class Arrows {
  constructor(root) {
    this.largestForce = 0; // [N] so far
    const material = new THREE.MeshStandardMaterial({ color: 0x1b7f5c, roughness: 0.6 });
    const shaft = new THREE.CylinderGeometry(0.05, 0.05, 1, 5, 1, true).translate(0, 0.5, 0);
    const head = new THREE.ConeGeometry(0.13, 0.35, 7).translate(0, 0.175, 0);
    this.parts = [shaft, head].map((geometry) => {
      const mesh = new THREE.InstancedMesh(geometry, material, MAX_ARROWS);
      mesh.frustumCulled = false;
      mesh.renderOrder = 55;
      mesh.count = 0;
      root.add(mesh);
      return mesh;
    });
  }

  set visible(visible) {
    for (const part of this.parts) part.visible = visible;
  }

  // Forces at contacts on the cut-away side of `plane` (null: no cut) are not drawn. `size` [m]: of the bodies in focus.
  show({ contactPoints: x, contactForces: f }, size, plane) {
    const count = Math.min(x.length / 3, MAX_ARROWS), force = new THREE.Vector3(), up = new THREE.Vector3(0, 1, 0);
    for (let i = 0; i < count; i++) this.largestForce = Math.max(this.largestForce, force.fromArray(f, 3 * i).length());
    const [shaft, head] = this.parts, origin = new THREE.Vector3(), rotation = new THREE.Quaternion(), scale = new THREE.Vector3();
    const matrix = new THREE.Matrix4(), unit = 0.06 * size; // [m] shaft and head are 5 % and 13 % of this thick
    let drawn = 0;
    for (let i = 0; i < count; i++) {
      force.fromArray(f, 3 * i);
      const strength = force.length();
      origin.fromArray(x, 3 * i);
      if (strength <= SHORTEST * this.largestForce || (plane && plane.distanceToPoint(origin) < 0)) continue;
      const length = (LONGEST * size * strength) / this.largestForce;
      rotation.setFromUnitVectors(up, force.divideScalar(strength));
      const tip = Math.min(0.35 * unit, 0.6 * length), thick = unit * Math.min(1, length / (0.35 * unit));
      matrix.compose(origin, rotation, scale.set(thick, Math.max(length - tip, 1e-9), thick));
      shaft.setMatrixAt(drawn, matrix);
      origin.addScaledVector(force, length - tip);
      matrix.compose(origin, rotation, scale.set(thick, tip / 0.35 || 1e-9, thick));
      head.setMatrixAt(drawn, matrix);
      drawn += 1;
    }
    for (const part of this.parts) {
      part.count = drawn;
      part.instanceMatrix.needsUpdate = true;
    }
  }
}
