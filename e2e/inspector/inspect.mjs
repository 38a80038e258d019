// Opens the address that `compactord inspect` has printed.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { list, sound, watched, withBrowser } from "./page.mjs";

const { executable, address } = JSON.parse(readFileSync(0, "utf8"));
const { origin, hash } = new URL(address);
const token = hash.split("token=")[1];

await withBrowser(executable, async (browser) => {
  const { page, wrong } = await watched(await browser.newContext(), (url) => url.startsWith(`${origin}/`));
  await page.goto(address);
  await page.getByRole("heading", { name: "session.jsonl" }).waitFor();
  await list(page, "Log").getByText("#1 user").click();
  await page.getByRole("region", { name: "In the view" }).getByRole("heading", { name: "Summary" }).waitFor();
  assert.ok(!page.url().includes("token"), `the token stays in ${page.url()}`);
  await page.reload();
  await list(page, "Log").getByText("#1 user").waitFor();
  await page.getByText("The window", { exact: true }).click();
  await page.getByRole("button", { name: "What would free tokens?" }).click();
  await page.getByText("Nothing was changed.").waitFor();
  await sound(page, wrong);

  // It may read, and nothing else.
  const status = (rpc, request, given) => page.evaluate(async ([name, body, credential]) => (await fetch(`/compactord.v1.${name}`, {
    method: "POST", headers: { "Content-Type": "application/json", Authorization: `Bearer ${credential}` }, body: JSON.stringify(body),
  })).status, [rpc, request, given]);
  assert.equal(await status("SessionService/GetSession", { sessionId: "file" }, token), 200);
  assert.equal(await status("SessionService/GetSession", { sessionId: "none" }, token), 404);
  assert.equal(await status("SessionService/GetSession", { sessionId: "file" }, `${token.slice(0, -1)}g`), 401);
  assert.equal(await status("SessionService/ClearSession", { sessionId: "file" }, token), 403);
  assert.equal(await status("CompactionService/Compact", { sessionId: "file" }, token), 403);

  // Another tab knows no token.
  const other = await (await browser.newContext()).newPage();
  await other.goto(`${origin}/inspect/`);
  await other.getByText("This daemon asks for a token").waitFor();
});
