// An agent on Anthropic's package for JavaScript: a loop of our own around `messages.create`.
import Anthropic from "@anthropic-ai/sdk";
import { PROMPT, PARAMETERS, DESCRIPTION, lookUpOrder } from "./tools.mjs";

const client = new Anthropic();
const tools = [{ name: "look_up_order", description: DESCRIPTION, input_schema: PARAMETERS }];
const messages = [{ role: "user", content: process.argv[2] }];
for (let step = 0; step < 5; step++) {
  const said = await client.messages.create({ model: "sim-large", max_tokens: 1000, system: PROMPT, messages, tools });
  const calls = said.content.filter((block) => block.type === "tool_use");
  if (!calls.length) {
    console.log(said.content.map((block) => block.text).join(""));
    break;
  }
  const results = calls.map((call) => ({ type: "tool_result", tool_use_id: call.id, content: lookUpOrder(call.input) }));
  messages.push({ role: "assistant", content: said.content }, { role: "user", content: results });
}
