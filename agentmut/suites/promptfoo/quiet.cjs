// Loaded before promptfoo. Even with its telemetry off it reports that much; no name of its services is resolved here.
"use strict";
const dns = require("dns");

const OWN = /(^|\.)promptfoo\.(app|dev)$/i;
const lookup = dns.lookup;

dns.lookup = function (name, options, callback) {
  const done = typeof options === "function" ? options : callback;
  if (!OWN.test(String(name))) return lookup.call(dns, name, options, callback);
  const error = Object.assign(new Error(`agentmut: ${name} is not asked`), { code: "ENOTFOUND", hostname: name });
  process.nextTick(done, error);
};
