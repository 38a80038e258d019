// A browser with the inspector in it, in some themes and widths, and what holds everywhere in the page.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

// settings are what the test says: addresses, a token, and what to look for.
export const settings = JSON.parse(readFileSync(0, "utf8"));
export const { base, token } = settings;

const origin = new URL(base).origin;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

// inLooks walks through the page once for each theme and width. walk gets the page, what makes a step, and a name of the look.
export async function inLooks(walk) {
  const browser = await chromium.launch({
    executablePath: settings.executable,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
  try {
    for (const { colorScheme, width } of settings.looks) {
      await inLook(browser, colorScheme, width, walk);
    }
  } finally {
    await browser.close();
  }
}

async function inLook(browser, colorScheme, width, walk) {
  const context = await browser.newContext({ colorScheme, viewport: { width, height: 900 } });
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin });
  const page = await context.newPage();
  const wrong = [];
  page.on("request", (r) => { if (!r.url().startsWith(`${origin}/`) && !r.url().startsWith("blob:")) wrong.push(`a request for ${r.url()}`); });
  page.on("pageerror", (e) => wrong.push(`an error: ${e.stack}`));
  page.on("dialog", (d) => { wrong.push(`a dialog: ${d.message()}`); void d.dismiss(); });
  // A browser reports each refused request, also those by which the page learns that it needs a token.
  page.on("console", (m) => {
    if (["error", "warning"].includes(m.type()) && !/40[13] \((Unauthorized|Forbidden)\)/.test(m.text())) wrong.push(`the console: ${m.text()}`);
  });
  const step = async (name, check) => {
    try {
      await check();
      await sound(page, name);
      assert.deepEqual(wrong, []);
      if (settings.screenshots) {
        await page.screenshot({ path: `${settings.screenshots}/${name}-${colorScheme}-${width}.png` });
      }
    } catch (error) {
      error.message = `${name}, ${colorScheme}, ${width}: ${error.message}`;
      throw error;
    }
  };
  await walk({ page, step, look: `${colorScheme}-${width}` });
  await context.close();
}

// sound checks what holds everywhere: nothing runs that a conversation has, nothing is wider than the page, axe finds nothing.
async function sound(page, name) {
  assert.equal(await page.evaluate(() => globalThis.hacked), undefined, "a script of a conversation has run");
  const [wide, inner] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(wide <= inner, `the page is ${wide} wide in ${inner}`);
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html).join(" ")}`), [], name);
}

// api calls the daemon as another client.
export async function api(rpc, request) {
  const response = await fetch(`${origin}/compactord.v1.${rpc}`, {
    method: "POST", headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` }, body: JSON.stringify(request),
  });
  assert.equal(response.status, 200, `${rpc}: ${response.ok ? "" : await response.text()}`);
  return response.json();
}

export function list(page, name) {
  return page.getByRole("listbox", { name });
}

export function selected(page, name) {
  return list(page, name).getByRole("option", { selected: true });
}

// figure returns a number of a cell of a table.
export async function figure(row, cell) {
  return Number((await row.locator("td").nth(cell).textContent()).match(/[\d,]+/)[0].replaceAll(",", ""));
}
