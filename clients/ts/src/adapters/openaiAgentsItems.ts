import { Buffer } from "node:buffer";

import type { AgentInputItem } from "@openai/agents";

import { isObject } from "../contract/arguments.js";

// The SDK's items are those of OpenAI Responses with other names of fields, so a session has the dialect of Responses. What
// Responses has no field for goes along as it is: the log keeps it beside the item. This module's own notes of the form
// that a value had are in fields whose names begin with this.
const note = "agents_";

type Fields = Readonly<Record<string, unknown>>;

/** The types of items that have another name in Responses. */
const types: Readonly<Record<string, string>> = {
  function_call_result: "function_call_output",
  computer_call_result: "computer_call_output",
};
const ownTypes = Object.fromEntries(Object.entries(types).map(([own, other]) => [other, own]));

/** An item as one of OpenAI Responses, of which {@link itemOf} makes the item again. */
export function elementOf(item: AgentInputItem): object {
  // As JSON, as the SDK's own sessions keep items.
  const { callId, ...own } = JSON.parse(JSON.stringify(item, binaryAsText)) as Record<string, unknown>;
  const type = typeof own["type"] === "string" ? own["type"] : "message";
  const made = {
    ...own,
    ...(typeof own["type"] === "string" && { type: types[type] ?? type }),
    ...(callId !== undefined && { call_id: callId }),
  };
  switch (type) {
    case "message":
      return withId(Array.isArray(own["content"]) ? { ...made, content: own["content"].map(contentElement) } : made);
    case "reasoning":
      return withId(reasoningElement(made));
    case "function_call":
      return withoutId(made);
    case "function_call_result":
      return withoutId({ ...made, ...outputElement(own["output"]) });
    default:
      return made;
  }
}

/** The SDK's item for one of OpenAI Responses, such as one of a view. */
export function itemOf(element: object): AgentInputItem {
  const { call_id: callId, ...made } = element as Record<string, unknown>;
  const type = typeof made["type"] === "string" ? made["type"] : "message";
  const own = {
    ...made,
    ...(typeof made["type"] === "string" && { type: ownTypes[type] ?? type }),
    ...(callId !== undefined && { callId }),
  };
  return itemWith(type, own) as unknown as AgentInputItem;
}

function itemWith(type: string, own: Fields): Fields {
  switch (type) {
    case "message":
      return withOwnId(messageItem(own));
    case "reasoning":
      return withOwnId(reasoningItem(own));
    case "function_call_output":
      return resultItem(own);
    default:
      return own;
  }
}

/** What two items have in common that are the same but for the order of fields: the daemon writes them in its own. */
export function keyOf(element: object): string {
  return JSON.stringify(element, (_key, value: unknown) =>
    isObject(value) && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  );
}

/** Bytes as the SDK's own sessions keep them, whose kind is beside them. */
function binaryAsText(this: unknown, key: string, value: unknown): unknown {
  // A Buffer has become an object already.
  const own = isObject(this) ? this[key] : undefined;
  if (!(own instanceof Uint8Array)) {
    return value;
  }
  const kind = isObject(this) && typeof this["mediaType"] === "string" ? this["mediaType"] : "text/plain";
  return `data:${kind};base64,${Buffer.from(own).toString("base64")}`;
}

/** Ids of calls and their results, which the SDK's own sessions drop: an item is the same before and after. */
function withoutId(made: Fields): Fields {
  return Object.fromEntries(Object.entries(made).filter(([key]) => key !== "id"));
}

/** An id that no provider of Responses would make is kept beside: a request must not have it. */
function withId({ id, ...rest }: Fields): Fields {
  if (id === undefined) {
    return rest;
  }
  return typeof id === "string" && /^(msg|rs)_/.test(id) ? { ...rest, id } : { ...rest, [`${note}id`]: id };
}

function withOwnId({ [`${note}id`]: own, ...rest }: Fields): Fields {
  return own === undefined ? rest : { ...rest, id: own };
}

/** A part of a message or an output. What stands for a medium has a name of its own for each form. */
function contentElement(part: Fields): Fields {
  const { image, file, audio, format, ...rest } = part;
  switch (part["type"]) {
    case "input_image":
      return { ...rest, ...placed(image, "image_url", "image_url") };
    case "input_file":
      return { ...rest, ...placed(file, "file_url", "file_data") };
    case "audio":
      return typeof audio === "string"
        ? { ...rest, type: "input_audio", input_audio: { data: audio, ...(format !== undefined && { format }) } }
        : part;
    default:
      return part;
  }
}

function placed(source: unknown, address: string, data: string): Fields {
  if (typeof source === "string") {
    const isAddress = /^https?:/.test(source);
    return { [isAddress ? address : data]: source, ...(isAddress && address !== data && { [`${note}form`]: "text" }) };
  }
  if (isObject(source) && typeof source["id"] === "string") {
    return { file_id: source["id"] };
  }
  return isObject(source) && typeof source["url"] === "string" ? { [address]: source["url"] } : {};
}

function contentItem(element: Fields): Fields {
  const { image_url: imageUrl, file_url: fileUrl, file_data: data, file_id: id, input_audio: heard, ...rest } = element;
  const { [`${note}form`]: form, ...kept } = rest;
  const byId = id === undefined ? undefined : { id };
  switch (element["type"]) {
    case "input_image":
      return { ...kept, image: imageUrl ?? byId };
    case "input_file":
      return { ...kept, file: data ?? byId ?? (form === "text" ? fileUrl : { url: fileUrl }) };
    case "input_audio": {
      const { data: audio, format } = isObject(heard) ? heard : {};
      return { ...kept, type: "audio", audio, ...(format !== undefined && { format }) };
    }
    default:
      return element;
  }
}

