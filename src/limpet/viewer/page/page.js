// The page of a running simulation or of a replay; only the source of the frames differs.

import { Parameters, liveFields } from "limpet/panel";
import { Plot, digits, gradient, nice, pretty } from "limpet/plots";
import { View } from "limpet/view";

const $ = (id) => document.getElementById(id);
const PLOTS = [["pressure", "pressure P", "Pa"], ["volume", "volume V", "m^3"], ["air", "air n", "mol"], ["reaction", "reaction force", "N"]];
const CAMERAS = ["oblique", "front", "side", "top", "below"];

class Page {
  constructor(source) {
    this.source = source;
    this.ranges = {};
    this.frames = 0; // shown so far
    document.body.classList.add(source.kind);
    this.options = new URLSearchParams(location.hash.slice(1)); // #image&frame=12&colour=gap, for rendering
    if (this.options.has("image")) document.body.classList.add("image");
    this.view = new View($("stage"));
    this.plots = PLOTS.map(([key, title, unit]) => [key, new Plot($("plots"), title, unit)]);
    this.parameters = new Parameters($("parameters"), (command) => this.send(command));
    source.onheader = (header) => this.onheader(header);
    source.onframe = (frame, done) => this.onframe(frame, done);
    source.onmessage = (message) => this.onmessage(message);
    this.bind();
  }

  send(command) {
    this.source.send(command);
  }

  bind() {
    $("play").onclick = () => this.toggle();
    $("step").onclick = () => this.send({ do: "step", count: 1 });
    $("reset").onclick = () => this.reset();
    $("speed").onchange = () => this.send({ do: "speed", value: Number($("speed").value) });
    $("colour").onchange = () => this.setColour($("colour").value);
    $("cut").onchange = () => this.view.setCut({ mode: $("cut").value });
    $("axis").onchange = () => this.view.setCut({ axis: $("axis").value });
    $("plane").oninput = () => this.view.setCut({ offset: Number($("plane").value) });
    $("time").oninput = () => this.send({ do: "seek", index: Number($("time").value) });
    for (const id of ["arrows", "air", "patches", "mesh"]) {
      $(id).onchange = () => {
        this.view.setShown({ [id]: $(id).checked });
        if (this.frame) this.draw();
      };
    }
    for (const name of CAMERAS) {
      const button = document.createElement("button");
      button.textContent = name;
      button.onclick = () => this.view.setCamera(name);
      $("cameras").append(button);
    }
    addEventListener("keydown", (event) => {
      const typing = event.target.closest?.("input[type=number], input[type=text], select");
      if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
      const act = { " ": () => this.toggle(), ArrowRight: () => this.send({ do: "step", count: 1 }), r: () => this.reset() }[event.key];
      if (!act || (event.key === "ArrowRight" && event.target.type === "range")) return;
      event.preventDefault();
      act();
    });
    addEventListener("resize", () => this.drawPlots());
    if (this.source.kind === "live") this.bindPull();
  }

  bindPull() {
    const canvas = this.view.renderer.domElement;
    canvas.addEventListener("pointerdown", (event) => {
      if (!event.shiftKey || !this.view.grab(event)) return;
      event.stopImmediatePropagation();
      canvas.setPointerCapture(event.pointerId);
      this.pulling = true;
    }, { capture: true });
    canvas.addEventListener("pointermove", (event) => {
      if (!this.pulling) return;
      const offset = this.view.dragged(event), stiffness = 100 * Number($("pull").value);
      const force = offset.map((x) => x * stiffness), { body, vertex } = this.view.held;
      this.view.showPull(offset);
      this.showMessage(`pulling ${body} with ${pretty(Math.hypot(...force), "N")}`);
      this.send({ do: "pull", body, vertex, force });
    });
    const end = () => {
      if (!this.pulling) return;
      this.pulling = false;
      const { body, vertex } = this.view.held;
      this.send({ do: "pull", body, vertex, force: [0, 0, 0] });
      this.view.showPull(null);
      this.showMessage("");
    };
    canvas.addEventListener("pointerup", end);
    canvas.addEventListener("pointercancel", end);
  }

  setColour(name) {
    this.colour = $("colour").value = name;
    this.send({ do: "colour", name });
  }

  // Of a replay: resolves when the frame is drawn.
  showFrame(index) {
    this.send({ do: "seek", index });
    return new Promise((done) => this.view.invalidate(done));
  }

  toggle() {
    this.send({ do: this.frame?.playing ? "pause" : "play" });
  }

  reset() {
    this.send({ do: "reset" });
  }

