// Everything is in this file: make the texts importable, then start with the film as the source.
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
    import { FilmSource } from "limpet/sources";
    start(new FilmSource(document.getElementById("film").textContent));`);
});
