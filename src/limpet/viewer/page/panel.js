// The fields of the side panel: parameters of the scene, and those that can change during a run.

import { digits } from "limpet/plots";

const tag = (name, props = {}, ...children) => {
  const element = Object.assign(document.createElement(name), props);
  element.append(...children);
  return element;
};

// A slider with a number field. onchange(value in SI) is called when the user releases it.
function number(entry, onchange) {
  const { size = 1, range, whole } = entry, shown = entry.value / size;
  const step = whole ? 1 : "any";
  const slider = tag("input", { type: "range", min: range[0], max: range[1], step, value: shown });
  slider.setAttribute("aria-label", entry.name);
  const field = tag("input", { type: "number", step, value: digits(shown, 6), name: entry.name });
  slider.oninput = () => (field.value = whole ? slider.value : digits(Number(slider.value), 3));
  slider.onchange = () => onchange(Number(field.value) * size);
  field.onchange = () => {
    slider.value = field.value;
    onchange(Number(field.value) * size);
  };
  const row = tag("label", { className: "field", title: entry.note },
    tag("span", { className: "name", textContent: entry.name.replaceAll("_", " ") }), slider, field,
    tag("span", { className: "unit", textContent: (entry.unit || "").replace("umol", "µmol").replace("^3", "³") }));
  return row;
}

function other(entry, onchange) {
  let input;
  if (entry.kind === "switch") {
    input = tag("input", { type: "checkbox", checked: entry.value });
    input.onchange = () => onchange(input.checked);
  } else if (entry.kind === "choice") {
    input = tag("select", {}, ...entry.choices.map((c) => tag("option", { value: c, textContent: c, selected: c === entry.value })));
    input.onchange = () => onchange(input.value);
  } else {
    input = tag("input", { type: "text", value: entry.value, placeholder: "not set" });
    input.onchange = () => onchange(input.value);
  }
  input.name = entry.name;
  input.className = "span";
  return tag("label", { className: "field", title: entry.note },
    tag("span", { className: "name", textContent: entry.name.replaceAll("_", " ") }), input);
}

export function liveFields(parent, entries, send) {
  parent.replaceChildren(...entries.map((entry) => number(entry, (value) => send({ do: "live", name: entry.name, value }))));
}

// The form of the scene's parameters. It keeps the changed values across restarts.
export class Parameters {
  constructor(form, send) {
    this.form = form;
    this.send = send;
    this.applied = {}; // values of the running simulation
    this.edited = {}; // values in the form
  }

  show(entries) {
    this.applied = { ...this.edited };
    const rows = entries.map((entry) => {
      const changed = (value) => {
        if (value === "" || Number.isNaN(value)) delete this.edited[entry.name];
        else this.edited[entry.name] = value;
        row.classList.toggle("changed", value !== entry.value);
        this.refresh();
      };
      const row = entry.kind === "number" ? number(entry, changed) : other(entry, changed);
      return row;
    });
    this.apply = tag("button", { type: "submit", className: "main", textContent: "Apply and restart" });
    const back = tag("button", { type: "button", textContent: "Defaults" });
    back.onclick = () => this.restart({});
    this.form.replaceChildren(...rows, tag("div", { className: "apply" }, this.apply, back));
    this.form.onsubmit = (event) => {
      event.preventDefault();
      this.restart(this.edited);
    };
    this.refresh();
  }

  restart(values) {
    this.edited = { ...values };
    this.send({ do: "parameters", values: this.edited });
  }

  refresh() {
    this.apply.disabled = JSON.stringify(this.edited) === JSON.stringify(this.applied);
  }
}
