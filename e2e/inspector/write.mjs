// Changes sessions in a browser, where the daemon lets the page do that.

import assert from "node:assert/strict";
import { base, inLooks, list, settings, token } from "./browser.mjs";

await inLooks(async ({ page, step, audit, look }) => {
  await step("unlock", () => unlocks(page));
  await step("running", () => watchesACompaction(page, `slow-${look}`, audit));
  await step("cancelled", () => cancelsIt(page));
  await step("compacted", () => compacts(page, `quick-${look}`, audit));
  await step("undone", () => undoes(page, audit));
  await step("pruned", () => prunes(page, audit));
  await step("pinned", () => pins(page, audit));
  await step("checkpoint", () => makesACheckpoint(page, audit));
});

async function unlocks(page) {
  await page.goto(base);
  await page.getByLabel("Token").fill(token);
  await page.keyboard.press("Enter");
  await page.getByRole("table").waitFor();
}

// agree has the dialog do what it proposes, and returns what it says before and after. audit checks the page with the dialog.
async function agree(page, audit, button) {
  await page.getByRole("button", { name: button }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Do it" }).and(page.locator(":enabled")).waitFor();
  const before = await dialog.textContent();
  const name = button.split(" ")[0].toLowerCase();
  await audit(`asks to ${name}`, "dialog");
  await dialog.getByRole("button", { name: "Do it" }).click();
  await dialog.getByRole("button", { name: "Close" }).waitFor();
  await audit(`says of ${name}`, "dialog");
  return [before, await dialog.textContent()];
}

function close(page) {
  return page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
}

function running(page) {
  return page.getByRole("region", { name: "Compaction" });
}

async function watchesACompaction(page, session, audit) {
  await page.goto(`${base}#/session/${session}`);
  await page.getByRole("heading", { name: /^View: \d+$/ }).waitFor();
  const [before] = await agree(page, audit, "Compact …");
  assert.match(before, /Summarizes #1 to #\d+.*tokens before.*Undo takes it back/);
  await close(page);
  await running(page).getByText("Stage: summarize").waitFor();
  const summary = running(page).getByRole("region", { name: "Summary" });
  await summary.getByText("globalThis.hacked=1").waitFor();
  assert.match(await summary.textContent(), /⟨U\+202E⟩/);
}

async function cancelsIt(page) {
  await running(page).getByRole("button", { name: "Cancel it" }).click();
  await running(page).getByRole("heading", { name: "The compaction was cancelled" }).waitFor();
  await page.getByText("Time", { exact: true }).click();
  await page.getByText("Cancelled attempt").waitFor();
  await running(page).getByRole("button", { name: "Put away" }).click();
  await running(page).waitFor({ state: "hidden" });
}

async function compacts(page, session, audit) {
  await page.goto(`${base}#/session/${session}`);
  await page.getByRole("heading", { name: /^View: 241$/ }).waitFor();
  await page.getByRole("button", { name: "Compact …" }).click();
  await page.getByLabel("What the summary should pay most attention to").fill(settings.text);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  assert.ok(await page.getByRole("button", { name: "Compact …" }).evaluate((b) => b === document.activeElement), "the focus is where it was");
  await agree(page, audit, "Compact …");
  await close(page);
  await running(page).getByRole("heading", { name: "The compaction is completed" }).waitFor();
  await running(page).getByRole("button", { name: "What it changed" }).click();
  await page.getByText(/^\d+ messages left, [\d,]+ tokens · 1 message came/).waitFor();
  await list(page, "What changed").getByText("+ Summary user").waitFor();
  await list(page, "What changed").getByText("− #1 user").click();
  await page.getByRole("region", { name: "In the log" }).getByRole("heading", { name: "#1 in the log" }).waitFor();
  await page.getByRole("region", { name: "In the view" }).getByRole("heading", { name: "Summary" }).waitFor();
}

async function undoes(page, audit) {
  const [before, after] = await agree(page, audit, "Undo …");
  assert.match(before, /The view is then again that of point \d+: 0 messages put aside/);
  assert.match(after, /A revert to point \d+ takes it back/);
  await page.getByRole("heading", { name: "View: 241" }).waitFor();

  // What was done is taken back in the same way.
  await page.getByRole("button", { name: "Take it back …" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Do it" }).and(page.locator(":enabled")).click();
  await close(page);
  await page.getByRole("heading", { name: /^View: \d{1,2}$/ }).waitFor();
  await agree(page, audit, "Undo …");
  await close(page);
  await page.getByRole("heading", { name: "View: 241" }).waitFor();
}

async function prunes(page, audit) {
  await page.getByRole("button", { name: "Prune …" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText(/Edits \d+ places of the view/).waitFor();
  await audit("asks to prune", "dialog");
  await dialog.getByRole("button", { name: "Do it" }).click();
  await dialog.getByText(/^Done: [\d,]+ → [\d,]+ tokens/).waitFor();
  await close(page);
  await list(page, "View").getByText("hide result").first().waitFor();
}

async function pins(page, audit) {
  await list(page, "Log").getByText("#3 tool").click();
  const [, after] = await agree(page, audit, "Pin …");
  assert.match(after, /Done: 2 messages pinned/);
  await close(page);
  await list(page, "Log").getByText("pinned").first().waitFor();
  await page.getByRole("button", { name: "Unpin …" }).waitFor();
}

async function makesACheckpoint(page, audit) {
  await page.getByRole("button", { name: "Checkpoint …" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Its title").fill(settings.text);
  await audit("asks for a checkpoint", "dialog");
  await page.keyboard.press("Enter");
  await dialog.getByText("Done: checkpoint 1").waitFor();
  await close(page);
  await page.getByText("Time", { exact: true }).click();
  const point = page.getByRole("list", { name: "Points" }).getByRole("button").filter({ hasText: "Checkpoint 1" });
  assert.match(await point.textContent(), /globalThis\.hacked=1.*⟨U\+202E⟩/);
}