  onheader(header) {
    this.header = header;
    this.frame = null;
    this.ranges = { gap: [0, header.reach], ...header.ranges };
    document.title = `${header.scene} · Limpet`;
    $("scene").textContent = header.scene;
    $("summary").textContent = header.summary;
    const chosen = this.colour || this.options.get("colour") || header.colour;
    $("colour").replaceChildren(...header.colours.map((c) => Object.assign(document.createElement("option"), { value: c.name, textContent: c.title, title: c.note, selected: c.name === chosen })));
    this.colour = chosen;
    this.view.setHeader(header);
    for (const [key, plot] of this.plots) {
      plot.clear();
      if (header.curves) plot.set(header.curves.times, header.curves[key]);
    }
    if (header.frames) {
      $("time").max = header.frames - 1;
      this.source.colour = chosen;
      this.source.at = Number(this.options.get("frame") || 0);
    }
    if (header.whole) {
      $("cut").value = "none";
      this.view.setCut({ mode: "none" });
    }
    if (header.parameters) this.parameters.show(header.parameters);
    if (header.live) {
      $("pull").value = header.pull;
      liveFields($("live"), header.live, (command) => this.send(command));
      this.send({ do: "colour", name: this.colour });
      this.send({ do: "speed", value: Number($("speed").value) });
    }
    $("air-bar").style.background = gradient("blue");
    $("patch-bar").style.background = gradient("heat", false);
    $("air-low").textContent = "0";
    $("air-high").textContent = pretty(header.ambient, "Pa", 4);
    this.showMessage("");
  }

  onframe(frame, done) {
    if (this.frame && frame.time < this.frame.time && !this.header.ranges) this.ranges = { gap: this.ranges.gap };
    this.frame = frame;
    this.frames += 1;
    if (!this.header.curves) for (const [key, plot] of this.plots) plot.add(frame.time, frame.figures[key]);
    this.draw();
    this.view.invalidate(done);
  }

  // Range of a colour: grows with the values so far, to a round number.
  range() {
    const { colour } = this.frame, known = this.ranges[colour];
    if (this.header.ranges || colour === "gap") return known;
    let largest = this.header.colours.find((c) => c.name === colour).least;
    for (const value of this.frame.values) if (value > largest) largest = value;
    if (!known || largest > known[1]) this.ranges[colour] = [0, nice(largest)];
    return this.ranges[colour];
  }

  // Range of the contact surfaces: that of the recording, or growing with the values so far.
  patchRange() {
    if (this.header.patch_range) return this.header.patch_range;
    let largest = this.header.least_patch;
    for (const value of this.frame.patch.pressure) if (value > largest) largest = value;
    if (!this.ranges.patch || largest > this.ranges.patch[1]) this.ranges.patch = [0, nice(largest)];
    return this.ranges.patch;
  }

  draw() {
    const { frame, header } = this, range = this.range(), patchRange = this.patchRange();
    const colour = header.colours.find((c) => c.name === frame.colour), reversed = colour.name === "gap";
    this.view.show(frame, range && range[1] > range[0] ? range : null, reversed, patchRange, colour.classes);
    $("legend").hidden = false;
    $("legend-title").textContent = colour.title;
    $("legend-scale").hidden = colour.classes.length > 0;
    $("legend-classes").replaceChildren(...colour.classes.map(([name, shade]) => {
      const row = Object.assign(document.createElement("li"), { textContent: name });
      row.style.setProperty("--shade", shade);
      return row;
    }));
    $("legend-bar").style.background = gradient("heat", reversed);
    $("legend-low").textContent = range && range[0] ? pretty(range[0], colour.unit) : "0";
    $("legend-high").textContent = range && range[1] ? pretty(range[1], colour.unit) : "";
    $("air-legend").hidden = !frame.cavities.length || !this.view.shown.air;
    $("patch-legend").hidden = !frame.patch.pressure.length || !this.view.shown.patches;
    $("patch-high").textContent = pretty(patchRange[1], "Pa");
    $("arrow-note").hidden = !frame.contactPoints.length || !this.view.shown.arrows;
    $("arrow-note").textContent = `longest arrow ${pretty(this.view.arrows.largestForce, "N")}`;
    $("play").textContent = frame.playing ? "Pause" : "Play";
    if (frame.index !== undefined) $("time").value = frame.index;
    const lines = [
      ["time", `${frame.time.toFixed(3)} s`], ["step", frame.step],
      ["residual", Number.isFinite(frame.figures.residual) ? frame.figures.residual.toExponential(1) : "–"],
      ["active contacts", digits(frame.figures.active_contacts)],
    ];
    if (this.source.kind === "live") lines.push(["real time", Number.isFinite(frame.factor) ? `${digits(frame.factor, 2)} ×` : "–"]);
    $("figures").replaceChildren(...lines.flatMap(([name, value]) => [
      Object.assign(document.createElement("dt"), { textContent: name }),
      Object.assign(document.createElement("dd"), { textContent: value }),
    ]));
    this.drawPlots();
    document.body.dataset.step = frame.step; // for tests and rendering
    document.body.dataset.frames = this.frames;
    document.body.dataset.state = frame.playing ? "playing" : frame.ended ? "ended" : "paused";
  }

  drawPlots() {
    if (!this.frame || document.body.classList.contains("image")) return;
    for (const [, plot] of this.plots) plot.draw(this.header.duration, this.frame.time);
  }

  onmessage({ type, text }) {
    this.showMessage(text, type !== "status");
  }

  showMessage(text, alarm = false) {
    $("message").hidden = !text;
    $("message").textContent = text;
    $("message").classList.toggle("alarm", alarm);
  }
}

export function start(source) {
  const page = new Page(source);
  window.limpet = page; // for tests and rendering
  source.open?.();
  return page;
}
