// Formatting of numbers with units, colour maps, and small line plots on a canvas.

const SCALES = {
  Pa: [["MPa", 1e6], ["kPa", 1e3], ["Pa", 1]],
  m: [["m", 1], ["mm", 1e-3], ["µm", 1e-6]],
  "m^3": [["cm³", 1e-6], ["mm³", 1e-9]],
  mol: [["mmol", 1e-3], ["µmol", 1e-6], ["nmol", 1e-9]],
  N: [["kN", 1e3], ["N", 1], ["mN", 1e-3]],
};

export function scaleFor(value, unit) {
  const scales = SCALES[unit] || [[unit, 1]];
  const size = Math.abs(value) * 1.0005;
  return scales.find(([, factor]) => size >= factor) || scales[value ? scales.length - 1 : 0];
}

export function digits(value, count = 3) {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) return value.toExponential(1);
  return String(Number(value.toPrecision(count)));
}

export function pretty(value, unit, count = 3) {
  if (!Number.isFinite(value)) return "–";
  const [name, factor] = scaleFor(value, unit);
  return `${digits(value / factor, count)} ${value ? name : unit.replace("^3", "³")}`;
}

// The next round number: 1, 2, 3, 4, 5, 6, 8 or 10 times a power of ten.
export function nice(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value) + 1e-9);
  return power * ([1, 2, 3, 4, 5, 6, 8, 10].find((k) => k * power >= value * (1 - 1e-9)) || 10);
}

const HEAT = ["#efe3d0", "#f5cf86", "#f0a04b", "#dd5f37", "#a62649", "#541248"];
const BLUE = ["#08285e", "#1f5fae", "#5fa3dd", "#cfe6fa"];

function mix(stops, t) {
  const at = Math.min(Math.max(t, 0), 1) * (stops.length - 1);
  const low = Math.min(Math.floor(at), stops.length - 2), share = at - low;
  const [a, b] = [stops[low], stops[low + 1]].map((s) => parseInt(s.slice(1), 16));
  return [16, 8, 0].map((k) => ((a >> k) & 255) * (1 - share) + ((b >> k) & 255) * share);
}

const linear = (byte) => {
  const c = byte / 255;
  return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
};

// 256 colours (r, g, b) in linear space, as three.js expects.
function table(stops) {
  const out = new Float32Array(256 * 3);
  for (let i = 0; i < 256; i++) out.set(mix(stops, i / 255).map(linear), 3 * i);
  return out;
}
export const heat = table(HEAT);
export const blue = table(BLUE);
export const gradient = (which, reversed) => {
  const stops = which === "heat" ? HEAT : BLUE;
  return `linear-gradient(to right, ${(reversed ? [...stops].reverse() : stops).join(", ")})`;
};
export const linearColour = (hex) => mix([hex, hex], 0).map(linear);

// A plot of one quantity over time.
export class Plot {
  constructor(parent, title, unit) {
    this.title = title;
    this.unit = unit;
    this.canvas = parent.appendChild(document.createElement("canvas"));
    this.canvas.setAttribute("aria-label", title);
    this.clear();
  }

  clear() {
    this.times = [];
    this.values = [];
  }

  set(times, values) {
    this.times = times;
    this.values = values;
  }

  add(time, value) {
    const last = this.times.length - 1;
    if (last >= 0 && time < this.times[last]) this.clear();
    if (time === this.times[this.times.length - 1]) this.values[this.values.length - 1] = value;
    else {
      this.times.push(time);
      this.values.push(value);
    }
  }

  draw(duration, now) {
    const canvas = this.canvas, ratio = window.devicePixelRatio || 1;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    if (!width) return;
    if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
    if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
    const style = getComputedStyle(document.documentElement);
    const ink = (name) => style.getPropertyValue(name).trim();
    const c = canvas.getContext("2d");
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, width, height);
    c.font = "11px system-ui, 'DejaVu Sans', sans-serif";
    const finite = this.values.filter(Number.isFinite);
    let low = Math.min(0, ...finite), high = Math.max(0, ...finite);
    if (high === low) high = low + 1;
    const [unit, factor] = finite.length ? scaleFor(Math.max(-low, high), this.unit) : [this.unit.replace("^3", "³"), 1];
    const top = 17, bottom = height - 4, left = 2, right = width - 2;
    const end = Math.max(duration || 0, this.times[this.times.length - 1] || 0, 1e-9);
    const px = (t) => left + ((right - left) * t) / end;
    const py = (v) => bottom - ((bottom - top) * (v - low)) / (high - low);
    c.strokeStyle = ink("--grid");
    c.lineWidth = 1;
    for (const v of [low, 0, high]) {
      c.beginPath();
      c.moveTo(left, py(v));
      c.lineTo(right, py(v));
      c.stroke();
    }
    c.strokeStyle = ink("--plot");
    c.lineWidth = 1.6;
    c.lineJoin = "round";
    c.beginPath();
    let pen = false;
    for (let i = 0; i < this.times.length; i++) {
      const v = this.values[i];
      if (!Number.isFinite(v)) pen = false;
      else if (pen) c.lineTo(px(this.times[i]), py(v));
      else {
        c.moveTo(px(this.times[i]), py(v));
        pen = true;
      }
    }
    c.stroke();
    const at = this.times.findLastIndex((t) => t <= now + 1e-9), value = this.values[at];
    if (Number.isFinite(value)) {
      c.fillStyle = ink("--plot");
      c.beginPath();
      c.arc(px(this.times[at]), py(value), 3, 0, 7);
      c.fill();
    }
    c.textBaseline = "top";
    c.textAlign = "left";
    c.fillStyle = ink("--soft");
    c.fillText(this.title, left, 1);
    c.textAlign = "right";
    c.fillStyle = ink("--ink");
    c.fillText(Number.isFinite(value) ? `${digits(value / factor, 4)} ${unit}` : "–", right, 1);
  }
}
