"use strict";
(() => {
  const EVERY = 1000;
  const byId = (id) => document.getElementById(id);
  const say = (id, text) => { if (byId(id).textContent !== text) byId(id).textContent = text; };
  const cell = (tag, text, kind) => {
    const made = document.createElement(tag);
    if (kind) made.className = kind;
    made.textContent = text;
    return made;
  };
  const fill = (id, rows) => byId(id).replaceChildren(...rows);
  const change = (one) => {
    const row = document.createElement("tr");
    const head = cell("th", one.description);
    head.scope = "row";
    const status = document.createElement("td");
    status.append(cell("span", one.status, `badge s-${one.kind}`));
    if (one.note) status.append(cell("span", one.note, "note"));
    row.append(head, cell("td", one.operator), status);
    return row;
  };
  const scenario = (one) => {
    const row = document.createElement("tr");
    const head = cell("th", one.name);
    head.scope = "row";
    row.append(head, ...[one.passes, one.trials, one.wanted].map((number) => cell("td", String(number), "num")));
    return row;
  };
  let stopping = false;
  const show = (now) => {
    say("state", now.state);
    byId("progress").value = now.share;
    say("share", now.progress);
    say("score", now.score);
    say("counts", now.counts);
    say("trials", now.trials);
    say("reused", now.reused);
    say("cost", now.cost);
    say("time", now.time);
    say("unnoticed-count", String(now.unnoticed_count));
    say("decisions-count", String(now.decided));
    fill("unnoticed", now.unnoticed.map(change));
    fill("decisions", now.decisions.map(change));
    fill("baseline", now.baseline.map(scenario));
    byId("stop").disabled = stopping || now.ended || !now.stoppable;
    document.documentElement.dataset.ready = "";
    return now.ended;
  };
  const gone = () => {
    say("state", "The command has ended, or cannot be reached.");
    byId("stop").disabled = true;
    document.documentElement.dataset.gone = "";
  };
  const ask = async () => {
    let ended = false;
    try {
      const reply = await fetch("state", { cache: "no-store" });
      if (reply.status === 503) { setTimeout(ask, EVERY); return; }
      if (!reply.ok) throw new Error(String(reply.status));
      ended = show(await reply.json());
    } catch {
      gone();
      return;
    }
    if (!ended) setTimeout(ask, EVERY);
  };
  let sure = false;
  byId("stop").addEventListener("click", async () => {
    if (!sure) {
      sure = true;
      say("stop", "Really stop it");
      setTimeout(() => { sure = false; if (!stopping) say("stop", "Stop the run"); }, 5000);
      return;
    }
    stopping = true;
    byId("stop").disabled = true;
    say("stop", "Stopping");
    try {
      await fetch("stop", { method: "POST" });
    } catch {
      gone();
    }
  });
  ask();
})();
