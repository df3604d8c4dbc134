// A provider that hands each call to the campaign which started promptfoo, and gives back what it is told.
"use strict";
const fs = require("fs");
const net = require("net");
const path = require("path");
const { pathToFileURL } = require("url");

const STEP = /^test-(\d+)-prompt-(\d+)-/;

// `told`: where the campaign listens, its token, and the cells (test-column) that it waits for.
module.exports = (number, told) =>
  class Slot {
    id() {
      return `agentmut:${number}`;
    }

    async callApi(prompt, context, options) {
      const step = STEP.exec(context?.vars?.__evalStepId ?? "");
      if (!step) return { error: "agentmut: this version of promptfoo does not say which test it runs" };
      const cell = `${step[1]}-${step[2]}`;
      if (!told.wanted.includes(cell)) return { error: "agentmut: not asked for" };
      const question = { cell, prompt, vars: context.vars, context: shown(context) };
      return asked(told, question, (known) => called(known, prompt, context, options));
    }
  };

// Ask the campaign. It has the answer, or names the provider that is to be called.
async function asked(told, question, call) {
  const socket = net.connect(told.port, "127.0.0.1");
  try {
    const lines = received(socket);
    socket.write(JSON.stringify({ token: told.token, ...question }) + "\n");
    const answer = await next(lines);
    if (!answer.delegate) return answer;
    const response = await call(answer.delegate).catch((error) => ({ error: String(error?.message ?? error) }));
    socket.write(JSON.stringify(response) + "\n");
    await next(lines);
    return response;
  } finally {
    socket.destroy();
  }
}

// What promptfoo tells a provider beside the prompt, as far as it is data.
function shown({ vars, prompt, test }) {
  const { description, metadata, options } = test ?? {};
  return { vars, prompt, test: { description, metadata, options, vars: test?.vars } };
}

async function* received(socket) {
  let held = "";
  socket.setEncoding("utf8");
  for await (const chunk of socket) {
    held += chunk;
    for (let end; (end = held.indexOf("\n")) >= 0; held = held.slice(end + 1)) yield held.slice(0, end);
  }
}

async function next(lines) {
  const { value, done } = await lines.next();
  if (done) throw new Error("agentmut: the campaign has ended");
  return JSON.parse(value);
}

// The user's own provider, as promptfoo itself loads it.
async function called({ id, options }, prompt, context, callOptions) {
  const folder = packageOf(fs.realpathSync(process.argv[1]));
  const entry = JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8")).main;
  const { loadApiProvider } = await import(pathToFileURL(path.join(folder, entry)).href);
  const provider = await loadApiProvider(id, { options, env: options.env });
  return provider.callApi(prompt, context, callOptions);
}

function packageOf(file) {
  const folder = path.dirname(file);
  if (folder === file) throw new Error("agentmut: promptfoo's package is not around its program");
  const found = path.join(folder, "package.json");
  if (fs.existsSync(found) && JSON.parse(fs.readFileSync(found, "utf8")).name === "promptfoo") return folder;
  return packageOf(folder);
}
