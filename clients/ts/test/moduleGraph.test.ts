import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import ts from "typescript";

// What a program loads that imports the package, by what the modules name. `npm test` has built them.

const dist = fileURLToPath(new URL("../../dist/", import.meta.url));
const manifest = JSON.parse(readFileSync(join(dist, "../package.json"), "utf8")) as {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>;
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
};

interface Loaded {
  /** The package's own modules, as paths in dist. */
  readonly own: Set<string>;
  /** Packages of others. */
  readonly others: Set<string>;
}

/** What is loaded with a module of the package: all that it imports, and what that imports. */
function loadedWith(path: string, loaded: Loaded = { own: new Set(), others: new Set() }): Loaded {
  const name = relative(dist, path).replaceAll("\\", "/");
  if (loaded.own.has(name)) {
    return loaded;
  }
  loaded.own.add(name);
  // Also what import() names.
  for (const { fileName } of ts.preProcessFile(readFileSync(path, "utf8"), true, true).importedFiles) {
    if (fileName.startsWith(".")) {
      loadedWith(join(dirname(path), fileName), loaded);
    } else if (!fileName.startsWith("node:")) {
      loaded.others.add(/^(@[^/]+\/)?[^/]+/.exec(fileName)?.[0] ?? fileName);
    }
  }
  return loaded;
}

/** The modules that programs import by name, without the adapters or these alone. */
function entries(adapters: boolean): string[] {
  return Object.values(manifest.exports)
    .flatMap((one) => (typeof one === "string" ? [] : [one.default.replace("./dist/", "")]))
    .filter((path) => path.startsWith("adapters/") === adapters);
}

function sorted(names: Iterable<string>): string[] {
  return [...names].sort();
}

test("a program without a framework loads no module of an adapter, and only what is installed with the package", () => {
  const loaded: Loaded = { own: new Set(), others: new Set() };
  for (const path of [...entries(false), "bin.js"]) {
    loadedWith(join(dist, path), loaded);
  }
  assert.deepEqual(
    [...loaded.own].filter((path) => path.startsWith("adapters/")),
    [],
  );
  // What only adapters need is among them: all other modules are loaded without them, or hold types alone.
  const built = readdirSync(dist, { recursive: true, encoding: "utf8" }).map((path) => path.replaceAll("\\", "/"));
  const left = built.filter((path) => path.endsWith(".js") && !path.startsWith("adapters/") && !loaded.own.has(path));
  assert.deepEqual(
    left.filter((path) => readFileSync(join(dist, path), "utf8").trim() !== "export {};"),
    [],
  );
  assert.deepEqual(sorted(loaded.others), sorted(Object.keys(manifest.dependencies)));
});

test("an adapter loads the package of its framework alone", () => {
  const frameworks = entries(true).flatMap((path) => {
    const { own, others } = loadedWith(join(dist, path));
    assert.ok(!entries(true).some((other) => other !== path && own.has(other)), path);
    const added = [...others].filter((name) => !(name in manifest.dependencies));
    assert.equal(added.length, 1, `${path}: ${added.join(", ")}`);
    return added;
  });
  assert.deepEqual(sorted(frameworks), sorted(Object.keys(manifest.peerDependencies)));
  for (const name of frameworks) {
    assert.equal(manifest.peerDependenciesMeta[name]?.optional, true, name);
    assert.ok(existsSync(join(dist, "../node_modules", name)), `${name} is there for the types of its adapter`);
  }
});
