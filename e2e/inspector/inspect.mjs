// Opens the address that `compactord inspect` has printed.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { list, sound, watched, withBrowser } from "./page.mjs";

const { executable, address, exported } = JSON.parse(readFileSync(0, "utf8"));
const { origin, hash } = new URL(address);
const token = hash.split("token=")[1];

await withBrowser(executable, async (browser) => {
  const { page, wrong } = await watched(await browser.newContext(), (url) => url.startsWith(`${origin}/`));
  await page.goto(address);
  await namesTheFile(page);
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
  await showsTheExportedFile(browser);
});

// namesTheFile checks that the page shows the name of the file as text.
async function namesTheFile(page) {
  const title = page.getByRole("heading", { level: 2 }).first();
  await title.waitFor();
  assert.match(await title.textContent(), /^<img src=x onerror=.*\(javascript:.*⟨U\+202E⟩right.*zero⟨U\+200B⟩width ⟨U\+001B⟩\[31mred\.jsonl$/);
}

async function showsTheExportedFile(browser) {
  const url = pathToFileURL(exported).href;
  const { page, wrong } = await watched(await browser.newContext({ offline: true }), (asked) => asked === url);
  await page.goto(url);
  await namesTheFile(page);
  assert.match(await page.getByRole("region", { name: "This file" }).textContent(), /<img src=x onerror=.*⟨U\+202E⟩/);
  await list(page, "Log").getByText("#1 user").waitFor();
  await sound(page, wrong);
}
