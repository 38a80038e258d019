import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readCases } from "./cases/table.js";
import { Runner } from "./cases/runner.js";
import { repository, TestDaemon } from "./fixture/daemon.js";
const daemon = await TestDaemon.start(["--log-level", "error"]);
const client = daemon.client();
describe("the table of cases for all clients", () => {
    const cases = readCases(repository);
    it("has what it needs to mean something", () => {
        assert.ok(cases.length >= 80);
        assert.deepEqual(cases.filter(({ steps, want }) => steps.length !== want.length).map(({ name }) => name), []);
    });
    for (const one of cases) {
        it(one.name, async () => {
            const answers = await Runner.run(client, one);
            for (const [i, answer] of answers.entries()) {
                assert.deepEqual(answer, one.want[i], `step ${i}: ${one.steps[i]?.do ?? ""}`);
            }
        });
    }
});
