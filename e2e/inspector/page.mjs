// A page in a browser that must do nothing but what it was opened for.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

// withBrowser runs a browser while act runs.
export async function withBrowser(executable, act, ...options) {
  const browser = await chromium.launch({
    executablePath: executable,
    args: [
      "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
      "--disable-sync", ...options,
    ],
  });
  try {
    await act(browser);
  } finally {
    await browser.close();
  }
}

// watched opens a page, and notes in wrong each request that allowed(url) does not allow, each error but those that are expected,
// and each dialog.
export async function watched(context, allowed, expected) {
  const page = await context.newPage();
  const wrong = [];
  page.on("request", (r) => { if (!allowed(r.url())) wrong.push(`a request for ${r.url()}`); });
  page.on("websocket", (s) => wrong.push(`a connection to ${s.url()}`));
  page.on("popup", (p) => wrong.push(`a window for ${p.url()}`));
  page.on("pageerror", (e) => wrong.push(`an error: ${e.stack}`));
  page.on("dialog", (d) => { wrong.push(`a dialog: ${d.message()}`); void d.dismiss(); });
  page.on("console", (m) => { if (["error", "warning"].includes(m.type()) && !expected?.test(m.text())) wrong.push(`the console: ${m.text()}`); });
  return { page, wrong };
}

// sound checks what holds everywhere: nothing runs that a conversation has, nothing is wider than the page, axe finds nothing in
// what a selector names.
export async function sound(page, wrong, within = "html") {
  await fits(page);
  if (!await page.evaluate(() => Boolean(globalThis.axe))) {
    await page.evaluate(axe);
  }
  // All rules are tried, but only what is wrong is described.
  const { violations } = await page.evaluate((part) => globalThis.axe.run(part, { resultTypes: ["violations"], selectors: false }), within);
  assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html).join(" ")}`), []);
  assert.deepEqual(wrong, []);
}

// fits checks the part of that which takes no time, also with megabytes of text.
export async function fits(page) {
  assert.equal(await page.evaluate(() => globalThis.hacked), undefined, "a script of a conversation has run");
  const [wide, inner] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(wide <= inner, `the page is ${wide} wide in ${inner}`);
}

export function list(page, name) {
  return page.getByRole("listbox", { name });
}
