// Each view registers itself here under the name that stands in the address:
// {title, mount(section): builds its fields once, update(state): shows what the address says}.
(function (ts) {
  "use strict";

  ts.views = {};

  /** The part of a view that is the script's own; the rest of it was written at publish. */
  ts.appOf = function (section) {
    const id = `${section.dataset.view}-app`;
    const there = document.getElementById(id);
    if (there) return there;
    const made = ts.el("div", { id });
    section.append(made);
    return made;
  };
})(window.torchspeed);
