/** All items of a list that comes in pages, fetched as they are read. */
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
