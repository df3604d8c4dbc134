"use strict";
// A pager for the pairs of runs: one pair is shown, all others are a step away. Without this script all are shown.
const agentmutPager = (place) => {
  const pairs = [...place.querySelectorAll(".pair")];
  if (pairs.length < 2) return;
  const made = (tag, attributes, text = "") => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.textContent = text;
    return node;
  };
  const button = (text) => made("button", { type: "button", class: "quiet" }, text);
  const back = button("Previous run"), on = button("Next run");
  const says = made("span", { role: "status", class: "hint" });
  let at = 0;
  const go = (to) => {
    at = Math.max(0, Math.min(pairs.length - 1, to));
    pairs.forEach((pair, number) => { pair.hidden = number !== at; });
    says.textContent = `Pair ${at + 1} of ${pairs.length}`;
    back.disabled = at === 0;
    on.disabled = at === pairs.length - 1;
  };
  back.addEventListener("click", () => go(at - 1));
  on.addEventListener("click", () => go(at + 1));
  const bar = made("div", { class: "pager", role: "group", "aria-label": "Pairs of runs" });
  bar.append(back, on, says);
  place.insertBefore(bar, pairs[0]);
  go(0);
};

// A copy button beside lines. Where the browser gives no clipboard, the lines are selected, to be copied by hand.
const agentmutCopy = (button) => {
  const lines = button.parentElement.querySelector("pre");
  const say = (text) => { button.textContent = text; };
  const select = () => { getSelection().selectAllChildren(lines); say("Selected: copy it"); };
  button.setAttribute("aria-live", "polite");
  button.addEventListener("click", () => {
    if (!navigator.clipboard) { select(); return; }
    navigator.clipboard.writeText(lines.textContent).then(() => say("Copied"), select);
  });
};
const agentmutPage = (place) => {
  place.querySelectorAll("[data-pairs]").forEach(agentmutPager);
  place.querySelectorAll("[data-copy]").forEach(agentmutCopy);
};
