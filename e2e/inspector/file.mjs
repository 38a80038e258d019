// Opens files that `compactord inspect --export` has written, without any daemon, and fails at the first thing that is wrong.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { fits, list, sound, watched, withBrowser } from "./page.mjs";

const { executable, files, text, hostile, secret, visits, screenshots } = JSON.parse(readFileSync(0, "utf8"));

await withBrowser(executable, async (browser) => {
  for (const { file, look } of visits) {
    await visit(browser, file, look, file === "hostile" ? showsHostileTexts : showsEverything);
  }
});

async function visit(browser, name, { colorScheme, width, height }, show) {
  const context = await browser.newContext({ colorScheme, viewport: { width, height }, offline: true });
  const address = pathToFileURL(files[name]).href;
  const { page, wrong } = await watched(context, (url) => url === address);
  try {
    await page.goto(address);
    await show(page);
    await sound(page, wrong);
    if (screenshots) {
      await page.screenshot({ path: `${screenshots}/file-${name}-${colorScheme}-${width}.png` });
    }
  } catch (error) {
    error.message = `${name}, ${colorScheme}, ${width}: ${error.message}`;
    throw error;
  }
  await context.close();
}

// catchCopies keeps what the page copies: a browser lets no file read the clipboard without asking.
function catchCopies(page) {
  return page.evaluate(() => {
    navigator.clipboard.writeText = (copied) => { globalThis.copied = copied; return Promise.resolve(); };
  });
}

async function showsHostileTexts(page) {
  await page.getByText("Secrets were replaced in ").waitFor();
  assert.equal(await page.getByRole("heading", { level: 1 }).textContent(), "compactord");
  assert.ok(page.url().endsWith(`#/session/${encodeURIComponent(hostile)}`), page.url());
  await catchCopies(page);
  await list(page, "Log").getByText("#0 user").click();
  const inLog = page.getByRole("region", { name: "In the log" });
  await inLog.locator("pre").first().waitFor();
  const shown = await inLog.locator("pre").first().textContent();
  assert.match(shown, /<img src=x onerror="globalThis\.hacked=1">.*⟨U\+202E⟩.*⟨U\+200B⟩/s);
  await inLog.getByRole("button", { name: "Copy" }).first().click();
  assert.equal(await page.evaluate(() => globalThis.copied), text, "the file has the exact text");

  // A secret is in no place of the file, also not in the JSON of a request.
  assert.ok(!readFileSync(files.hostile, "utf8").includes(secret), "the secret is in the file");
  await list(page, "Log").getByText("#2 user").click();
  await inLog.getByText("[REDACTED:").waitFor();

  await showsHostileCalls(page, inLog);
  await findsMessagesOfRequests(page);
  for (const dialect of ["Anthropic Messages", "Gemini", "OpenAI Chat Completions", "OpenAI Responses"]) {
    await page.getByLabel("Dialect").selectOption(dialect);
    await page.getByText(/^\d+ elements\./).waitFor();
    await list(page, "Messages of the request").getByText("hacked").first().click();
  }
}

