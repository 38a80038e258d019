import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import ts from "typescript";

const root = join(import.meta.dirname, "../..");

/** The TypeScript that a document of the repository shows below a heading, as a module that was compiled; throws where it is wrong. */
export function compiled(document: string, heading: string): string {
  const text = readFileSync(join(root, "../../..", document), "utf8");
  const code = text.split(`\n${heading}\n`)[1]?.split("```typescript\n")[1]?.split("```")[0];
  if (code === undefined) {
    throw new Error(`${document} shows no code below ${heading}`);
  }
  const name = join(root, "build", `${document}${heading}`.replace(/\W+/g, "-").toLowerCase());
  writeFileSync(`${name}.ts`, `${code}\nexport {};\n`);
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), (path) => ts.sys.readFile(path)) as {
    config: object;
  };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const program = ts.createProgram([`${name}.ts`], {
    ...options,
    noUnusedLocals: false,
    rootDir: join(root, "build"),
    outDir: join(root, "build"),
  });
  program.emit();
  const complaints = ts.getPreEmitDiagnostics(program).map(({ messageText }) => messageText);
  if (complaints.length > 0) {
    throw new Error(complaints.map((one) => ts.flattenDiagnosticMessageText(one, "\n")).join("\n"));
  }
  return `${name}.js`;
}
