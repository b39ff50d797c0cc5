// Releases are tables and charts that were written at publish; the script only names them.

/** @import { View } from "./view.js" */

/** @type {View} */
export const releasesView = { title: "Releases", mount: () => () => {} };
