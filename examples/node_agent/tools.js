// What the assistant can do. In production these ask the library's own system.
import { readFileSync } from "node:fs";

export const TOOLS = JSON.parse(readFileSync(new URL("./tools.json", import.meta.url), "utf8"));

const CARDS = {
  "R-4711": { reader: "Ada Brook", fee: 0, phone: "555 0147" },
  "R-4712": { reader: "Ben Hill", fee: 12, phone: "555 0148" },
};

const FUNCTIONS = {
  check_card: ({ card_number }) => CARDS[card_number] ?? { error: "no such card" },
  renew_loan: ({ card_number }) => (CARDS[card_number] ? { renewed: true, until: "14 May" } : { error: "no such card" }),
  report_loss: ({ copies = 1 }) => ({ report: "L-88", copies }),
};

// The result of a call as text. The model is told what goes wrong.
export function carryOut(call) {
  try {
    const carried = FUNCTIONS[call.function.name];
    if (!carried) throw new Error(`there is no tool ${call.function.name}`);
    return JSON.stringify(carried(JSON.parse(call.function.arguments || "{}")));
  } catch (error) {
    return JSON.stringify({ error: error.message });
  }
}
