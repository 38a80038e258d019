// Goes through the inspector by the keyboard alone: everything can be reached, the focus is always seen, and nothing keeps it.

import assert from "node:assert/strict";
import { base, inLooks, list, selected, token } from "./browser.mjs";

// More than there are stops on a page.
const mostStops = 400;

await inLooks(async ({ page, step, look }) => {
  await step("keyboard: token", () => unlocks(page));
  await step("keyboard: sessions", () => opensASession(page));
  await step("keyboard: content", () => skipsToTheContent(page));
  await step("keyboard: messages", () => choosesMessages(page));
  await step("keyboard: citations", () => followsCitations(page));
  await step("keyboard: time", () => goesBackInTime(page));
  await step("keyboard: window", () => comparesPresets(page));
  await step("keyboard: changes", () => looksAtAChange(page));
  await step("keyboard: leave", () => leavesDialogs(page));
  await step("keyboard: agree", () => agrees(page, look));
  await step("keyboard: all", () => comesRound(page));
});

// focused describes what has the focus; nothing where that is the browser. It is in sight there, and marked.
async function focused(page) {
  const at = await page.evaluate(() => {
    const e = document.activeElement;
    if (!e || e === document.body || e === document.documentElement) {
      return undefined;
    }
    const { outlineStyle, outlineWidth } = getComputedStyle(e);
    const box = e.getBoundingClientRect();
    const top = document.elementFromPoint(
      Math.max(0, Math.min(innerWidth - 1, (Math.max(box.left, 0) + Math.min(box.right, innerWidth)) / 2)),
      Math.max(0, Math.min(innerHeight - 1, (Math.max(box.top, 0) + Math.min(box.bottom, innerHeight)) / 2)));
    return {
      html: e.outerHTML.slice(0, 300),
      name: `${e.localName} ${e.getAttribute("aria-label") ?? e.textContent.slice(0, 60)}`,
      marked: outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 2,
      inSight: box.width > 0 && box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth &&
        (e.contains(top) || top?.contains(e) === true),
      inDialog: e.closest("dialog") !== null,
    };
  });
  if (at) {
    assert.ok(at.marked, `the focus is not seen on ${at.name}: ${at.html}`);
    assert.ok(at.inSight, `the focus is out of sight on ${at.name}`);
  }
  return at;
}

function hasFocus(target) {
  return target.evaluate((e) => e === document.activeElement);
}

// tabTo moves the focus forward until it is on a target.
async function tabTo(page, target, key = "Tab") {
  await target.waitFor();
  const passed = [];
  while (!await hasFocus(target)) {
    assert.ok(passed.length < mostStops, `${target} is not reached: ${passed.join(" | ")}`);
    await page.keyboard.press(key);
    passed.push((await focused(page))?.name ?? "the browser");
  }
}

async function press(page, target, key = "Enter") {
  await tabTo(page, target);
  await page.keyboard.press(key);
}

// keepsFocus checks that a target gets the focus, or has it still.
async function keepsFocus(target, why) {
  for (let i = 0; i < 100 && !await hasFocus(target); i++) {
    await target.page().evaluate(() => new Promise((resolve) => { requestAnimationFrame(resolve); }));
  }
  const at = await target.page().evaluate(() => document.activeElement?.outerHTML.slice(0, 200));
  assert.ok(await hasFocus(target), `${why}: the focus is on ${at}`);
}

async function unlocks(page) {
  await page.goto(base);
  await tabTo(page, page.getByLabel("Token"));
  await page.keyboard.type(token);
  await page.keyboard.press("Enter");
  await page.getByRole("table").waitFor();
}

async function opensASession(page) {
  await tabTo(page, page.getByLabel("Id, title or label"));
  await page.keyboard.type("points");
  await press(page, page.getByRole("link", { name: "points", exact: true }));
  await list(page, "Log").getByText("#1 assistant").waitFor();
}

