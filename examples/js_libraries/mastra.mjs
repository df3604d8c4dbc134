// An agent on Mastra.
import { createOpenAI } from "@ai-sdk/openai";
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";
import { PROMPT, DESCRIPTION, lookUpOrder } from "./tools.mjs";

const look = createTool({
  id: "look_up_order",
  description: DESCRIPTION,
  inputSchema: z.object({ order_id: z.string() }),
  execute: async (input) => lookUpOrder(input),
});
const agent = new Agent({
  id: "desk",
  name: "desk",
  instructions: PROMPT,
  model: createOpenAI({ baseURL: process.env.OPENAI_BASE_URL }).chat("sim-large"),
  tools: { look_up_order: look },
});
console.log((await agent.generate(process.argv[2])).text);
