// What the agents of this folder share: their instructions and their one tool.
export const PROMPT = "You help customers.\n\n- Always look up the order before you answer.\n- Never promise a date.";
export const DESCRIPTION = "Look up an order by its number.";
export const PARAMETERS = { type: "object", properties: { order_id: { type: "string" } }, required: ["order_id"] };
export const lookUpOrder = ({ order_id }) => `${order_id} was delivered on Monday.`;
