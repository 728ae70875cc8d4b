// The scene in three dimensions: bodies coloured by vertex and cut open, trapped air, force arrows.

import { THREE, OrbitControls } from "three";
import { blue, heat, linearColour } from "limpet/plots";

const BASE = {
  soft: ["#e2b083", "#d99a8b", "#e0c583", "#cda0ae"], rigid: ["#a9b3bd", "#bcc3c8", "#98a4b0", "#c6ccc8"],
  driven: ["#8f9aa5", "#7f8b97"], fixed: ["#dedad1"],
};
const CREASE = Math.cos((38 * Math.PI) / 180); // edges sharper than this stay sharp
const ARROWS = 4000;
const LONGEST = 0.22; // of what is in focus, the longest arrow
const SHORTEST = 0.02; // of the longest: what is shorter is not drawn, of cloth's thousands most

// Split vertices at sharp edges. Returns the triangles over the new vertices and each one's source.
function creased(triangles, rest, first) {
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

function edgesOf(triangles, first) {
  const edges = new Map();
  for (let i = 0; i < triangles.length; i++) {
    const a = triangles[i], b = triangles[i % 3 === 2 ? i - 2 : i + 1];
    edges.set(Math.min(a, b) * 2 ** 26 + Math.max(a, b), [a + first, b + first]);
  }
  return Uint32Array.from([...edges.values()].flat());
}

export class View {
  constructor(parent) {
    this.parent = parent;
    this.renderer = new THREE.WebGLRenderer({ antialias: true, alpha: true, stencil: true, preserveDrawingBuffer: true });
    this.renderer.localClippingEnabled = true;
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, 2));
    parent.append(this.renderer.domElement);
    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(26, 1, 0.001, 100);
    this.scene.add(new THREE.HemisphereLight(0xffffff, 0xb8b0a4, 1.9), this.camera);
    const lamp = new THREE.DirectionalLight(0xffffff, 1.5);
    lamp.position.set(-0.6, 0.9, 1);
    this.camera.add(lamp, lamp.target);
    lamp.target.position.set(0, 0, -1);
    this.plane = new THREE.Plane(new THREE.Vector3(0, 1, 0), 0);
    this.cut = { mode: "soft", axis: "-y", offset: 0 };
    this.shown = { arrows: true, air: true, patches: true, mesh: false };
    this.bodies = [];
    this.cavities = [];
    this.waiting = [];
    new ResizeObserver(() => this.resize()).observe(parent);
  }

  // ---- what stays: topology, camera, plane

  setHeader(header) {
    if (this.root) this.scene.remove(this.root);
    for (const mesh of [...this.bodies, ...this.cavities].flatMap((b) => b.parts)) mesh.geometry.dispose();
    this.patch?.geometry.dispose();
    this.root = new THREE.Group();
    this.scene.add(this.root);
    this.header = header;
    this.frame = null;
    this.cavities = [];
    const kin = {};
    this.bodies = header.bodies.map((body, i) => this.makeBody(body, i, (kin[body.kind] = (kin[body.kind] ?? -1) + 1)));
    this.makeArrows();
    this.makePatch();
    const moving = header.bodies.filter((b) => b.kind !== "fixed");
    this.focus = this.boxOf(moving.length ? moving : header.bodies);
    this.whole = this.boxOf(header.bodies);
    this.size = this.focus.getSize(new THREE.Vector3()).length();
    this.largestForce = 0;
    if (!this.controls || this.camera.up.dot(new THREE.Vector3(...header.up)) < 0.999) {
      this.controls?.dispose();
      this.camera.up.set(...header.up);
      this.controls = new OrbitControls(this.camera, this.renderer.domElement);
      this.controls.addEventListener("change", () => this.invalidate());
      this.look("oblique");
    }
    this.setCut({});
  }

  boxOf(bodies) {
    const box = new THREE.Box3(), point = new THREE.Vector3();
    for (const b of bodies) {
      for (const v of b.triangles) box.expandByPoint(point.fromArray(this.header.rest, 3 * (b.first + v)));
    }
    return box;
  }

  makeBody(body, number, kin) {
    const { index, source } = creased(body.triangles, this.header.rest, body.first);
    const geometry = new THREE.BufferGeometry();
    const attribute = () => new THREE.BufferAttribute(new Float32Array(3 * source.length), 3).setUsage(THREE.DynamicDrawUsage);
    geometry.setAttribute("position", attribute());
    geometry.setAttribute("normal", attribute());
    geometry.setAttribute("color", attribute());
    geometry.setIndex(new THREE.BufferAttribute(index, 1));
    const palette = BASE[body.kind], base = palette[kin % palette.length];
    const surface = new THREE.Mesh(geometry, new THREE.MeshStandardMaterial({ vertexColors: true, roughness: 0.75, side: THREE.DoubleSide }));
    surface.renderOrder = 50;
    surface.frustumCulled = false;
    const lines = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: 0x2b2620, transparent: true, opacity: 0.35 }));
    const edges = edgesOf(body.triangles, body.first);
    lines.geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * edges.length), 3));
    lines.frustumCulled = false;
    lines.renderOrder = 51;
    const own = { ...body, index, source, edges, surface, lines, base: linearColour(base), parts: [surface, lines] };
    this.root.add(surface, lines);
    own.cap = this.makeCap(geometry, base, number);
    own.parts.push(...own.cap.stencils, own.cap.face);
    return own;
  }

  // The cut face: count surfaces in front of the plane's far side in the stencil buffer, fill where it is odd.
  makeCap(geometry, colour, number) {
    const stencils = [[THREE.BackSide, THREE.IncrementWrapStencilOp], [THREE.FrontSide, THREE.DecrementWrapStencilOp]].map(([side, op]) => {
      const material = new THREE.MeshBasicMaterial({
        side, depthWrite: false, depthTest: false, colorWrite: false, stencilWrite: true, stencilFunc: THREE.AlwaysStencilFunc,
        stencilFail: op, stencilZFail: op, stencilZPass: op, clippingPlanes: [this.plane],
      });
      const mesh = new THREE.Mesh(geometry, material);
      mesh.renderOrder = 1 + number;
      mesh.frustumCulled = false;
      return mesh;
    });
    const face = new THREE.Mesh(new THREE.PlaneGeometry(1, 1), new THREE.MeshStandardMaterial({
      color: colour, roughness: 0.9, side: THREE.DoubleSide, stencilWrite: true, stencilRef: 0, stencilFunc: THREE.NotEqualStencilFunc,
      stencilFail: THREE.ReplaceStencilOp, stencilZFail: THREE.ReplaceStencilOp, stencilZPass: THREE.ReplaceStencilOp,
    }));
    face.renderOrder = 1.1 + number;
    face.frustumCulled = false;
    face.onAfterRender = (renderer) => renderer.clearStencil();
    this.root.add(...stencils, face);
    return { stencils, face };
  }

  setCut(change) {
    Object.assign(this.cut, change);
    const { mode } = this.cut;
    this.movePlane(this.frame?.positions || this.header.rest);
    for (const b of [...this.bodies, ...this.cavities]) {
      const open = mode === "all" || (mode === "soft" && (b.kind === "soft" || b.kind === "air"));
      for (const material of [b.surface.material, b.lines?.material]) {
        if (material) material.clippingPlanes = open ? [this.plane] : null;
      }
      b.open = open;
    }
    if (this.frame) this.showArrows(this.frame);
    this.setShown({});
  }

  // The plane goes with the soft bodies: through their middle, or so many half widths from it.
  movePlane(x) {
    const { axis, offset } = this.cut, i = "xyz".indexOf(axis[1]), sign = axis[0] === "-" ? 1 : -1;
    const soft = this.bodies.filter((b) => b.kind === "soft");
    let low = Infinity, high = -Infinity;
    for (const b of soft.length ? soft : this.bodies) {
      for (const v of b.source) {
        low = Math.min(low, x[3 * v + i]);
        high = Math.max(high, x[3 * v + i]);
      }
    }
    const depth = 0.5 * (low + high) + sign * offset * 0.5 * (high - low);
    const normal = new THREE.Vector3().setComponent(i, sign);
    this.plane.set(normal, -sign * depth);
    const middle = this.focus.getCenter(new THREE.Vector3()).setComponent(i, depth);
    const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), normal.negate());
    for (const { cap } of [...this.bodies, ...this.cavities]) {
      cap.face.position.copy(middle);
      cap.face.quaternion.copy(turn);
      cap.face.scale.setScalar(4 * this.whole.getSize(new THREE.Vector3()).length());
    }
  }

  setShown(change) {
    Object.assign(this.shown, change);
    for (const b of this.bodies) b.lines.visible = this.shown.mesh;
    for (const b of [...this.bodies, ...this.cavities]) {
      const visible = b.kind === "soft" || (!this.softOnly && (b.kind !== "air" || this.shown.air));
      b.surface.visible = visible;
      for (const part of [...b.cap.stencils, b.cap.face]) part.visible = visible && b.open;
    }
    if (this.arrows) for (const part of this.arrows) part.visible = this.shown.arrows;
    if (this.patch) this.patch.visible = this.shown.patches && !this.softOnly;
    this.invalidate();
  }

  look(name) {
    const way = {
      oblique: [0.42, -1, 0.42], front: [0, -1, 0], side: [1, 0, 0], top: [0, -0.001, 1], below: [0.15, -0.35, -0.9],
    }[name];
    const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), this.camera.up);
    const centre = this.focus.getCenter(new THREE.Vector3());
    const narrow = Math.min(1, this.camera.aspect || 1);
    const distance = (0.56 * this.size) / Math.sin((this.camera.fov * Math.PI) / 360) / narrow;
    this.camera.position.copy(centre).addScaledVector(new THREE.Vector3(...way).normalize().applyQuaternion(turn), distance);
    this.camera.near = distance / 100;
    this.camera.far = distance * 50;
    this.camera.updateProjectionMatrix();
    this.controls.target.copy(centre);
    this.controls.update();
    this.softOnly = name === "below"; // else what the lip stands on would hide it
    this.setShown({});
  }

  // ---- what moves

  show(frame, range, reversed, patchRange) {
    this.frame = frame;
    for (const body of this.bodies) {
      const { position, color } = body.surface.geometry.attributes, source = body.source;
      const x = frame.positions, values = frame.values, p = position.array, c = color.array, base = body.base;
      for (let i = 0; i < source.length; i++) {
        const v = source[i], value = values[v];
        p[3 * i] = x[3 * v];
        p[3 * i + 1] = x[3 * v + 1];
        p[3 * i + 2] = x[3 * v + 2];
        if (Number.isNaN(value) || !range) {
          c[3 * i] = base[0];
          c[3 * i + 1] = base[1];
          c[3 * i + 2] = base[2];
        } else {
          let t = (value - range[0]) / (range[1] - range[0]);
          if (reversed) t = 1 - t;
          const k = 3 * Math.round(255 * Math.min(Math.max(t, 0), 1));
          c[3 * i] = heat[k];
          c[3 * i + 1] = heat[k + 1];
          c[3 * i + 2] = heat[k + 2];
        }
      }
      position.needsUpdate = color.needsUpdate = true;
      body.surface.geometry.computeVertexNormals();
      body.surface.geometry.boundingSphere = null;
      if (this.shown.mesh) {
        const line = body.lines.geometry.attributes.position;
        for (let i = 0; i < body.edges.length; i++) line.array.set(x.subarray(3 * body.edges[i], 3 * body.edges[i] + 3), 3 * i);
        line.needsUpdate = true;
      }
    }
    this.movePlane(frame.positions);
    this.showAir(frame.cavities);
    this.showPatch(frame.patch, patchRange);
    this.showArrows(frame);
    this.invalidate();
  }

  showAir(cavities) {
    while (this.cavities.length > cavities.length) {
      for (const part of this.cavities.pop().parts) {
        this.root.remove(part);
        part.geometry.dispose();
      }
    }
    const fresh = this.cavities.length < cavities.length;
    while (this.cavities.length < cavities.length) this.cavities.push(this.makeAir(this.cavities.length));
    cavities.forEach((cavity, i) => {
      const own = this.cavities[i], geometry = own.surface.geometry;
      geometry.setAttribute("position", new THREE.BufferAttribute(Float32Array.from(cavity.points), 3));
      geometry.setIndex(new THREE.BufferAttribute(Uint32Array.from(cavity.triangles), 1));
      geometry.boundingSphere = null;
      const k = 3 * Math.round(255 * Math.min(Math.max(cavity.pressure / this.header.ambient, 0), 1));
      own.surface.material.color.fromArray(blue, k);
      own.cap.face.material.color.fromArray(blue, k);
    });
    if (fresh) this.setCut({});
  }

  makeAir(i) {
    const geometry = new THREE.BufferGeometry();
    const surface = new THREE.Mesh(geometry, new THREE.MeshBasicMaterial({
      transparent: true, opacity: 0.55, depthWrite: false, side: THREE.DoubleSide, polygonOffset: true, polygonOffsetFactor: -1, polygonOffsetUnits: -1,
    }));
    surface.frustumCulled = false;
    surface.renderOrder = 60;
    this.root.add(surface);
    const cap = this.makeCap(geometry, "#2d74c4", 20 + i);
    cap.face.material.dispose();
    cap.face.material = new THREE.MeshBasicMaterial({
      side: THREE.DoubleSide, stencilWrite: true, stencilRef: 0, stencilFunc: THREE.NotEqualStencilFunc, stencilFail: THREE.ReplaceStencilOp,
      stencilZFail: THREE.ReplaceStencilOp, stencilZPass: THREE.ReplaceStencilOp, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1,
    });
    return { kind: "air", surface, cap, parts: [surface, ...cap.stencils, cap.face] };
  }

  // Where pressure fields meet is inside both bodies: drawn last, on a fresh depth buffer, it shines through them.
  makePatch() {
    const material = new THREE.MeshBasicMaterial({ vertexColors: true, side: THREE.DoubleSide, transparent: true, forceSinglePass: true });
    this.patch = new THREE.Mesh(new THREE.BufferGeometry(), material);
    this.patch.frustumCulled = false;
    this.patch.renderOrder = 100;
    this.patch.onBeforeRender = (renderer) => renderer.clearDepth();
    this.root.add(this.patch);
  }

  showPatch({ points, pressure, triangles }, range) {
    const { geometry } = this.patch, colours = new Float32Array(points.length);
    for (let i = 0; i < pressure.length; i++) {
      const k = 3 * Math.round(255 * Math.min(Math.max(pressure[i] / range[1], 0), 1));
      colours.set(heat.subarray(k, k + 3), 3 * i);
    }
    geometry.dispose();
    geometry.setAttribute("position", new THREE.BufferAttribute(Float32Array.from(points), 3));
    geometry.setAttribute("color", new THREE.BufferAttribute(colours, 3));
    geometry.setIndex(new THREE.BufferAttribute(Uint32Array.from(triangles), 1));
  }

  makeArrows() {
    const material = new THREE.MeshStandardMaterial({ color: 0x1b7f5c, roughness: 0.6 });
    const shaft = new THREE.CylinderGeometry(0.05, 0.05, 1, 5, 1, true).translate(0, 0.5, 0);
    const head = new THREE.ConeGeometry(0.13, 0.35, 7).translate(0, 0.175, 0);
    this.arrows = [shaft, head].map((geometry) => {
      const mesh = new THREE.InstancedMesh(geometry, material, ARROWS);
      mesh.frustumCulled = false;
      mesh.renderOrder = 55;
      mesh.count = 0;
      this.root.add(mesh);
      return mesh;
    });
  }

  showArrows({ contactPoints: x, contactForces: f }) {
    const count = Math.min(x.length / 3, ARROWS), force = new THREE.Vector3(), up = new THREE.Vector3(0, 1, 0);
    for (let i = 0; i < count; i++) this.largestForce = Math.max(this.largestForce, force.fromArray(f, 3 * i).length());
    const [shaft, head] = this.arrows, place = new THREE.Vector3(), turn = new THREE.Quaternion(), scale = new THREE.Vector3();
    const soft = this.cut.mode !== "none", matrix = new THREE.Matrix4(), unit = 0.06 * this.size; // [m] how thick: 5 % and 13 % of this
    let drawn = 0;
    for (let i = 0; i < count; i++) {
      force.fromArray(f, 3 * i);
      const size = force.length();
      place.fromArray(x, 3 * i);
      if (size <= SHORTEST * this.largestForce || (soft && this.plane.distanceToPoint(place) < 0)) continue; // cut away
      const length = (LONGEST * this.size * size) / this.largestForce;
      turn.setFromUnitVectors(up, force.divideScalar(size));
      const tip = Math.min(0.35 * unit, 0.6 * length), thick = unit * Math.min(1, length / (0.35 * unit));
      matrix.compose(place, turn, scale.set(thick, Math.max(length - tip, 1e-9), thick));
      shaft.setMatrixAt(drawn, matrix);
      place.addScaledVector(force, length - tip);
      matrix.compose(place, turn, scale.set(thick, tip / 0.35 || 1e-9, thick));
      head.setMatrixAt(drawn, matrix);
      drawn += 1;
    }
    for (const part of this.arrows) {
      part.count = drawn;
      part.instanceMatrix.needsUpdate = true;
    }
  }

  // ---- the mouse takes hold of a body

  ray(event) {
    const { left, top, width, height } = this.renderer.domElement.getBoundingClientRect();
    const at = new THREE.Vector2((2 * (event.clientX - left)) / width - 1, 1 - (2 * (event.clientY - top)) / height);
    const caster = new THREE.Raycaster();
    caster.setFromCamera(at, this.camera);
    return caster;
  }

  // The vertex under the mouse of a body that can move: {body, vertex, point}, or null.
  grab(event) {
    const movable = this.bodies.filter((b) => b.kind === "soft" || b.kind === "rigid");
    for (const b of movable) b.surface.geometry.computeBoundingSphere();
    const hits = this.ray(event).intersectObjects(movable.map((b) => b.surface), false);
    const hit = hits.find(({ object, point }) => !object.material.clippingPlanes || this.plane.distanceToPoint(point) >= 0);
    if (!hit) return null;
    const body = movable.find((b) => b.surface === hit.object), p = body.surface.geometry.attributes.position;
    const corners = [hit.face.a, hit.face.b, hit.face.c], corner = new THREE.Vector3();
    const nearest = corners.reduce((best, i) => {
      const distance = corner.fromBufferAttribute(p, i).distanceTo(hit.point);
      return distance < best.distance ? { i, distance } : best;
    }, { i: corners[0], distance: Infinity });
    const facing = this.camera.getWorldDirection(new THREE.Vector3());
    this.held = { body: body.name, vertex: body.source[nearest.i] - body.first, global: body.source[nearest.i], point: hit.point, plane: new THREE.Plane().setFromNormalAndCoplanarPoint(facing, hit.point) };
    return this.held;
  }

  // How far the mouse has been dragged since, [m] in the plane of the picture.
  dragged(event) {
    const to = this.ray(event).ray.intersectPlane(this.held.plane, new THREE.Vector3());
    return to ? to.sub(this.held.point).toArray() : [0, 0, 0];
  }

  showPull(way) {
    if (this.pulling) this.scene.remove(this.pulling);
    this.pulling = null;
    if (way && this.held && this.frame) {
      const along = new THREE.Vector3(...way), from = new THREE.Vector3().fromArray(this.frame.positions, 3 * this.held.global);
      this.pulling = new THREE.ArrowHelper(along.clone().normalize(), from, along.length(), 0xb4551d, 0.04 * this.size, 0.025 * this.size);
      this.scene.add(this.pulling);
    }
    this.invalidate();
  }

  // ---- drawing, only when something has changed

  resize() {
    const { clientWidth: width, clientHeight: height } = this.parent;
    if (!width || !height) return;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    if (!this.framed && this.controls) this.look("oblique");
    this.framed = true;
    this.invalidate();
  }

  // Draw soon; `then` is called when it is done, or after a while if the page is not in sight.
  invalidate(then) {
    if (then) this.waiting.push(then);
    if (this.due) return;
    this.due = true;
    const draw = () => {
      if (!this.due) return;
      this.due = false;
      this.renderer.render(this.scene, this.camera);
      for (const call of this.waiting.splice(0)) call();
    };
    requestAnimationFrame(draw);
    setTimeout(draw, 250);
  }
}
