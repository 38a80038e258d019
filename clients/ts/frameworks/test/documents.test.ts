import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";

import { embedded } from "compactord";

import { compiled } from "./readme.js";

const client = await embedded();
after(() => client.close());

const usage = { input_tokens: 10, output_tokens: 5 };
const anthropicAnswer = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m",
  content: [{ type: "text", text: "I heard you." }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage,
};
const openaiAnswer = {
  id: "resp_1",
  object: "response",
  status: "completed",
  model: "m",
  output: [
    {
      type: "message",
      id: "msg_1",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "I heard you.", annotations: [] }],
    },
  ],
  usage: { ...usage, total_tokens: 15 },
};

test("the code of the documents passes tsc, and runs", async () => {
  const server = createServer((request, response) => {
    request.resume();
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(request.url?.endsWith("/responses") ? openaiAnswer : anthropicAnswer));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  process.env["ANTHROPIC_BASE_URL"] = url;
  process.env["OPENAI_BASE_URL"] = `${url}/v1`;
  process.env["OPENAI_API_KEY"] = "none";
  process.env["OPENAI_AGENTS_DISABLE_TRACING"] = "1";
  process.env["ANTHROPIC_API_KEY"] = "none";
  process.env["COMPACTORD_ADDR"] = client.address;
  process.env["LANGSMITH_TRACING"] = "false";
  for (const [document, heading] of [
    ["clients/ts/README.md", "### Vercel AI SDK"],
    ["clients/ts/README.md", "### LangChain and LangGraph"],
    ["clients/ts/README.md", "### OpenAI Agents SDK"],
    ["docs/frameworks.md", "## Vercel AI SDK"],
    ["docs/frameworks.md", "## LangChain and LangGraph for JavaScript"],
    ["docs/frameworks.md", "## OpenAI Agents SDK for JavaScript"],
  ] as const) {
    await import(pathToFileURL(compiled(document, heading)).href);
    const said = [];
    for await (const { message } of client.session("support-42").messages()) {
      said.push(message?.parts[0]?.kind.case === "text" ? message.parts[0].kind.value.text : "");
    }
    assert.deepEqual(said, ["What did we decide?", "I heard you."]);
    await client.deleteSession("support-42");
  }
});
