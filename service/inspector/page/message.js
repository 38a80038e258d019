// One message: its parts, with tools and thinking collapsed.

import { element, fill } from "./dom.js";
import { count, line, shown, words } from "./text.js";

const mostAtOnce = 20_000;
const citation = /\[#(\d+(?:, ?#\d+)*)\]/g;

// showMessage returns the parts of a message. cite, where it is given, is called with the index that a citation names.
export function showMessage(message, cite) {
  return element("div", { class: "message" }, ...(message.parts ?? []).map((part) => showPart(part, cite)));
}

function showPart(part, cite) {
  if (part.text) {
    return showText(part.text.text ?? "", cite);
  }
  if (part.thinking) {
    return collapsed("Thinking", part.thinking.redacted ? element("p", {}, "The provider has redacted it.") : showText(part.thinking.text ?? ""));
  }
  if (part.toolCall) {
    return collapsed(`Calls ${line(part.toolCall.name, 80)}`, showText(part.toolCall.arguments ?? ""));
  }
  if (part.toolResult) {
    const title = `${part.toolResult.isError ? "Failed result" : "Result"} of ${line(part.toolResult.name ?? "a call", 80)}`;
    return collapsed(title, ...(part.toolResult.parts ?? []).map((p) => showPart(p)));
  }
  if (part.media) {
    return showMedia(part.media);
  }
  return collapsed(`An item of ${words(part.opaque?.dialect ?? "DIALECT_", "DIALECT_")}: ${line(part.opaque?.type ?? "", 80)}`, showText(part.opaque?.json ?? ""));
}

// Kinds of images that are nothing but pixels.
const images = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

// showMedia shows an image that the log holds, once it is asked for. What stands elsewhere is named and never loaded.
function showMedia(media) {
  const name = `${line(media.mimeType ?? "", 80)}${media.name ? `, ${line(media.name, 80)}` : ""}`;
  if (!media.data || !images.has(media.mimeType)) {
    const where = media.uri ?? media.fileId;
    return element("p", { class: "note" }, `Media, ${name}${where ? `, ${line(where, 300)}` : ""}`);
  }
  const inside = element("div");
  return element("details", { ontoggle: (event) => { if (event.target.open && !inside.firstChild) fill(inside, imageOf(media, name)); } },
    element("summary", {}, `Image, ${name}`), inside);
}

function imageOf({ mimeType, data }, name) {
  const bytes = Uint8Array.from(atob(data), (character) => character.codePointAt(0));
  const address = URL.createObjectURL(new Blob([bytes], { type: mimeType }));
  const done = () => URL.revokeObjectURL(address);
  const image = element("img", { class: "image", src: address, alt: name, onload: done, onerror: () => {
    done();
    image.replaceWith(element("p", { class: "note" }, "It is no image that this browser can show."));
  } });
  return image;
}

function collapsed(title, ...inside) {
  return element("details", {}, element("summary", {}, title), ...inside);
}

// showText shows a text: the beginning of a long one, until all of it is asked for.
export function showText(text, cite) {
  const pre = element("pre", { dir: "auto" });
  const show = (part) => fill(pre, ...(cite ? withCitations(part, cite) : [shown(part)]));
  const copy = element("button", { class: "small", onclick: () => navigator.clipboard.writeText(text) }, "Copy");
  const tools = element("p", { class: "tools" }, copy);
  if (text.length > mostAtOnce) {
    show(whole(text.slice(0, mostAtOnce)));
    const all = element("button", { class: "small", onclick: () => { show(text); all.remove(); } }, `Show all ${count(text.length)} characters`);
    tools.append(all);
  } else {
    show(text);
  }
  return element("div", {}, pre, tools);
}

// whole leaves out half a character at the end.
function whole(text) {
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
}

// withCitations returns a text with a button for each message that it cites.
function withCitations(text, cite) {
  const made = [];
  let at = 0;
  for (const match of text.matchAll(citation)) {
    made.push(shown(text.slice(at, match.index)));
    at = match.index + match[0].length;
    made.push("[", ...match[1].split(/, ?/).flatMap((ref, i) => {
      const name = ref.startsWith("#") ? ref : `#${ref}`;
      return [i > 0 ? ", " : "", element("button", { class: "cite", onclick: () => cite(Number(name.slice(1))) }, name)];
    }), "]");
  }
  made.push(shown(text.slice(at)));
  return made;
}

// firstWords returns how a message begins, in one line.
export function firstWords(message) {
  for (const part of message.parts ?? []) {
    if (part.text?.text) {
      return line(part.text.text);
    }
    if (part.toolCall) {
      return line(`${part.toolCall.name} ${part.toolCall.arguments ?? ""}`);
    }
    const result = part.toolResult?.parts?.find((p) => p.text?.text);
    if (result) {
      return line(result.text.text);
    }
  }
  return "";
}
