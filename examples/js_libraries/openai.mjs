// An agent on OpenAI's package for JavaScript: its own loop, `runTools`.
import OpenAI from "openai";
import { PROMPT, PARAMETERS, DESCRIPTION, lookUpOrder } from "./tools.mjs";

const look = { name: "look_up_order", description: DESCRIPTION, parameters: PARAMETERS, parse: JSON.parse, function: lookUpOrder };
const runner = new OpenAI().chat.completions.runTools({
  model: "sim-large",
  messages: [
    { role: "system", content: PROMPT },
    { role: "user", content: process.argv[2] },
  ],
  tools: [{ type: "function", function: look }],
});
console.log(await runner.finalContent());