// Names of tools, thinking, arguments and results are as hostile as messages, and a line of a megabyte is one.
async function showsHostileCalls(page, inLog) {
  const copied = async (button) => {
    await button.click();
    return page.evaluate(() => globalThis.copied);
  };
  await list(page, "Log").getByText("#3 assistant").click();
  await inLog.getByRole("button", { name: "Show all 1,000,000 characters" }).click();
  await fits(page);
  assert.equal(await copied(inLog.getByRole("button", { name: "Copy" })), "x".repeat(1_000_000));
  await list(page, "Log").getByText("#4 assistant").click();
  await inLog.getByText("#4 in the log").waitFor();
  assert.match(await inLog.locator("summary").nth(1).textContent(), /^Calls <img src=x onerror=/);
  for (const i of [0, 1]) {
    const part = inLog.locator("details").nth(i);
    await part.locator("summary").click();
    assert.match(await part.locator("pre").textContent(), /<script>globalThis\.hacked=1.*⟨U\+202E⟩/s);
    assert.equal(await copied(part.getByRole("button", { name: "Copy" })), text);
  }
  await list(page, "Log").focus();
  await page.keyboard.press("End");
  await list(page, "Log").getByText("#5 tool").click();
  await inLog.locator("summary").filter({ hasText: /^Result of <img/ }).click();
  await inLog.getByRole("button", { name: /^Show all [\d,]+ characters$/ }).click();
  await fits(page);
  assert.equal(await copied(inLog.getByRole("button", { name: "Copy" })), text.repeat(5000));

  // The summary says hostile things, too, and its label is in the list of sessions.
  await list(page, "View").focus();
  await page.keyboard.press("Home");
  await list(page, "View").getByText("Summary").first().click();
  assert.match(await page.getByRole("region", { name: "In the view" }).locator("pre").first().textContent(), /onerror=.*⟨U\+202E⟩/s);
  await page.getByRole("link", { name: "All sessions" }).click();
  assert.match(await page.locator(".label").first().textContent(), /^label=<img src=x onerror=/);
  assert.match(await page.locator("tbody .title").first().textContent(), /^<img src=x onerror="globalThis\.hacked=1"><script>/);
  await fits(page);
  await page.getByRole("link", { name: hostile, exact: true }).click();
  await list(page, "Log").getByText("#0 user").waitFor();
}

// The file knows what a message of a request was made from.
async function findsMessagesOfRequests(page) {
  await page.getByText("Request as JSON").click();
  await page.getByText(/^\d+ elements\./).waitFor();
  const requested = list(page, "Messages of the request");
  await requested.focus();
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "In the log" }).getByRole("heading", { name: "#7 in the log" }).waitFor();
  await list(page, "View").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("Enter");
  await requested.getByRole("option", { selected: true }).getByText("This summary stands in").waitFor();
}

async function showsEverything(page) {
  await list(page, "Log").getByText("#1 assistant").waitFor();
  await list(page, "Log").getByText("covered").first().click();
  await page.getByRole("region", { name: "In the view" }).getByRole("heading", { name: "Summary" }).waitFor();

  await page.getByText("The window", { exact: true }).click();
  await page.getByText("The largest messages").waitFor();
  assert.equal(await page.getByRole("button", { name: "What would free tokens?" }).count(), 0, "a file cannot be asked");

  await page.getByText("Time", { exact: true }).click();
  const points = page.getByRole("list", { name: "Points" });
  await points.getByText("Policy").waitFor();
  const buttons = await points.locator("[data-point]").count();
  assert.ok(buttons > 5, `${buttons} points`);
  for (let i = 0; i < buttons; i++) {
    const button = points.locator("[data-point]").nth(i);
    const point = Number(await button.getAttribute("data-point"));
    await button.click();
    await page.getByText(`This is the view as of point ${point}:`).waitFor();
  }
  assert.equal(await page.locator("[role=alert]").textContent(), "", "each point that is listed has its view");
  await page.getByRole("button", { name: "Back to now" }).click();

  await page.getByText("Search", { exact: true }).first().click();
  await page.getByLabel("In all of the log").fill("LINE mark-00011");
  await page.keyboard.press("Enter");
  const hit = page.getByRole("list", { name: "Hits" }).getByRole("button");
  await hit.waitFor();
  assert.match(await hit.textContent(), /^#\d+ tool · result/);
  assert.match(await hit.locator("mark").textContent(), /^(line|mark-00011)$/i);
  await page.getByLabel("as an expression").check();
  await page.getByLabel("In all of the log").fill("mark-0000[1-4]$");
  await page.keyboard.press("Enter");
  await page.getByText("4 messages", { exact: true }).waitFor();

  await page.getByLabel("Conversation only").check();
  await page.waitForFunction(() => !/#\d+ (?:tool|system)/.test(document.querySelector("[aria-label=Log]").textContent));
  await page.getByRole("link", { name: "All sessions" }).click();
  await page.getByRole("link", { name: "points", exact: true }).click();
  await list(page, "Log").getByText("#1 assistant").waitFor();
}
