// Assertions in JavaScript.
"use strict";
module.exports = (output) => ({ pass: output.includes("5 days"), score: 1, reason: "read" });
module.exports.broken = (output) => output.no.such.thing;
