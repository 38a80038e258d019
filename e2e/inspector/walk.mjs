// Walks through the inspector in a browser, in some themes and widths, and fails at the first thing that is wrong.

import assert from "node:assert/strict";
import { api, base, figure, fits, inLooks, list, selected, settings, token } from "./browser.mjs";

const { child: hostileChild, fork: hostileFork, hostile, text, long } = settings;

// How many sessions there are. Each look makes another.
let sessions = 7;
const { colorScheme, width } = settings.looks[0];
const firstLook = `${colorScheme}-${width}`;
// Whether the list of sessions has shown a change by itself, which it looks for every five seconds.
let refreshed = false;

await inLooks(async ({ page, step, audit, look }) => {
  await step("token", () => asksForAToken(page));
  await step("sessions", () => listsSessions(page));
  await step("session", () => showsASession(page, audit));
  await step("conversation", () => showsTheConversation(page));
  await step("search", () => searches(page));
  await step("request", () => showsRequests(page));
  await step("time", () => goesBackInTime(page));
  await step("forks", () => showsForks(page));
  await step("window", () => showsTheWindow(page, audit));
  await step("live", () => followsASession(page, look));
  await step("children", () => showsChildren(page));
  await step("refused", () => changesNothing(page));
  await step("hostile", () => showsHostileTexts(page));
  await step("hostile calls", () => showsHostileCalls(page));
  await step("hostile window", () => showsAHostileWindow(page));
  // It is the same in each look; a short run shows it once.
  if (!settings.short || look === firstLook) {
    await step("long", () => showsALongSession(page));
  }
});

async function asksForAToken(page) {
  await page.goto(base);
  await page.getByLabel("Token").fill("cptd_wrong");
  await page.keyboard.press("Enter");
  await page.getByText("This daemon asks for a token").waitFor();
}

async function listsSessions(page) {
  await page.getByLabel("Token").fill(token);
  await page.keyboard.press("Enter");
  await page.getByRole("table").waitFor();
  assert.equal(await page.locator("tbody tr").count(), sessions);
  const cellOf = (name) => page.getByRole("row").filter({ has: page.getByRole("link", { name, exact: true }) });
  await cellOf("full").getByRole("meter", { name: "Tokens of the window" }).waitFor();
  await cellOf("full").getByText(/^\d+ % of 100,000$/).waitFor();
  assert.match(await cellOf(hostile).locator(".label").textContent(), /^label=<img src=x onerror=/);
  assert.match(await cellOf(hostile).locator(".title").first().textContent(), /^<img src=x onerror="globalThis\.hacked=1"><script>/);

  // What changes meanwhile comes to the top, and is marked.
  const first = page.locator("tbody tr").first();
  await api("SessionService/CreateCheckpoint", { sessionId: "full" });
  if (refreshed) {
    // It does so at once when somebody comes back to it.
    await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  }
  refreshed = true;
  await first.getByRole("link", { name: "full", exact: true }).waitFor();
  await first.getByText("live", { exact: true }).waitFor();
  await page.getByLabel("Id, title or label").fill("team=harbour");
  assert.deepEqual(await page.locator("tbody a").allTextContents(), ["work"]);
  await page.getByLabel("Id, title or label").fill("");
  await page.getByLabel("Changed since").fill("2100-01-01");
  assert.equal(await page.locator("tbody tr").count(), 0);
  await page.getByLabel("Changed since").fill("");
  assert.equal(await page.locator("tbody tr").count(), sessions);
}

