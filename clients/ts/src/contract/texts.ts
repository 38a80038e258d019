import { texts } from "../gen/texts.js";

/** A text for the agent's model, the same as the clients for other languages have: `values` go into its braces. */
export function told(name: keyof typeof texts, values: Readonly<Record<string, string | number>> = {}): string {
  return texts[name].replace(/\{(\w+)\}/g, (_, key: string) => {
    const value = values[key];
    if (value === undefined) {
      throw new TypeError(`the text ${name} needs ${key}`);
    }
    return String(value);
  });
}
