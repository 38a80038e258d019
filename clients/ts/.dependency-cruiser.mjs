// The layers of the client, the lowest first. A file imports only files of its own layer and of those below.
const layers = [
  "gen/",
  "v1.ts",
  "contract/",
  "wire/",
  "view/",
  "session/",
  "compaction/",
  "turn/",
  "agentTools/",
  "client/",
  "index.ts",
  "types.ts",
  "bin.ts",
  "adapters/",
];

const anyOf = (names) => `^src/(${names.join("|").replaceAll(".", "\\.")})`;

/** @type {import("dependency-cruiser").IConfiguration} */
export default {
  forbidden: [
    ...layers.slice(0, -1).map((layer, at) => ({
      name: `${layer.replace(/\W.*/, "")} imports only what is below it`,
      severity: "error",
      from: { path: anyOf([layer]) },
      to: { path: anyOf(layers.slice(at + 1)) },
    })),
    {
      name: "no file stands outside of the layers",
      severity: "error",
      from: {},
      to: { path: "^src/", pathNot: anyOf(layers) },
    },
    {
      name: "no file outside of the layers imports",
      severity: "error",
      from: { path: "^src/", pathNot: anyOf(layers) },
      to: {},
    },
    { name: "no circles", severity: "error", from: {}, to: { circular: true } },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsConfig: { fileName: "tsconfig.json" },
    // What only the compiler imports counts, too.
    tsPreCompilationDeps: true,
  },
};
