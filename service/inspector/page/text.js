// Texts of conversations, as people can read them safely.

// Characters that a reader does not see, or that turn the order of what follows: each is shown by its code.
const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;

// shown returns a text with its unseen characters written as ⟨U+202E⟩.
export function shown(text) {
  return text.replace(unseen, (c) => `⟨U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

// line returns the beginning of a text as one line.
export function line(text, most = 200) {
  const start = text.slice(0, 4 * most).replace(/\s+/gu, " ").trim();
  const characters = [...start];
  return shown(characters.slice(0, most).join("")) + (characters.length > most || text.length > 4 * most ? " …" : "");
}

// count returns a number with separators.
export function count(n) {
  return new Intl.NumberFormat("en").format(n);
}

// words returns the name of an enum's value for people: "MESSAGE_STATE_PUT_ASIDE" is "put aside".
export function words(name, prefix) {
  return name.slice(prefix.length).toLowerCase().replaceAll("_", " ");
}

// time returns a time as people read it, without seconds where none are asked for.
/** @param {string | undefined} iso @param {"short" | "medium"} [timeStyle] */
export function time(iso, timeStyle = "short") {
  return iso ? new Date(iso).toLocaleString(undefined, { dateStyle: "medium", timeStyle }) : "";
}

// counted returns a number with its noun. many is its plural, where that is not made with an s.
export function counted(n, noun, many = `${noun}s`) {
  return `${count(n)} ${n === 1 ? noun : many}`;
}

// joined returns those facts that there are, as one line.
export function joined(...facts) {
  return facts.filter(Boolean).join(" · ");
}

// capital returns a text that begins with a capital letter.
export function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
