// Makes static/vendor/codemirror.esm.js and the licences of what is in it: npm ci && npm run build
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const VENDOR = new URL("../src/wherry_web/static/vendor/", import.meta.url);

const { metafile } = await build({
  entryPoints: [new URL("codemirror.js", import.meta.url).pathname],
  outfile: new URL("codemirror.esm.js", VENDOR).pathname,
  bundle: true, minify: true, format: "esm", target: ["es2022"], legalComments: "none", metafile: true, absWorkingDir: import.meta.dirname,
  banner: { js: "/* CodeMirror 6 (MIT); codemirror.LICENSE.txt lists its packages. */" },
});

const packages = [...new Set(Object.keys(metafile.inputs).map((name) => name.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1]).filter(Boolean))].sort();
const licences = new Map(); // text -> packages
for (const name of packages) {
  const folder = new URL(`node_modules/${name}/`, import.meta.url);
  const { version } = JSON.parse(readFileSync(new URL("package.json", folder)));
  const file = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file));
  if (!file) throw new Error(`${name} has no licence text`);
  const text = readFileSync(new URL(file, folder), "utf8").trim();
  licences.set(text, [...(licences.get(text) ?? []), `${name} ${version}`]);
}
writeFileSync(new URL("codemirror.LICENSE.txt", VENDOR), [...licences].map(([text, names]) => `${names.join("\n")}\n\n${text}\n`).join(`\n${"-".repeat(72)}\n\n`));
