// Runs before the first paint: says that scripts run, and puts on the chosen theme,
// so that a reader in the dark never sees a flash of white.
(function () {
  "use strict";
  const root = document.documentElement;
  root.classList.add("js");
  let theme = null;
  try {
    theme = localStorage.getItem("asv-watch-theme");
  } catch {
    // Storage is forbidden (private window, strict settings): the system's theme it is.
  }
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
})();
