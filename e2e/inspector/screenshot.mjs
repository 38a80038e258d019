// Makes the picture of the inspector for the README: of what `compactord inspect` shows of the example transcript.

import { readFileSync } from "node:fs";
import { list, sound, watched, withBrowser } from "./page.mjs";

const { executable, address, picture } = JSON.parse(readFileSync(0, "utf8"));
const { origin } = new URL(address);

await withBrowser(executable, async (browser) => {
  const context = await browser.newContext({ colorScheme: "light", viewport: { width: 1120, height: 820 }, locale: "en-GB", timezoneId: "UTC" });
  const { page, wrong } = await watched(context, (url) => url.startsWith(`${origin}/`));
  await page.goto(address);
  await page.getByRole("meter").first().waitFor();
  await list(page, "Log").getByText("covered").first().click();
  const inView = page.getByRole("region", { name: "In the view" });
  // The first one stands in the sentence that explains what a citation is.
  const citation = inView.locator(".cite").nth(1);
  const name = await citation.textContent();
  await citation.click();
  await page.getByRole("region", { name: "In the log" }).getByRole("heading", { name: `${name} in the log` }).waitFor();
  await citation.evaluate((cite) => cite.closest(".side").scrollBy(0, cite.getBoundingClientRect().top - cite.closest(".side").getBoundingClientRect().top - 120));
  await sound(page, wrong);
  await page.mouse.move(0, 0);
  await page.evaluate(() => {
    document.activeElement.blur();
    scrollTo(0, 0);
  });
  await page.screenshot({ path: picture, animations: "disabled", caret: "hide" });
});
