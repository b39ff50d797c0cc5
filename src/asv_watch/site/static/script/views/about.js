// About is text that was written at publish; the script only names it.

/** @import { View } from "./view.js" */

/** @type {View} */
export const aboutView = { title: "About", mount: () => () => {} };
