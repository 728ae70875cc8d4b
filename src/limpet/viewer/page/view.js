// 3D view of the scene: bodies coloured by vertex and cut open, cavities, patches, force arrows.

import { THREE, OrbitControls } from "three";
import { Arrows } from "limpet/arrows";
import { creased, edgesOf } from "limpet/meshes";
import { blue, heat, linearColour } from "limpet/plots";

const BASE = {
  soft: ["#e2b083", "#d99a8b", "#e0c583", "#cda0ae"], rigid: ["#a9b3bd", "#bcc3c8", "#98a4b0", "#c6ccc8"],
  prescribed: ["#8f9aa5", "#7f8b97"], fixed: ["#dedad1"],
};

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

  // ---- constant for one simulation: topology, camera, cut plane

  setHeader(header) {
    if (this.root) this.scene.remove(this.root);
    for (const mesh of [...this.bodies, ...this.cavities].flatMap((b) => b.parts)) mesh.geometry.dispose();
    this.patch?.geometry.dispose();
    this.root = new THREE.Group();
    this.scene.add(this.root);
    this.header = header;
    this.frame = null;
    this.cavities = [];
    const counts = {};
    this.bodies = header.bodies.map((body, i) => this.makeBody(body, i, (counts[body.kind] = (counts[body.kind] ?? -1) + 1)));
    this.arrows = new Arrows(this.root);
    this.makePatch();
    const moving = header.bodies.filter((b) => b.kind !== "fixed");
    this.focus = this.boxOf(moving.length ? moving : header.bodies);
    this.whole = this.boxOf(header.bodies);
    this.size = this.focus.getSize(new THREE.Vector3()).length();
    if (!this.controls || this.camera.up.dot(new THREE.Vector3(...header.up)) < 0.999) {
      this.controls?.dispose();
      this.camera.up.set(...header.up);
      this.controls = new OrbitControls(this.camera, this.renderer.domElement);
      this.controls.addEventListener("change", () => this.invalidate());
      this.setCamera("oblique");
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

  makeBody(body, number, ofKind) {
    const { index, source } = creased(body.triangles, this.header.rest, body.first);
    const geometry = new THREE.BufferGeometry();
    const attribute = () => new THREE.BufferAttribute(new Float32Array(3 * source.length), 3).setUsage(THREE.DynamicDrawUsage);
    geometry.setAttribute("position", attribute());
    geometry.setAttribute("normal", attribute());
    geometry.setAttribute("color", attribute());
    geometry.setIndex(new THREE.BufferAttribute(index, 1));
    const palette = BASE[body.kind], base = palette[ofKind % palette.length];
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

  // The cut face: count the surfaces behind the plane in the stencil buffer and fill where the count is odd.
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
    if (this.frame) this.showArrows();
    this.setShown({});
  }

  // The cut plane follows the soft bodies: through their centre, or `offset` half widths from it.
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
    const rotation = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), normal.negate());
    for (const { cap } of [...this.bodies, ...this.cavities]) {
      cap.face.position.copy(middle);
      cap.face.quaternion.copy(rotation);
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
    if (this.arrows) this.arrows.visible = this.shown.arrows;
    if (this.patch) this.patch.visible = this.shown.patches && !this.softOnly;
    this.invalidate();
  }

  setCamera(name) {
    const direction = {
      oblique: [0.42, -1, 0.42], front: [0, -1, 0], side: [1, 0, 0], top: [0, -0.001, 1], below: [0.15, -0.35, -0.9],
    }[name];
    const upright = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), this.camera.up);
    const centre = this.focus.getCenter(new THREE.Vector3());
    const narrow = Math.min(1, this.camera.aspect || 1);
    const distance = (0.56 * this.size) / Math.sin((this.camera.fov * Math.PI) / 360) / narrow;
    this.camera.position.copy(centre).addScaledVector(new THREE.Vector3(...direction).normalize().applyQuaternion(upright), distance);
    this.camera.near = distance / 100;
    this.camera.far = distance * 50;
    this.camera.updateProjectionMatrix();
    this.controls.target.copy(centre);
    this.controls.update();
    this.softOnly = name === "below"; // otherwise the ground would hide the lip
    this.setShown({});
  }

  // ---- changes with every frame

  // classes: the colours of the values 1, 2, ..., if the values are classes and no scale
  show(frame, range, reversed, patchRange, classes = []) {
    this.frame = frame;
    const palette = classes.map(([, colour]) => linearColour(colour));
    for (const body of this.bodies) {
      const { position, color } = body.surface.geometry.attributes, source = body.source;
      const x = frame.positions, values = frame.values, p = position.array, c = color.array, base = body.base;
      for (let i = 0; i < source.length; i++) {
        const v = source[i], value = values[v];
        p[3 * i] = x[3 * v];
        p[3 * i + 1] = x[3 * v + 1];
        p[3 * i + 2] = x[3 * v + 2];
        const own = palette[Math.round(value) - 1];
        if (own) {
          c[3 * i] = own[0];
          c[3 * i + 1] = own[1];
          c[3 * i + 2] = own[2];
        } else if (Number.isNaN(value) || !range) {
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
    this.showArrows();
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

  // Contact surfaces of pressure fields lie inside both bodies: they are drawn last, on a cleared depth buffer.
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

  showArrows() {
    this.arrows.show(this.frame, this.size, this.cut.mode === "none" ? null : this.plane);
  }

  // ---- pulling a body with the mouse

  ray(event) {
    const { left, top, width, height } = this.renderer.domElement.getBoundingClientRect();
    const at = new THREE.Vector2((2 * (event.clientX - left)) / width - 1, 1 - (2 * (event.clientY - top)) / height);
    const caster = new THREE.Raycaster();
    caster.setFromCamera(at, this.camera);
    return caster;
  }

  // The vertex under the mouse, of a movable body: {body, vertex, point, ...}, or null.
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

  // Offset [m] of the mouse since the grab, in the plane of the image.
  dragged(event) {
    const to = this.ray(event).ray.intersectPlane(this.held.plane, new THREE.Vector3());
    return to ? to.sub(this.held.point).toArray() : [0, 0, 0];
  }

  showPull(offset) {
    if (this.pulling) this.scene.remove(this.pulling);
    this.pulling = null;
    if (offset && this.held && this.frame) {
      const along = new THREE.Vector3(...offset), from = new THREE.Vector3().fromArray(this.frame.positions, 3 * this.held.global);
      this.pulling = new THREE.ArrowHelper(along.clone().normalize(), from, along.length(), 0xb4551d, 0.04 * this.size, 0.025 * this.size);
      this.scene.add(this.pulling);
    }
    this.invalidate();
  }

  // ---- drawing on demand

  resize() {
    const { clientWidth: width, clientHeight: height } = this.parent;
    if (!width || !height) return;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    if (!this.framed && this.controls) this.setCamera("oblique");
    this.framed = true;
    this.invalidate();
  }

  // Request a redraw; `then` is called afterwards, also if the page is hidden.
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
