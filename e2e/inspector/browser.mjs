// A browser with the inspector in it, in some themes and widths.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { list, sound, watched, withBrowser } from "./page.mjs";

export { fits, list } from "./page.mjs";

// settings are what the test says: addresses, a token, and what to look for.
export const settings = JSON.parse(readFileSync(0, "utf8"));
export const { base, token } = settings;

const { origin } = new URL(base);

// inLooks walks through the page once for each theme and width. walk gets the page, what makes a step, what checks the page within one,
// and a name of the look.
export function inLooks(walk) {
  return withBrowser(settings.executable, async (browser) => {
    for (const look of settings.looks) {
      await inLook(browser, look, walk);
    }
  });
}

async function inLook(browser, { colorScheme, width, height }, walk) {
  const context = await browser.newContext({ colorScheme, viewport: { width, height } });
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin });
  // A browser reports each refused request, also those by which the page learns that it needs a token.
  const expected = /40[13] \((Unauthorized|Forbidden)\)/;
  const { page, wrong } = await watched(context, (url) => url.startsWith(`${origin}/`) || url.startsWith("blob:"), expected);
  const took = [];
  const audit = async (name, within) => {
    await sound(page, wrong, within);
    if (settings.screenshots) {
      await page.screenshot({ path: `${settings.screenshots}/${name}-${colorScheme}-${width}.png` });
    }
  };
  const step = async (name, check) => {
    const begun = Date.now();
    try {
      await check();
      await audit(name);
    } catch (error) {
      error.message = `${name}, ${colorScheme}, ${width}: ${error.message}`;
      throw error;
    }
    took.push(`${name} ${((Date.now() - begun) / 1000).toFixed(1)}`);
  };
  await walk({ page, step, audit, look: `${colorScheme}-${width}` });
  console.log(`${colorScheme}, ${width}, seconds: ${took.join(", ")}`);
  await context.close();
}

// api calls the daemon as another client.
export async function api(rpc, request) {
  const response = await fetch(`${origin}/compactord.v1.${rpc}`, {
    method: "POST", headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` }, body: JSON.stringify(request),
  });
  assert.equal(response.status, 200, `${rpc}: ${response.ok ? "" : await response.text()}`);
  return response.json();
}

export function selected(page, name) {
  return list(page, name).getByRole("option", { selected: true });
}

// figure returns a number of a cell of a table.
export async function figure(row, cell) {
  return Number((await row.locator("td").nth(cell).textContent()).match(/[\d,]+/)[0].replaceAll(",", ""));
}
