import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
/** A text that a step takes; empty where it has none. */
export function text(step, name) {
    const value = step[name];
    return typeof value === "string" ? value : "";
}
/** All cases of clients/cases. */
export function readCases(repository) {
    const folder = join(repository, "clients", "cases");
    const names = readdirSync(folder).filter((name) => name.endsWith(".json") && !name.endsWith(".want.json"));
    return names.sort().flatMap((name) => {
        const { cases } = parsed(folder, name);
        const want = parsed(folder, name.replace(/json$/, "want.json"));
        return cases.map((one) => ({ ...one, want: want[one.name] ?? [] }));
    });
}
function parsed(folder, name) {
    return JSON.parse(readFileSync(join(folder, name), "utf8"));
}
