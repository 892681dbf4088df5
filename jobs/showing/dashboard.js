"use strict";
// Keys, a zoom by mouse, copies, and filters that apply at once. Without it every page works by links and forms.
(() => {
  const main = () => document.querySelector("main");
  const place = () => location.pathname + location.search;
  let shown = place();  // a step within the page loads nothing

  async function go(address, keep) {
    main().setAttribute("aria-busy", "true");
    document.body.classList.add("loading");
    try {
      const answer = await fetch(address);
      const read = new DOMParser().parseFromString(await answer.text(), "text/html");
      main().replaceWith(read.querySelector("main"));
      document.title = read.title;
      if (keep) history.pushState(null, "", address);
      shown = place();
      ready();
    } catch {
      location.assign(address);
    } finally {
      document.body.classList.remove("loading");
    }
  }

  function asked(changes) {
    const address = new URL(location.href);
    for (const [name, value] of Object.entries(changes)) {
      if (value) address.searchParams.set(name, value); else address.searchParams.delete(name);
    }
    return address.href;
  }

  const rows = () => [...document.querySelectorAll("[data-row]")];

  function step(by) {
    const all = rows();
    if (!all.length) return;
    const at = all.findIndex(one => one.contains(document.activeElement));
    const next = all[at < 0 ? 0 : Math.min(Math.max(at + by, 0), all.length - 1)];
    const link = next.matches("a") ? next : next.querySelector("a");
    link.focus();
    next.scrollIntoView({ block: "nearest" });
  }

  addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.matches("input, select, textarea");
    if (event.key === "Escape" && typing) event.target.blur();
    if (typing) return;
    if (event.key === "j") step(1);
    else if (event.key === "k") step(-1);
    else if (event.key === "u") document.querySelector("a[rel=up]")?.click();
    else if (event.key === "/") {
      const field = document.querySelector("#find");
      if (!field) return;
      field.focus();
      field.select();
    } else return;
    event.preventDefault();
  });

  addEventListener("change", event => {
    const form = event.target.closest("form.filters");
    if (form && event.target.matches("select")) form.requestSubmit();
  });

  addEventListener("submit", event => {
    for (const field of event.target.querySelectorAll("input, select")) field.disabled = !field.value;
    document.body.classList.add("loading");
    setTimeout(() => { for (const field of event.target.querySelectorAll("[disabled]")) field.disabled = false; });
  });

  addEventListener("pageshow", () => document.body.classList.remove("loading"));
  addEventListener("popstate", () => { if (place() !== shown) go(location.href, false); });

  function ready() {
    for (const plot of document.querySelectorAll("svg.plot[data-begin]")) zoomable(plot);
    for (const field of document.querySelectorAll("[data-copy]")) copyable(field);
  }

  function copyable(field) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(field.value ?? field.textContent);
      } catch {  // a page that is not on this machine and not encrypted has no clipboard
        if (field.select) field.select(); else getSelection().selectAllChildren(field);
        document.execCommand("copy");
      }
      button.textContent = "Copied";
    });
    field.after(button);
  }

  addEventListener("click", event => {
    const link = event.target.closest("a[href^='#']");
    const target = link && document.getElementById(link.getAttribute("href").slice(1));
    if (target?.matches("details")) target.open = true;
  });

  function zoomable(plot) {
    const begin = Number(plot.dataset.begin), length = Number(plot.dataset.end) - begin;
    const space = "http://www.w3.org/2000/svg";
    let from = null, brush = null, dragged = false;
    const part = event => {
      const box = plot.getBoundingClientRect();
      return Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
    };
    const time = at => new Date(begin + at * length).toISOString().slice(0, 23);
    plot.addEventListener("pointerdown", event => {
      if (event.button || event.pointerType === "touch") return;
      from = part(event);
      dragged = false;
    });
    plot.addEventListener("dragstart", event => event.preventDefault());
    plot.addEventListener("pointermove", event => {
      if (from === null) return;
      const at = part(event);
      if (!brush && Math.abs(at - from) < 0.005) return;
      if (!brush) {
        brush = plot.appendChild(document.createElementNS(space, "rect"));
        brush.setAttribute("class", "brush");
        brush.setAttribute("height", "100%");
        plot.setPointerCapture(event.pointerId);
      }
      dragged = true;
      brush.setAttribute("x", `${100 * Math.min(from, at)}%`);
      brush.setAttribute("width", `${100 * Math.abs(at - from)}%`);
    });
    plot.addEventListener("pointerup", event => {
      const start = from, at = part(event);
      from = null;
      brush?.remove();
      brush = null;
      if (!dragged || start === null) return;
      go(asked({ from: time(Math.min(start, at)), to: time(Math.max(start, at)), bar: "" }), true);
    });
    plot.addEventListener("click", event => { if (dragged) { event.preventDefault(); dragged = false; } }, true);
    plot.addEventListener("dblclick", () => go(asked({ from: "", to: "", bar: "" }), true));
  }

  ready();
})();
