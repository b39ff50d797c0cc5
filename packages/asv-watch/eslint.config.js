// The rules that the site's script is checked with; types are checked by tsc, format by prettier.
import js from "@eslint/js";

export default [
  { ignores: ["**/*", "!src/**", "!tests/**", "!eslint.config.js"] },
  js.configs.recommended,
  {
    files: ["**/*.js"],
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "no-undef": "off", // tsc knows the names of the browser
      "no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "max-lines": ["error", 250],
      "no-implicit-globals": "error",
      "no-var": "error",
      "prefer-const": "error",
      eqeqeq: "error",
      "no-shadow": "error",
      "no-eval": "error",
      "no-restricted-properties": [
        "error",
        { property: "innerHTML", message: "Names come from outside: set text, never markup." },
        { property: "outerHTML", message: "Names come from outside: set text, never markup." },
        { property: "insertAdjacentHTML", message: "Set text, never markup." },
      ],
      "no-restricted-syntax": [
        "error",
        {
          selector: "ImportNamespaceSpecifier, ImportDefaultSpecifier, ExportDefaultDeclaration",
          message:
            "The script is joined from named imports and exports (asv_watch/site/scripts.py).",
        },
      ],
    },
  },
  {
    files: ["eslint.config.js"],
    rules: { "no-restricted-syntax": "off" },
  },
];
