// Text for people who listen instead of look.

let timer = 0;

/** Reads a sentence out through the page's live region. @param {string} text */
export function announce(text) {
  clearTimeout(timer);
  // A short pause swallows what a held key would repeat.
  timer = setTimeout(() => {
    const region = document.getElementById("announcer");
    if (region) region.textContent = text;
  }, 60);
}
