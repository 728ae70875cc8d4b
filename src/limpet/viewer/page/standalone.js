// Replay in one file: make the embedded modules importable, then start with the recording as source.
addEventListener("DOMContentLoaded", () => {
  const imports = {};
  for (const text of document.querySelectorAll("script[data-module]")) {
    imports[text.dataset.module] = URL.createObjectURL(new Blob([text.textContent], { type: "text/javascript" }));
  }
  const add = (type, content) => {
    const script = document.createElement("script");
    script.type = type;
    script.textContent = content;
    document.head.append(script);
  };
  add("importmap", JSON.stringify({ imports }));
  add("module", `
    import { start } from "limpet/page";
    import { ReplaySource } from "limpet/sources";
    start(new ReplaySource(document.getElementById("recording").textContent));`);
});
