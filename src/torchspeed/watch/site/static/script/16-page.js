// Building the page. Names and messages come from results and commits and are hostile:
// they only ever become text nodes and attribute values, never markup.
(function (ts) {
  "use strict";

  const SVG = "http://www.w3.org/2000/svg";

  function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes ?? {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (name in node && (name === "value" || name === "checked" || name === "hidden")) node[name] = value;
      else node.setAttribute(name, value === true ? "" : value);
    }
    for (const child of children.flat(3)) {
      if (child !== null && child !== undefined && child !== false) node.append(child);
    }
    return node;
  }

  /** An HTML element: attributes, "on…" listeners, children as nodes or text. */
  ts.el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
  /** The same for SVG. */
  ts.svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

  /** Says something to people who listen instead of look. */
  let speaker = null;
  let later = 0;
  ts.say = function (text) {
    speaker ??= document.getElementById("announcer");
    clearTimeout(later);
    // A short pause swallows what a held key would repeat.
    later = setTimeout(() => speaker && (speaker.textContent = text), 60);
  };

  /** Offers text as a file. */
  ts.download = function (name, text, type = "text/csv") {
    const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
    const link = ts.el("a", { href: url, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  };

  /** Copies text, also where the asynchronous clipboard is refused (file://, http://). */
  ts.copy = async function (text, what) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const back = document.activeElement;
      const area = ts.el("textarea", { class: "visually-hidden", "aria-hidden": "true", value: text });
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      back?.focus();
      if (!done) {
        ts.say(`${what} could not be copied: select the text and copy it by hand.`);
        return false;
      }
    }
    ts.say(`${what} copied.`);
    return true;
  };

  /** A button that says for a moment that its work was done. */
  ts.doneButton = function (label, done, work) {
    const button = ts.el("button", { type: "button", class: "button" }, label);
    button.addEventListener("click", async () => {
      if (!(await work())) return;
      button.textContent = done;
      setTimeout(() => (button.textContent = label), 1500);
    });
    return button;
  };

  let serial = 0;
  /** An id that no other element has. */
  ts.freshId = (stem) => `${stem}-${++serial}`;
})(window.torchspeed);
