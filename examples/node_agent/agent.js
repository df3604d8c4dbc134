// A desk assistant with a tool loop of its own, on the `openai` package. It knows nothing of agentmut: endpoint and key
// come from OPENAI_BASE_URL and OPENAI_API_KEY, as always.
//
//   node agent.js [--stream] [--max-steps 4] "Please renew my loan. My card is R-4711."
//
// Several turns of a conversation are a JSON list. The answer to the last one is printed.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";

import OpenAI from "openai";

import { TOOLS, carryOut } from "./tools.js";

const SETTINGS = { model: "sim-large", temperature: 0.2, seed: 7, max_tokens: 300 };

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { stream: { type: "boolean", default: false }, "max-steps": { type: "string", default: "4" } },
});
const client = new OpenAI();

const read = (path) => readFileSync(new URL(path, import.meta.url), "utf8").trim();
const system = `${read("prompts/desk.md")}

<document name="opening-hours">
${read("docs/opening-hours.md")}
</document>`;

async function ask(messages) {
  const request = { ...SETTINGS, messages, tools: TOOLS };
  if (!options.stream) return (await client.chat.completions.create(request)).choices[0].message;
  return assembled(await client.chat.completions.create({ ...request, stream: true }));
}

// One message of the pieces of a stream; those of a call are told apart by its index.
async function assembled(stream) {
  const message = { role: "assistant", content: "" };
  const calls = [];
  for await (const chunk of stream) {
    const delta = chunk.choices[0]?.delta ?? {};
    message.content += delta.content ?? "";
    for (const piece of delta.tool_calls ?? []) {
      const call = (calls[piece.index] ??= { id: "", type: "function", function: { name: "", arguments: "" } });
      call.id ||= piece.id ?? "";
      call.function.name += piece.function?.name ?? "";
      call.function.arguments += piece.function?.arguments ?? "";
    }
  }
  return calls.length ? { ...message, tool_calls: calls } : message;
}

// Answer one turn; what was said and done is added to the messages.
async function answer(messages, turn) {
  messages.push({ role: "user", content: turn });
  for (let step = 0; step < Number(options["max-steps"]); step++) {
    const said = await ask(messages);
    messages.push(said);
    if (!said.tool_calls?.length) return said.content;
    for (const call of said.tool_calls) {
      messages.push({ role: "tool", tool_call_id: call.id, content: carryOut(call) });
    }
  }
  return "I could not finish this.";
}

const [asked] = positionals;
const turns = asked.startsWith("[") ? JSON.parse(asked) : [asked];
const messages = [{ role: "system", content: system }];
let last = "";
for (const turn of turns) last = await answer(messages, turn);
console.log(last);
