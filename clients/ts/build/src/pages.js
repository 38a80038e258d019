/** All items of a list that comes in pages, fetched as they are read. */
export async function* pages(page) {
    let token = "";
    do {
        const [items, next] = await page(token);
        yield* items;
        token = next;
    } while (token !== "");
}
