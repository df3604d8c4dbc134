// An agent on the Vercel AI SDK.
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, jsonSchema, stepCountIs, tool } from "ai";
import { PROMPT, PARAMETERS, DESCRIPTION, lookUpOrder } from "./tools.mjs";

const { text } = await generateText({
  model: createOpenAI({ baseURL: process.env.OPENAI_BASE_URL }).chat("sim-large"),
  system: PROMPT,
  prompt: process.argv[2],
  tools: { look_up_order: tool({ description: DESCRIPTION, inputSchema: jsonSchema(PARAMETERS), execute: lookUpOrder }) },
  stopWhen: stepCountIs(5),
});
console.log(text);
