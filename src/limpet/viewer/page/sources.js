// Two sources of frames with the same interface: a running simulation, and an embedded recording.
//   source.onheader(header), source.onframe(frame, done), source.onmessage({type, text})
//   source.send({do: "play"}), ...; see docs/viewer.md

const MAGIC = 0x54504d4c;
const PLAYING = 1, ENDED = 2;

export function decode(buffer, { figures: figureNames, colours }) {
  const head = new Uint32Array(buffer, 0, 12);
  const [magic, epoch, step, flags, n, k, c, points, triangles, colour, patchPoints, patchTriangles] = head;
  if (magic !== MAGIC) throw new Error("not a frame");
  let at = 48;
  const take = (Type, count) => {
    const part = new Type(buffer, at, count);
    at += part.byteLength;
    return part;
  };
  const [time, factor, ...numbers] = take(Float64Array, 2 + figureNames.length);
  const frame = {
    epoch, step, time, factor, colour: colours[colour].name, playing: !!(flags & PLAYING), ended: !!(flags & ENDED),
    figures: Object.fromEntries(figureNames.map((name, i) => [name, numbers[i]])),
    positions: take(Float32Array, 3 * n), values: take(Float32Array, n),
    contactPoints: take(Float32Array, 3 * k), contactForces: take(Float32Array, 3 * k),
  };
  const table = take(Uint32Array, 4 * c), pressures = new Float32Array(buffer, table.byteOffset, 4 * c);
  const cloud = take(Float32Array, 3 * points), faces = take(Uint32Array, 3 * triangles);
  let p = 0, t = 0;
  frame.cavities = Array.from({ length: c }, (_, i) => {
    const own = { pressure: pressures[4 * i], points: cloud.subarray(p, p + 3 * table[4 * i + 1]) };
    own.triangles = faces.subarray(t, t + 3 * table[4 * i + 2]);
    p += own.points.length;
    t += own.triangles.length;
    return own;
  });
  frame.patch = {
    points: take(Float32Array, 3 * patchPoints), pressure: take(Float32Array, patchPoints), triangles: take(Uint32Array, 3 * patchTriangles),
  };
  return frame;
}

export class LiveSource {
  kind = "live";

  constructor(address) {
    this.socket = new WebSocket(address);
    this.socket.binaryType = "arraybuffer";
    this.received = 0;
    this.socket.onmessage = ({ data }) => this.receive(data);
    this.socket.onclose = ({ reason }) => {
      if (!this.refused) this.onmessage({ type: "closed", text: `the connection was closed${reason ? `: ${reason}` : ""}` });
    };
  }

  receive(data) {
    if (typeof data === "string") {
      const message = JSON.parse(data);
      if (message.type === "refused") this.refused = true;
      if (message.type === "header") {
        this.header = message;
        this.onheader(message);
      } else this.onmessage(message);
      return;
    }
    this.received += 1;
    const frame = decode(data, this.header);
    if (frame.epoch === this.header.epoch) this.onframe(frame, () => this.send({ do: "ack" }));
    else this.send({ do: "ack" });
  }

  send(command) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(command));
  }
}