/** A message of a view can have its text in the short form, which the SDK wants in a list for the model's. */
function messageItem(own: Fields): Fields {
  const { content } = own;
  if (Array.isArray(content)) {
    return { ...own, content: content.map(contentItem) };
  }
  if (own["role"] !== "assistant") {
    return own["role"] === "developer" ? { ...own, role: "system" } : own;
  }
  return { status: "completed", ...own, content: [{ type: "output_text", text: content }] };
}

/** The encrypted content of reasoning stands where Responses has it, and the texts are its summary. */
function reasoningElement({ content, providerData, ...rest }: Fields): Fields {
  const { encrypted_content: snake, encryptedContent: camel, ...data } = isObject(providerData) ? providerData : {};
  const texts = Array.isArray(content) ? (content as Fields[]) : [];
  const beside = texts.map((text) =>
    Object.fromEntries(Object.entries(text).filter(([key]) => key !== "type" && key !== "text")),
  );
  return {
    ...rest,
    summary: texts.map(({ text }) => ({ type: "summary_text", text })),
    ...(beside.some((fields) => Object.keys(fields).length > 0) && { [`${note}texts`]: beside }),
    ...(isObject(providerData) && { providerData: data }),
    ...((snake ?? camel) !== undefined && { encrypted_content: snake ?? camel }),
    ...(snake === undefined && camel !== undefined && { [`${note}form`]: "camel" }),
  };
}

function reasoningItem(own: Fields): Fields {
  const {
    summary,
    encrypted_content: sealed,
    providerData,
    [`${note}form`]: form,
    [`${note}texts`]: noted,
    ...rest
  } = own;
  const texts = Array.isArray(summary) ? (summary as Fields[]) : [];
  const beside = Array.isArray(noted) && noted.length === texts.length ? (noted as Fields[]) : [];
  const key = form === "camel" ? "encryptedContent" : "encrypted_content";
  const data = { ...(isObject(providerData) && providerData), ...(sealed !== undefined && { [key]: sealed }) };
  return {
    ...rest,
    content: texts.map((text, at) => ({ ...text, type: "input_text", ...beside[at] })),
    ...((isObject(providerData) || sealed !== undefined) && { providerData: data }),
  };
}

/** The output of a call: a text, a list of parts, or an object of the SDK for one of these. */
function outputElement(output: unknown): Fields {
  if (Array.isArray(output)) {
    return { output: output.map(contentElement) };
  }
  if (!isObject(output)) {
    return { output };
  }
  const { type, text, image, file, ...rest } = output;
  if (type === "text") {
    return { output: text, [`${note}output`]: { type, ...rest } };
  }
  const source = type === "image" ? image : file;
  const made = contentElement({ type: `input_${String(type)}`, ...mediumOf(type, source), ...detailOf(rest) });
  return { output: [made], [`${note}output`]: { type, ...rest, ...formOf(source) } };
}

function detailOf({ detail }: Fields): Fields {
  return detail === undefined ? {} : { detail };
}

/** The forms of a medium in an output, in one that parts of messages have. */
function mediumOf(type: unknown, source: unknown): Fields {
  const key = type === "image" ? "image" : "file";
  if (!isObject(source)) {
    return source === undefined ? {} : { [key]: source };
  }
  const { data, mediaType, url, fileId, id, filename } = source;
  const named = filename === undefined ? {} : { filename };
  if (typeof data === "string") {
    return {
      ...named,
      [key]: data.startsWith("data:") ? data : `data:${typeof mediaType === "string" ? mediaType : ""};base64,${data}`,
    };
  }
  if (url !== undefined) {
    return { ...named, [key]: type === "image" ? url : { url } };
  }
  return { ...named, [key]: { id: fileId ?? id } };
}

/** All of a source but what it stands for: enough to have it again. */
function formOf(source: unknown): Fields {
  if (!isObject(source)) {
    return {};
  }
  const { data, ...rest } = source;
  return { form: { ...rest, ...(typeof data === "string" && { data: data.startsWith("data:") ? "url" : "base64" }) } };
}

function resultItem(own: Fields): Fields {
  const { output, [`${note}output`]: noted, ...rest } = own;
  const name = typeof rest["name"] === "string" ? {} : { name: String(rest["callId"]) };
  const result = { ...name, status: "completed", ...rest };
  const parts = Array.isArray(output) ? (output as Fields[]) : undefined;
  if (!isObject(noted)) {
    return { ...result, output: parts?.map(contentItem) ?? output };
  }
  const { form, ...fields } = noted;
  if (fields["type"] === "text" && typeof output === "string") {
    return { ...result, output: { ...fields, text: output } };
  }
  const [only] = parts ?? [];
  if (parts?.length !== 1 || only?.["type"] !== `input_${String(fields["type"])}`) {
    // An edit shows something else in its place.
    return { ...result, output: parts?.map(contentItem) ?? output };
  }
  const key = String(fields["type"]);
  const shown = contentItem(only)[key];
  return { ...result, output: { ...fields, ...(shown !== undefined && { [key]: sourceOf(shown, form) }) } };
}

function sourceOf(shown: unknown, form: unknown): unknown {
  if (!isObject(form)) {
    return shown;
  }
  const { data, ...rest } = form;
  if (data === undefined) {
    return rest;
  }
  return { ...rest, data: data === "url" ? shown : String(shown).replace(/^data:[^,]*,/, "") };
}
