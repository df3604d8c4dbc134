// A model that grades, without a model: an answer is good if it says "5 days". `down`: it cannot be asked.
"use strict";
const DOWN = { error: "API error: 503 the grader is down" };

module.exports = class Grader {
  constructor(options) {
    this.down = Boolean(options.config?.down);
  }
  id() {
    return "grader";
  }
  async callApi(prompt) {
    if (this.down) return DOWN;
    const good = prompt.includes("5 days");
    if (prompt.includes('"steps"')) return { output: '{"steps": ["Read it."]}' };
    const said = { pass: good, score: good ? 10 : 0, category: good ? "A" : "D" };
    return { output: JSON.stringify({ ...said, reason: good ? "5 days" : "a while" }) + (good ? "\nY" : "\nN") };
  }
  async callEmbeddingApi(text) {
    return this.down ? DOWN : { embedding: text.includes("5 days") ? [1, 0.1] : [0.1, 1] };
  }
  async callClassificationApi(text) {
    return this.down ? DOWN : { classification: { exact: text.includes("5 days") ? 0.9 : 0.1 } };
  }
  async callModerationApi(prompt, answer) {
    const flag = { code: "vague", description: "vague", confidence: 1 };
    return this.down ? DOWN : { flags: answer.includes("5 days") ? [] : [flag] };
  }
};