async function showsASession(page, audit) {
  await page.getByRole("link", { name: "work", exact: true }).click();
  await list(page, "Log").getByText("#1 user").waitFor();
  await page.getByRole("meter").waitFor();
  const inLog = page.getByRole("region", { name: "In the log" });
  const inView = page.getByRole("region", { name: "In the view" });

  // A covered message leads to the summary, and its citations lead to the messages that they name.
  await list(page, "Log").getByText("covered").first().click();
  await inView.getByRole("heading", { name: "Summary" }).waitFor();
  const cited = inView.locator(".cite").last();
  const name = await cited.textContent();
  await cited.click();
  await inLog.getByRole("heading", { name: `${name} in the log` }).waitFor();
  assert.match(await selected(page, "Log").textContent(), new RegExp(`^${name} `));
  assert.match(await selected(page, "View").textContent(), /^Summary/);

  // A message that the view has hidden is whole in the log.
  await list(page, "View").getByText("hide result").first().click();
  await inLog.getByText("hidden").waitFor();
  await inLog.locator("summary").click();
  await inLog.getByText("line of module").waitFor();
  assert.match(await selected(page, "Log").textContent(), /^#\d+ toolhidden [\d,]+ tokens/);
  assert.ok(!(await inView.textContent()).includes("line of module"));

  // A result leads to its call.
  const answered = inLog.getByText("answers").getByRole("button", { name: /^#\d+$/ });
  const call = await answered.textContent();
  await answered.click();
  await inLog.getByRole("heading", { name: `${call} in the log` }).waitFor();
  assert.match(await selected(page, "Log").textContent(), new RegExp(`^${call} assistant.* tokens · calls read`));
  await page.getByText("What the states mean").click();
  await page.getByText("The view has all but its thinking.").waitFor();
  await audit("states", ".legend");
  await page.getByText("What the states mean").click();

  // The keyboard does the same.
  await list(page, "Log").focus();
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await inView.getByRole("heading", { name: /^#240/ }).waitFor();
  await inLog.getByText("whole").waitFor();
}

async function showsTheWindow(page, audit) {
  await page.getByRole("link", { name: "All sessions" }).click();
  await page.getByRole("link", { name: "full", exact: true }).click();
  await page.getByText("The window", { exact: true }).click();
  const categories = page.getByRole("table", { name: "Tokens by category" });
  const category = (name) => categories.getByRole("row").filter({ has: page.getByRole("rowheader", { name, exact: true }) });
  assert.equal(await figure(category("tool results"), 0), 60);
  assert.equal(await figure(category("instructions"), 0), 1);
  const used = await categories.getByRole("row").evaluateAll((rows) => rows.slice(1).map((row) => Number(row.cells[2].textContent.replaceAll(",", "")))
    .reduce((a, b) => a + b, 0));
  assert.ok(Math.abs(used - 100_000) < 20, `${used} tokens are in a window of 100,000`);

  // What would free tokens is asked of the daemon, and changes nothing.
  const largest = page.getByRole("table", { name: "The largest messages" });
  await largest.getByRole("button", { name: "#0" }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "What would free tokens?" }).click();
  await page.getByText("Nothing was changed.").waitFor();
  const plans = page.getByRole("table", { name: "What would free tokens" });
  await largest.getByRole("columnheader", { name: "What would free it" }).waitFor();
  await page.getByRole("button", { name: "Compare presets" }).click();
  await plans.getByRole("rowheader", { name: /^prose/ }).waitFor();
  await page.getByText("Nothing was changed.").waitFor();
  const figures = await plans.getByRole("row").evaluateAll((rows) => rows.slice(1).filter((row) => row.cells.length > 2)
    .map((row) => [1, 2, 6, 7].map((cell) => Number(row.cells[cell].textContent.match(/[\d,]+/)[0].replaceAll(",", "")))));
  assert.ok(figures.length >= 3, `${figures.length} plans do something`);
  await audit("presets", ".panels");
  for (const [before, after, cached, anew] of figures) {
    assert.ok(before > cached && after === Math.max(after, cached) && anew === after - cached, `${before} to ${after}, ${cached} cached and ${anew} anew`);
  }
  await largest.getByRole("button", { name: /^#/ }).first().click();
  const name = await selected(page, "Log").textContent();
  assert.match(await selected(page, "View").textContent(), new RegExp(`^${name.split(" ")[0]} `));
  await page.getByText("The window", { exact: true }).click();
}

async function showsTheConversation(page) {
  await page.getByLabel("Conversation only").check();
  await selected(page, "Log").getByText("#240 assistant").waitFor();
  assert.equal(await selected(page, "Log").getAttribute("aria-setsize"), "180", "three of four messages of each turn");
  assert.equal(await list(page, "Log").getByText(/^#\d+ (tool|system)/).count(), 0);
  assert.equal(await list(page, "View").getByText(/^#\d+ (tool|system)/).count(), 0);
  await list(page, "Log").focus();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "In the view" }).getByRole("heading", { name: "#238" }).waitFor();
  assert.match(await selected(page, "View").textContent(), /^#238 /);
  await page.getByLabel("Conversation only").uncheck();
  assert.match(await selected(page, "Log").textContent(), /^#238 /);
  await list(page, "Log").getByText("#239 tool").waitFor();
}

async function searches(page) {
  await page.getByText("Search", { exact: true }).first().click();
  const hits = page.getByRole("list", { name: "Hits" });
  await page.getByLabel("In all of the log").fill("LINE mark-00031");
  await page.keyboard.press("Enter");
  await page.getByText("1 message", { exact: true }).waitFor();
  const result = hits.getByRole("button");
  assert.match(await result.textContent(), /^#31 tool · result/);
  assert.equal(await result.locator("mark").textContent(), "mark-00031");
  assert.match(await result.textContent(), /covered/);
  await result.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "In the log" }).getByRole("heading", { name: "#31 in the log" }).waitFor();
  assert.match(await selected(page, "Log").textContent(), /^#31 /);
  assert.ok(await list(page, "Log").evaluate((l) => l === document.activeElement));

  await page.getByLabel("as an expression").check();
  await page.getByLabel("In all of the log").fill("mark-0000[0-4]$");
  await page.keyboard.press("Enter");
  await page.getByText("5 messages", { exact: true }).waitFor();
  await page.getByLabel("In all of the log").fill("mark");
  await page.keyboard.press("Enter");
  await page.getByText("50 messages so far").waitFor();
  await page.getByRole("button", { name: "Search on" }).click();
  await page.getByText("100 messages so far").waitFor();
}

// requests chooses the last message of a request, and returns its JSON and what the page copies.
async function requests(page, dialect) {
  await page.getByLabel("Dialect").selectOption(dialect);
  await page.getByText(/^\d+ elements\./).waitFor();
  await list(page, "Messages of the request").focus();
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  const json = page.getByRole("region", { name: "JSON" });
  await json.locator("pre").waitFor();
  await json.getByRole("button", { name: "Copy" }).click();
  return [await json.locator("pre").textContent(), await page.evaluate(() => navigator.clipboard.readText())];
}

async function showsRequests(page) {
  await page.getByText("Request as JSON").click();
  for (const dialect of ["Anthropic Messages", "Gemini", "OpenAI Chat Completions", "OpenAI Responses"]) {
    const [json, copied] = await requests(page, dialect);
    assert.equal(json, copied);
    assert.ok(JSON.stringify(JSON.parse(json)).includes("I decided to leave it as it is"), json);
  }
  await page.getByLabel("Dialect").selectOption("Anthropic Messages");
  await list(page, "Messages of the request").getByText("system prompt").waitFor();
  await findsMessagesOfRequests(page);
}

// A message of a request leads to those of view and log that it was made from, and these lead to it.
async function findsMessagesOfRequests(page) {
  const requested = list(page, "Messages of the request");
  const json = page.getByRole("region", { name: "JSON" });
  const inLog = page.getByRole("region", { name: "In the log" });
  const inView = page.getByRole("region", { name: "In the view" });
  await requested.getByText("system prompt").click();
  await inLog.getByRole("heading", { name: "#0 in the log" }).waitFor();
  await requested.focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await inView.getByRole("heading", { name: "Summary" }).waitFor();
  await inLog.getByText("It is no message of the log.").waitFor();
  assert.match(await selected(page, "View").textContent(), /^Summary/);

  // What a request joins is named, each with its way to the log.
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await inLog.getByRole("heading", { name: "#240 in the log" }).waitFor();
  const element = await selected(page, "Messages of the request").textContent();
  await list(page, "Log").focus();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await inLog.getByRole("heading", { name: "#239 in the log" }).waitFor();
  await json.getByRole("button", { name: "#239" }).waitFor();
  const earlier = await selected(page, "Messages of the request").textContent();
  assert.notEqual(earlier, element);
  assert.ok(JSON.parse(await json.locator("pre").textContent()).content.some((part) => part.type === "tool_result"), "it has the result");
  await list(page, "Log").focus();
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await json.getByRole("button", { name: "#240" }).click();
  await inLog.getByRole("heading", { name: "#240 in the log" }).waitFor();
  assert.equal(await selected(page, "Messages of the request").textContent(), element);
}

// Forks are listed and stand at their points, lead there and back, and a fork names what it comes from.
async function showsForks(page) {
  await page.getByRole("link", { name: "All sessions" }).click();
  await page.getByRole("link", { name: "points", exact: true }).click();
  await page.getByText("Forks", { exact: true }).click();
  const forks = page.getByRole("list", { name: "Forks" });
  await page.getByText("1 fork", { exact: true }).waitFor();
  await forks.getByRole("link", { name: hostileFork, exact: true }).waitFor();
  await page.getByText("Time", { exact: true }).click();
  const points = page.getByRole("list", { name: "Points" });
  const here = points.getByRole("listitem").filter({ has: page.getByRole("link", { name: hostileFork, exact: true }) });
  await here.waitFor();
  // It stands above the points before its own, and below those after.
  const places = await points.locator("[data-point]").evaluateAll((buttons) => buttons.map((button) => Number(button.dataset.point)));
  assert.deepEqual(places, places.toSorted((a, b) => b - a));
  assert.equal(await here.locator("[data-point]").getAttribute("data-point"), "87");
  await here.getByRole("button").click();
  await page.getByText("This is the view as of point 87:").waitFor();
  await here.getByRole("link").click();
  await page.getByText("Forked from").getByRole("link", { name: "points" }).waitFor();
  await page.getByText("Time", { exact: true }).click();
  await points.getByRole("listitem").filter({ hasText: "Forked here from" }).getByRole("link", { name: "points" }).waitFor();
  await page.getByText("Forked from").getByRole("link", { name: "point 87" }).click();
  await page.getByText("This is the view as of point 87:").waitFor();
  assert.ok(page.url().endsWith("#/session/points/87"), page.url());

  // One without forks says so.
  await page.goto(`${base}#/session/full`);
  await page.getByText("Forks", { exact: true }).click();
  await page.getByText("0 forks", { exact: true }).waitFor();
}

// standsAs waits until the log says how the view has a message that is in sight.
function standsAs(page, index, state) {
  return list(page, "Log").getByRole("option").filter({ hasText: new RegExp(`^#${index} `) }).getByText(state, { exact: true }).waitFor();
}

async function goesBackInTime(page) {
  await page.getByRole("link", { name: "All sessions" }).click();
  await page.getByRole("link", { name: "points", exact: true }).click();
  await page.getByText("Time", { exact: true }).click();
  const points = page.getByRole("list", { name: "Points" });
  const point = (text) => points.getByRole("button").filter({ hasText: text });
  const curve = page.getByRole("img", { name: /^Tokens of the view over 92 points/ });
  await curve.waitFor();
  const drawn = await curve.locator("polyline").getAttribute("points");
  assert.equal(drawn.split(" ").length, 92);
  for (const [kind, times] of [["compaction", 1], ["prune", 1], ["revert", 1], ["attempt", 1], ["trigger", 1]]) {
    assert.equal(await curve.locator(`.${kind}`).count(), times, kind);
  }
  // What the revert put aside is in the curve no more: it is as high as at the checkpoint.
  const heights = drawn.split(" ").map((at) => Number(at.split(",")[1]));
  assert.equal(heights[90], heights[87]);
  assert.ok(heights[85] > heights[84], "the compaction frees tokens");
  const asOf = (n) => page.getByText(`This is the view as of point ${n}:`);
  await point("Policy").waitFor();
  assert.match(await point("Skipped attempt").textContent(), /no gain/);
  assert.match(await point("Compaction").textContent(), /[\d,]+ freed/);
  assert.match(await point("Checkpoint 1").textContent(), /globalThis\.hacked=1.*⟨U\+202E⟩/);
  assert.match(await point("Revert to point 87").textContent(), /2 messages put aside/);
  const [, before, after] = (await point("Compaction").textContent()).match(/([\d,]+) → ([\d,]+) tokens · covers #0 to #62/);
  assert.ok(Number(before.replace(",", "")) > Number(after.replace(",", "")), `${before} to ${after}`);
  assert.match(await points.locator("[aria-current=true]").textContent(), /point 91.*#85/);

  // Before the compaction all is whole, and what came since is not there; after it the view has what it takes, before the prune.
  await point("#3 to #82").click();
  await asOf(84).waitFor();
  await page.getByText(`: ${before} tokens.`).waitFor();
  await page.getByRole("heading", { name: "View: 83" }).waitFor();
  await standsAs(page, 3, "whole");
  await point("Compaction").focus();
  await page.keyboard.press("Enter");
  await asOf(85).waitFor();
  await page.getByText(`: ${after} tokens.`).waitFor();
  await standsAs(page, 3, "covered");
  await list(page, "Log").focus();
  await page.keyboard.press("End");
  await standsAs(page, 85, "later");
  await standsAs(page, 82, "whole");

  // What a revert put aside is there before the revert, in the request too, and the address says where the page is.
  await point("#83 to #84").click();
  await asOf(89).waitFor();
  await standsAs(page, 83, "whole");
  await page.getByText("Request as JSON").click();
  const requested = list(page, "Messages of the request");
  await requested.focus();
  await page.getByText(/^\d+ elements\./).waitFor();
  await page.keyboard.press("End");
  await requested.getByText("So it is.").waitFor();
  assert.ok(page.url().endsWith("#/session/points/89"), page.url());
  await page.reload();
  await asOf(89).waitFor();
  await page.getByText("Time", { exact: true }).click();
  await points.locator("[aria-current=true]").getByText("2 messages").waitFor();
  await point("Revert to point").click();
  await asOf(90).waitFor();
  await list(page, "Log").focus();
  await page.keyboard.press("End");
  await standsAs(page, 83, "put aside");
  await standsAs(page, 85, "later");

  // A message leads to its own point.
  await list(page, "Log").getByText("#84 assistant").click();
  await page.getByRole("button", { name: "View as of here" }).click();
  await asOf(89).waitFor();
  await standsAs(page, 84, "whole");
  await page.getByRole("button", { name: "Back to now" }).click();
  await asOf(89).waitFor({ state: "detached" });
  await standsAs(page, 84, "put aside");
  await page.getByRole("region", { name: "In the view" }).getByText("A revert went back to before it.").waitFor();
  await standsAs(page, 85, "whole");
  assert.ok(page.url().endsWith("#/session/points"), page.url());
  await points.getByRole("button").first().click();
  await asOf(91).waitFor();
}

// The page shows what comes meanwhile, and stays at the end of the log where it is there.
async function followsASession(page, look) {
  const sessionId = `live-${look}`;
  sessions++;
  const said = (role, words) => ({ role, parts: [{ text: { text: words } }] });
  await api("SessionService/CreateSession", { sessionId, policy: { contextWindow: 100_000 } });
  await api("SessionService/AppendMessages", { sessionId, messages: Array.from({ length: 60 }, (_, i) => said("ROLE_USER", `Early ${i}.`)) });
  await page.goto(`${base}#/session/${sessionId}`);
  await page.getByRole("heading", { name: "View: 60" }).waitFor();
  await list(page, "Log").focus();
  await page.keyboard.press("End");
  await list(page, "Log").getByText("#59 user").waitFor();
  await page.getByText("Time", { exact: true }).click();
  await page.getByRole("button", { name: /^60 messages/ }).waitFor();
  await page.getByText("The window", { exact: true }).click();
  await page.getByRole("button", { name: "What would free tokens?" }).click();
  await page.getByText("Nothing was changed.").waitFor();
  await api("SessionService/AppendMessages", { sessionId, messages: [said("ROLE_USER", text), said("ROLE_ASSISTANT", "It has come meanwhile.")] });
  await page.getByRole("heading", { name: "Log: 62" }).waitFor();
  await page.getByRole("heading", { name: "View: 62" }).waitFor();
  await list(page, "Log").getByText("It has come meanwhile.").waitFor();
  await page.getByRole("button", { name: /^62 messages/ }).waitFor();
  // The answer to a question stays until another one is asked.
  await page.getByRole("button", { name: "Show it as it is now" }).waitFor();
  await page.getByText("Nothing was changed.").waitFor();
  await page.getByRole("button", { name: "Show it as it is now" }).click();
  await page.getByText("Nothing was changed.").waitFor({ state: "detached" });
  await page.getByRole("table", { name: "Tokens by category" }).getByRole("row", { name: /^user 61/ }).waitFor();
  await page.getByText("The window", { exact: true }).click();

  // What a record changes shows in rows that are loaded already.
  await api("SessionService/RevertToCheckpoint", { sessionId, point: 60 });
  await page.getByRole("heading", { name: "View: 60" }).waitFor();
  await standsAs(page, 61, "put aside");
  await page.getByRole("button", { name: /^What it changed/ }).click();
  await page.getByText("2 messages left").waitFor();
  assert.equal(await list(page, "What changed").getByRole("option").count(), 2);
  await list(page, "What changed").getByText("− #61 assistant").click();
  await page.getByRole("region", { name: "In the log" }).getByRole("heading", { name: "#61 in the log" }).waitFor();
}

// The daemon refuses what the page could change, whatever the page asks for.
async function changesNothing(page) {
  assert.equal(await page.getByRole("group", { name: "Actions" }).count(), 0);
  assert.equal(await page.getByRole("button", { name: "Pin …" }).count(), 0);
  const answered = await page.evaluate(async (bearer) => {
    const response = await fetch("/compactord.v1.SessionService/ClearSession", {
      method: "POST", headers: { "Content-Type": "application/json", Authorization: `Bearer ${bearer}` }, body: JSON.stringify({ sessionId: "work" }),
    });
    return [response.status, (await response.json()).message];
  }, token);
  assert.equal(answered[0], 403);
  assert.match(answered[1], /--inspect-write/);
}

async function showsHostileTexts(page) {
  await page.getByRole("link", { name: "All sessions" }).click();
  await page.getByRole("link", { name: hostile, exact: true }).click();
  await list(page, "Log").getByText("#0 user").click();
  const inLog = page.getByRole("region", { name: "In the log" });
  await inLog.locator("pre").first().waitFor();
  assert.match(await inLog.locator("pre").first().textContent(), /<img src=x onerror="globalThis\.hacked=1">.*⟨U\+202E⟩.*⟨U\+200B⟩/s);
  await inLog.getByRole("button", { name: "Copy" }).first().click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), text);
  await showsHostileHits(page);
  await showsHostileRequests(page);
  await list(page, "Log").getByText("#1 assistant").click();
  await inLog.getByRole("button", { name: "Show all 1,000,000 characters" }).click();
  assert.equal((await inLog.locator("pre").first().textContent()).length, 1_000_000);
  await inLog.getByRole("button", { name: "Copy" }).click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "x".repeat(1_000_000));
  await fits(page);
  await list(page, "Log").getByText("#0 user").click();
  await inLog.getByText("#0 in the log").waitFor();
}

// A child is found, searched, and leads back. Its messages have images and what only looks like one.
async function showsChildren(page) {
  await page.goto(`${base}#/session/full`);
  await page.getByText("1 child", { exact: true }).click();
  await page.getByRole("link", { name: hostileChild, exact: true }).waitFor();
  await page.getByText("Search", { exact: true }).first().click();
  await page.getByLabel("In all of the log").fill("zebra");
  await page.getByLabel("children, too").check();
  await page.getByRole("button", { name: "Search", exact: true }).click();
  await page.getByRole("link", { name: /zebra/ }).click();
  const inLog = page.getByRole("region", { name: "In the log" });
  await inLog.getByRole("heading", { name: "#0 in the log" }).waitFor();
  assert.ok(page.url().includes(encodeURIComponent(hostileChild)), page.url());
  const pictures = inLog.locator("summary").filter({ hasText: "Image" });
  assert.equal(await pictures.count(), 2, "an SVG and an address are no images");
  await pictures.nth(0).click();
  await page.waitForFunction(() => document.querySelector("img.image")?.naturalWidth === 1);
  assert.match(await pictures.nth(0).textContent(), /<img src=x onerror/);
  await pictures.nth(1).click();
  await inLog.getByText("It is no image that this browser can show.").waitFor();
  await inLog.getByText("https://elsewhere.example/x.png").waitFor();
  await inLog.locator("summary").filter({ hasText: "Image" }).nth(0).scrollIntoViewIfNeeded();
  await page.getByText("A child of").getByRole("link", { name: "full" }).click();
  await page.getByText("1 child", { exact: true }).waitFor();
}

// Names of tools, thinking, arguments and results are as hostile as messages.
async function showsHostileCalls(page) {
  const inLog = page.getByRole("region", { name: "In the log" });
  await list(page, "Log").focus();
  await page.keyboard.press("Home");
  await list(page, "Log").getByText("#2 assistant").click();
  const [thinking, called] = [inLog.locator("details").nth(0), inLog.locator("details").nth(1)];
  assert.match(await called.locator("summary").textContent(), /^Calls <img src=x onerror=/);
  for (const part of [thinking, called]) {
    await part.locator("summary").click();
    assert.match(await part.locator("pre").textContent(), /<script>globalThis\.hacked=1.*⟨U\+202E⟩/s);
    await part.getByRole("button", { name: "Copy" }).click();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), text);
  }
  await list(page, "Log").getByText("#3 tool").click();
  await inLog.locator("summary").filter({ hasText: /^Result of <img/ }).click();
  await inLog.getByRole("button", { name: /^Show all [\d,]+ characters$/ }).click();
  assert.ok((await inLog.locator("pre").textContent()).length > 700_000);
  await inLog.getByRole("button", { name: "Copy" }).click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), text.repeat(5000));
  await fits(page);
  await list(page, "Log").getByText("#2 assistant").click();
  await inLog.getByText("#2 in the log").waitFor();
}

// What is in the window, what would free it, and the curve say texts of a conversation, too.
async function showsAHostileWindow(page) {
  await page.getByText("The window", { exact: true }).click();
  const largest = page.getByRole("table", { name: "The largest messages" });
  await largest.getByRole("row").filter({ hasText: "#3" }).getByText("<img src=x").waitFor();
  await page.getByRole("button", { name: "What would free tokens?" }).click();
  await page.getByText("Nothing was changed.").waitFor();
  await page.getByText("Time", { exact: true }).click();
  await page.getByRole("img", { name: /^Tokens of the view over 7 points/ }).waitFor();
}

async function showsHostileHits(page) {
  await page.getByText("Search", { exact: true }).first().click();
  await page.getByLabel("In all of the log").fill("zero");
  await page.keyboard.press("Enter");
  const hit = page.getByRole("list", { name: "Hits" }).getByRole("button").last();
  await hit.waitFor();
  assert.match(await hit.textContent(), /⟨U\+202E⟩.*⟨U\+200B⟩/);
  assert.equal(await hit.locator("mark").textContent(), "zero");
}

async function showsHostileRequests(page) {
  await page.getByText("Request as JSON").click();
  await page.getByText(/^\d+ elements\./).waitFor();
  await list(page, "Messages of the request").getByText("hacked").first().click();
  const json = page.getByRole("region", { name: "JSON" });
  assert.match(await json.locator("pre").textContent(), /⟨U\+202E⟩/);
  await json.getByRole("button", { name: "Copy" }).click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.ok(copied.includes("\u202e"), "the JSON is copied as it is");
  assert.equal(JSON.parse(copied).content[0].text, text);
  await page.getByText("Request as JSON").click();
}

async function showsALongSession(page) {
  await page.getByRole("link", { name: "All sessions" }).click();
  const begun = Date.now();
  await page.getByRole("link", { name: "long", exact: true }).click();
  await list(page, "Log").getByText("#1 assistant").waitFor();
  const first = Date.now();
  await list(page, "Log").focus();
  await page.keyboard.press("End");
  await list(page, "Log").getByText(`#${long - 1} assistant`).waitFor();
  await list(page, "Log").getByText(`the last of ${long}`).waitFor();
  const end = Date.now();
  await page.getByRole("heading", { name: `View: ${new Intl.NumberFormat("en").format(long)}`, exact: true }).waitFor();
  const whole = Date.now();
  const rows = await page.getByRole("option").count();
  assert.ok(rows < 200, `${rows} rows exist`);
  const frames = await page.evaluate(scrolls, 100);
  frames.sort((a, b) => a - b);
  const at = (share) => frames[Math.floor(share * (frames.length - 1))].toFixed(0);
  await page.getByText("Time", { exact: true }).click();
  const asked = Date.now();
  await page.locator(".curve svg").waitFor();
  console.log(`${long} messages: shown after ${first - begun} ms, at their end after ${end - first} ms more, the whole view after ${whole - begun} ms; ` +
    `a frame of scrolling takes ${at(0.5)} ms, of a hundred 95 take up to ${at(0.95)} ms and the longest ${at(1)} ms; the curve is there after ${Date.now() - asked} ms`);
}

// scrolls goes through the log in some steps, and returns how long each frame took.
async function scrolls(steps) {
  const log = document.querySelector("[aria-label=Log]");
  const frame = () => new Promise((resolve) => { requestAnimationFrame(resolve); });
  const frames = [];
  let before = await frame();
  for (let i = 0; i < steps; i++) {
    log.scrollTop = log.scrollHeight * i / steps;
    const now = await frame();
    frames.push(now - before);
    before = now;
  }
  return frames;
}