async function skipsToTheContent(page) {
  const address = page.url();
  await page.reload();
  await list(page, "Log").getByText("#1 assistant").waitFor();
  await page.keyboard.press("Tab");
  assert.equal((await focused(page)).name, "a Skip to the content");
  await page.keyboard.press("Enter");
  await keepsFocus(page.locator("#main"), "the content");
  await page.keyboard.press("Tab");
  assert.equal((await focused(page)).name, "a All sessions");
  assert.equal(page.url(), address);
}

function inLog(page) {
  return page.getByRole("region", { name: "In the log" });
}

function inView(page) {
  return page.getByRole("region", { name: "In the view" });
}

// A message that is chosen in one list is found in the other.
async function choosesMessages(page) {
  await page.getByRole("heading", { name: /^View: \d+$/ }).waitFor();
  await tabTo(page, list(page, "Log"));
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await inLog(page).getByRole("heading", { name: "#85 in the log" }).waitFor();
  await inView(page).getByRole("heading", { name: "#85 in the view" }).waitFor();
  assert.match(await selected(page, "View").textContent(), /^#85 /);
  await keepsFocus(list(page, "Log"), "a chosen message");
  await tabTo(page, list(page, "View"));
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press(" ");
  await inLog(page).getByRole("heading", { name: "#82 in the log" }).waitFor();
  assert.match(await selected(page, "Log").textContent(), /^#82 /);
  await keepsFocus(list(page, "View"), "a chosen message");

  // A result leads to its call, and parts open.
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await inLog(page).getByRole("heading", { name: "#81 in the log" }).waitFor();
  await press(page, inLog(page).locator("summary"));
  await inLog(page).getByText("line of module").waitFor();
  await press(page, inLog(page).getByText("answers").getByRole("button", { name: "#80" }), "Enter");
  await inLog(page).getByRole("heading", { name: "#80 in the log" }).waitFor();
  await keepsFocus(inLog(page), "the call of a result");
}

async function followsCitations(page) {
  await tabTo(page, list(page, "Log"));
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await inView(page).getByRole("heading", { name: "Summary" }).waitFor();
  assert.match(await selected(page, "View").textContent(), /^Summary/);
  const cited = inView(page).locator(".cite").last();
  const name = await cited.textContent();
  await press(page, cited);
  await inLog(page).getByRole("heading", { name: `${name} in the log` }).waitFor();
  assert.match(await selected(page, "Log").textContent(), new RegExp(`^${name} `));
  await keepsFocus(cited, "a citation");
}

async function goesBackInTime(page) {
  await press(page, page.locator("summary").filter({ hasText: /^Time$/ }));
  const points = page.getByRole("list", { name: "Points" });
  const point = points.locator("[data-point]").filter({ hasText: "Compaction" });
  await press(page, point);
  await page.getByText("This is the view as of point 85:").waitFor();
  await keepsFocus(point, "a point");
  await press(page, points.locator("[data-point]").last(), " ");
  await page.getByText("This is the view as of point 0:").waitFor();
  await press(page, page.getByRole("button", { name: "Back to now" }));
  await page.getByText("This is the view as of").waitFor({ state: "detached" });
  await keepsFocus(list(page, "View"), "back to now");
}

async function comparesPresets(page) {
  await press(page, page.locator("summary").filter({ hasText: /^The window$/ }));
  await press(page, page.getByRole("button", { name: "Compare presets" }));
  await page.getByRole("table", { name: "What would free tokens" }).getByRole("rowheader", { name: /^prose/ }).waitFor();
  await page.getByText("Nothing was changed.").waitFor();
  await tabTo(page, page.getByRole("region", { name: "What would free tokens" }));
  const largest = page.getByRole("table", { name: "The largest messages" }).getByRole("button", { name: /^#/ }).first();
  const name = await largest.textContent();
  await press(page, largest);
  await inLog(page).getByRole("heading", { name: `${name} in the log` }).waitFor();
  await keepsFocus(list(page, "Log"), "one of the largest messages");
}

async function looksAtAChange(page) {
  await press(page, page.getByRole("button", { name: "What it changed at point 85" }));
  await page.getByText(/^\d+ messages left/).waitFor();
  await tabTo(page, list(page, "What changed"));
  await page.keyboard.press("End");
  const name = (await selected(page, "What changed").textContent()).match(/^− (#\d+) /)[1];
  await page.keyboard.press("Enter");
  await inLog(page).getByRole("heading", { name: `${name} in the log` }).waitFor();
  await keepsFocus(list(page, "Log"), "a message that left");
}

// Each dialog takes the focus, keeps it until it is left, and gives it back.
async function leavesDialogs(page) {
  await tabTo(page, list(page, "Log"));
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await inLog(page).getByRole("heading", { name: "#85 in the log" }).waitFor();
  for (const [i, name] of ["Compact …", "Prune …", "Checkpoint …", "Undo …", "Pin …", "Revert to here …"].entries()) {
    const button = page.getByRole("button", { name });
    await press(page, button, i % 2 === 0 ? "Enter" : " ");
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Asking what it would do").waitFor({ state: "detached" });
    for (let stop = 0; stop < 8; stop++) {
      await page.keyboard.press(stop < 5 ? "Tab" : "Shift+Tab");
      const at = await focused(page);
      assert.ok(!at || at.inDialog, `the dialog ${name} lets the focus go to ${at?.name}`);
    }
    if (i % 2 === 0) {
      await page.keyboard.press("Escape");
    } else {
      await press(page, dialog.getByRole("button", { name: "Leave it" }));
    }
    await dialog.waitFor({ state: "detached" });
    await keepsFocus(button, `after the dialog ${name}`);
  }
}

// What a dialog does is done, told and taken back without a pointer, also where the button that opened it has gone meanwhile.
async function agrees(page, look) {
  const dialog = page.getByRole("dialog");
  await press(page, page.getByRole("button", { name: "Checkpoint …" }));
  await tabTo(page, dialog.getByLabel("Its title"));
  await page.keyboard.type(`by keyboard in ${look}`);
  await page.keyboard.press("Enter");
  await dialog.getByText("Done: checkpoint").waitFor();
  await keepsFocus(dialog.getByRole("button", { name: "Close" }), "what was done");
  await page.keyboard.press("Enter");
  await keepsFocus(page.getByRole("button", { name: "Checkpoint …" }), "after a checkpoint");

  for (const [name, back] of [["Pin …", "Unpin …"], ["Unpin …", "Pin …"]]) {
    await press(page, page.getByRole("button", { name, exact: true }));
    await press(page, dialog.getByRole("button", { name: "Do it" }));
    await dialog.getByText("Done: 1 message").waitFor();
    await page.getByRole("button", { name: back, exact: true, includeHidden: true }).waitFor();
    await press(page, dialog.getByRole("button", { name: "Close" }));
    await dialog.waitFor({ state: "detached" });
    await keepsFocus(inLog(page), `after ${name}`);
  }
}

// With Tab alone everything that takes the focus gets it once, in order, and after it the browser; and the other way round.
async function comesRound(page) {
  const takes = "a[href], button, input, select, textarea, summary, [tabindex='0']";
  const all = await page.evaluate((selector) => {
    const stops = [...document.querySelectorAll(selector)].filter((e) => e.checkVisibility({ visibilityProperty: true }) && !e.disabled);
    for (const [i, e] of stops.entries()) {
      e.dataset.stop = i;
    }
    return [...stops.keys()];
  }, takes);
  assert.ok(all.length > 20, `${all.length} stops`);
  for (const [key, wanted] of [["Tab", all], ["Shift+Tab", all.toReversed()]]) {
    await page.locator(`[data-stop="${wanted[0]}"]`).focus();
    const stops = [];
    for (let stop = wanted[0]; stop !== undefined && stops.length < mostStops;) {
      stops.push(stop);
      await page.keyboard.press(key);
      await focused(page);
      stop = await page.evaluate(() => document.activeElement.dataset?.stop && Number(document.activeElement.dataset.stop));
    }
    assert.deepEqual(stops, wanted, key);
  }
}
