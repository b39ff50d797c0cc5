// The fields above a view. Each is bound to one parameter of the address: it shows what
// the address says and changes it when a person changes the field.
(function (ts) {
  "use strict";
  const { el } = ts;

  const field = (label, control, hint) =>
    el("label", { class: "field" }, el("span", { class: "field-name" }, label), control, hint);

  /** A list to choose from. `options` is a function, as the choice may depend on the data. */
  ts.selectField = function (key, label, { options, initial = () => "", change = ts.go }) {
    const select = el("select", { name: key });
    const node = field(label, select);
    select.addEventListener("change", () => change({ [key]: select.value === initial() ? null : select.value }));
    return {
      node,
      key,
      show(state) {
        const choices = options(state);
        const same =
          select.options.length === choices.length &&
          choices.every((choice, i) => select.options[i].value === choice.value && select.options[i].text === choice.label);
        if (!same) select.replaceChildren(...choices.map((choice) => el("option", { value: choice.value }, choice.label)));
        select.value = ts.one(state, key, initial(state));
        node.hidden = choices.length < 2;
      },
    };
  };

  /** A box to tick. */
  ts.checkField = function (key, label, { initial = false } = {}) {
    const box = el("input", { type: "checkbox", name: key });
    const node = el("label", { class: "check" }, box, " ", label);
    box.addEventListener("change", () => ts.go({ [key]: box.checked === initial ? null : box.checked ? "1" : "0" }));
    return {
      node,
      key,
      show(state) {
        box.checked = ts.one(state, key, initial ? "1" : "0") === "1";
      },
    };
  };

  /** A text to search for; typing does not fill the browser's history. */
  ts.searchField = function (key, label, placeholder = "") {
    const input = el("input", { type: "search", name: key, placeholder, autocomplete: "off", spellcheck: "false" });
    let later = 0;
    input.addEventListener("input", () => {
      clearTimeout(later);
      later = setTimeout(() => ts.go({ [key]: input.value || null }, { replace: true }), 40);
    });
    return {
      node: field(label, input),
      key,
      show(state) {
        const value = ts.one(state, key);
        if (input.value !== value && document.activeElement !== input) input.value = value;
        if (value === "" && document.activeElement !== input) input.value = "";
      },
    };
  };

  /**
   * A revision: a hash or its beginning, a tag, or a word such as "previous". Suggestions come
   * from a datalist, because a list box of 1,000 entries takes a browser seconds to open.
   */
  ts.revisionField = function (key, label, { words = () => [], initial = () => "" }) {
    const list = el("datalist", { id: ts.freshId("revisions") });
    const complaint = el("span", { class: "complaint", role: "alert", id: ts.freshId("complaint") });
    const input = el("input", {
      name: key,
      list: list.id,
      autocomplete: "off",
      spellcheck: "false",
      "aria-describedby": complaint.id,
    });
    const node = field(label, input, [list, complaint]);
    node.classList.add("revision");
    input.addEventListener("focus", () => {
      if (!list.firstChild) {
        const options = words().map(([value, text]) => el("option", { value, label: text }));
        for (const commit of [...ts.model.commits].reverse()) {
          const tags = commit.tags.length ? ` [${commit.tags.join(", ")}]` : "";
          options.push(el("option", { value: ts.short(commit.hash), label: `${ts.day(commit.date)}${tags} ${commit.subject}` }));
        }
        list.append(...options);
      }
      input.select();
    });
    input.addEventListener("change", () => {
      const text = input.value.trim();
      const known = text === "" || words().some(([word]) => word === text) || ts.model.findCommit(text) >= 0;
      complaint.textContent = known ? "" : `No measured commit begins with “${text}”: choose one of the list.`;
      input.setAttribute("aria-invalid", String(!known));
      if (known) ts.go({ [key]: text === initial() ? null : text || null });
    });
    return {
      node,
      key,
      show(state) {
        if (document.activeElement === input && input.getAttribute("aria-invalid") === "true") return;
        const text = ts.one(state, key, initial());
        input.value = text;
        input.setAttribute("aria-invalid", "false");
        complaint.textContent = "";
      },
    };
  };

  /** Several of a few: boxes in a row under one name. */
  ts.choicesField = function (key, label, { options, initial }) {
    const row = el("span", { class: "choices" });
    const name = el("span", { class: "field-name", id: ts.freshId("choices") }, label);
    const node = el("div", { class: "field", role: "group", "aria-labelledby": name.id }, name, row);
    return {
      node,
      key,
      show(state) {
        const choices = options(state);
        const chosen = state.params[key] ?? initial(state);
        if (row.children.length !== choices.length || choices.some((choice, i) => row.children[i].dataset.value !== choice.value)) {
          row.replaceChildren(
            ...choices.map((choice) => {
              const box = el("input", { type: "checkbox", name: key, value: choice.value });
              box.addEventListener("change", () => {
                const ticked = [...row.querySelectorAll("input")].filter((one) => one.checked).map((one) => one.value);
                if (ticked.length === 0) box.checked = true; // nothing chosen would show nothing
                else ts.go({ [key]: ticked });
              });
              return el("label", { class: "check", "data-value": choice.value }, box, " ", choice.label);
            }),
          );
        }
        for (const box of row.querySelectorAll("input")) box.checked = chosen.includes(box.value);
        node.hidden = choices.length < 2;
      },
    };
  };

  /** The fields in a foldable box: open where there is room, one line where there is not. */
  ts.controlBox = function (fields) {
    const roomy = matchMedia("(min-width: 44rem)");
    const box = el(
      "details",
      { class: "controls", "aria-label": "Choose what to see" },
      el("summary", {}, "Choose what to see"),
      el("div", { class: "fields" }, fields.map((one) => one.node)),
    );
    const fit = () => (box.open = roomy.matches);
    fit();
    roomy.addEventListener("change", fit);
    return {
      node: box,
      show(state) {
        for (const one of fields) one.show(state);
      },
    };
  };

  /** A link to this very view with everything that now follows from the data written out. */
  ts.permalinkButton = (address) =>
    ts.doneButton("Copy link", "Link copied", () => ts.copy(location.href.split("#")[0] + address(), "Link"));
})(window.torchspeed);
