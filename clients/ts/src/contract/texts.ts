import { texts } from "../gen/texts.js";

/**
 * Returns a text for the agent's model, with `values` for its placeholders. The clients for all languages have the
 * same.
 */
export function modelText(name: keyof typeof texts, values: Readonly<Record<string, string | number>> = {}): string {
  return texts[name].replace(/\{(\w+)\}/g, (_, key: string) => {
    const value = values[key];
    if (value === undefined) {
      throw new TypeError(`the text ${name} needs ${key}`);
    }
    return String(value);
  });
}