async function inflate(base64) {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

const TYPES = { u2: Uint16Array, i2: Int16Array, u4: Uint32Array, f4: Float32Array, f8: Float64Array };

export class ReplaySource {
  kind = "replay";

  // text: {"header": {...}, "sections": [[name, type, offset, count], ...], "data": base64}
  constructor(text) {
    this.text = text;
    this.at = 0;
    this.speed = 1;
    this.colour = "stress";
    this.received = 0;
  }

  async open() {
    const recording = JSON.parse(this.text), buffer = await inflate(recording.data);
    this.text = null;
    const a = Object.fromEntries(recording.sections.map(([name, type, offset, count]) => [name, new TYPES[type](buffer, offset, count)]));
    const n = recording.header.rest.length / 3, frames = a.time.length;
    for (let k = 3 * n; k < a.positions.length; k++) a.positions[k] += a.positions[k - 3 * n]; // differences, modulo 2^16
    Object.assign(this, { header: recording.header, arrays: a, n, frames });
    this.header.frames = frames;
    this.header.curves = { times: Array.from(a.time) };
    recording.header.figures.forEach((name, i) => {
      this.header.curves[name] = Array.from({ length: frames }, (_, k) => a.figures[k * recording.header.figures.length + i]);
    });
    this.onheader(this.header);
    this.show();
  }

  // Dequantise: position = low + size * q
  dequantise(q) {
    const { low, size } = this.header.box, out = new Float32Array(q.length);
    for (let i = 0; i < q.length; i++) out[i] = low[i % 3] + size[i % 3] * q[i];
    return out;
  }

  values(k) {
    const { n, arrays: a, header } = this, out = new Float32Array(n);
    const range = header.ranges[this.colour];
    const q = a[`field_${this.colour}`].subarray(k * n, (k + 1) * n);
    for (let i = 0; i < n; i++) out[i] = q[i] === 65535 ? NaN : range[0] + ((range[1] - range[0]) * q[i]) / 65534;
    return out;
  }

  frame(k) {
    const { n, arrays: a, header } = this, count = header.figures.length;
    const c0 = a.contact_start[k], c1 = a.contact_start[k + 1];
    const cavities = [];
    for (let i = a.cavity_start[k]; i < a.cavity_start[k + 1]; i++) {
      const mesh = a.cavity_mesh[i];
      cavities.push({
        pressure: a.cavity_pressure[i],
        points: this.dequantise(a.cavity_points.subarray(3 * a.cavity_point_start[i], 3 * a.cavity_point_start[i + 1])),
        triangles: a.mesh_triangles.subarray(3 * a.mesh_start[mesh], 3 * a.mesh_start[mesh + 1]),
      });
    }
    const [v0, v1] = a.patch_point_start.subarray(k, k + 2), [t0, t1] = a.patch_triangle_start.subarray(k, k + 2);
    const patch = {
      points: this.dequantise(a.patch_points.subarray(3 * v0, 3 * v1)),
      pressure: Float32Array.from(a.patch_pressure.subarray(v0, v1), (q) => (header.patch_range[1] * q) / 65535),
      triangles: a.patch_triangles.subarray(3 * t0, 3 * t1),
    };
    return {
      epoch: 1, step: a.step[k], time: a.time[k], factor: NaN, index: k, colour: this.colour,
      playing: !!this.timer, ended: k === this.frames - 1,
      figures: Object.fromEntries(header.figures.map((name, i) => [name, a.figures[k * count + i]])),
      positions: this.dequantise(a.positions.subarray(3 * k * n, 3 * (k + 1) * n)), values: this.values(k),
      contactPoints: this.dequantise(a.contact_points.subarray(3 * c0, 3 * c1)),
      contactForces: Float32Array.from(a.contact_forces.subarray(3 * c0, 3 * c1), (q) => q * header.force), cavities, patch,
    };
  }

  show() {
    this.received += 1;
    this.onframe(this.frame(this.at), () => {});
  }

  stop() {
    cancelAnimationFrame(this.timer);
    this.timer = 0;
  }

  play() {
    if (this.at === this.frames - 1) this.at = 0;
    const times = this.arrays.time, start = performance.now(), from = times[this.at];
    const tick = () => {
      const speed = this.speed || 5;
      const time = from + ((performance.now() - start) / 1000) * speed;
      let next = this.at;
      while (next < this.frames - 1 && times[next + 1] <= time) next += 1;
      const moved = next !== this.at;
      this.at = next;
      if (next === this.frames - 1) this.timer = 0;
      else this.timer = requestAnimationFrame(tick);
      if (moved || !this.timer) this.show();
    };
    this.timer = requestAnimationFrame(tick);
    this.show();
  }

  send(command) {
    const playing = !!this.timer;
    if (["play", "pause", "step", "reset", "seek", "speed"].includes(command.do)) this.stop();
    if (command.do === "step") this.at = Math.min(this.at + 1, this.frames - 1);
    if (command.do === "reset") this.at = 0;
    if (command.do === "seek") this.at = Math.max(0, Math.min(command.index, this.frames - 1));
    if (command.do === "speed") this.speed = command.value;
    if (command.do === "colour") this.colour = command.name;
    if (command.do === "play" || (command.do === "speed" && playing)) this.play();
    else if (command.do !== "ack") this.show();
  }
}
