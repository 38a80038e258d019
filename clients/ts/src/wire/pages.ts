/** Iterates over the items of all pages. A page is fetched when its first item is requested. */
export async function* pages<T>(
  page: (pageToken: string) => Promise<readonly [items: readonly T[], nextPageToken: string]>,
): AsyncGenerator<T, void, undefined> {
  let token = "";
  do {
    const [items, next] = await page(token);
    yield* items;
    token = next;
  } while (token !== "");
}
