(() => {
  // Everything from the data is put in as text: no markup is ever made from strings.
  const data = JSON.parse(document.getElementById("data").textContent);
  const rows = data.mutants, byId = new Map(rows.map((row) => [row.id, row]));
  const say = (number) => data.strings[number];
  const label = (status) => status.replaceAll("_", " ");
  const PAGE = 100, PATHS = 1500, PRINTED = 200;
  const get = (id) => document.getElementById(id);

  const fill = (node, attributes, children) => {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value !== null && value !== false) node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return node;
  };
  const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
  const svg = (tag, attributes, ...children) =>
    fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
  const badge = (status) => el("span", { class: `badge s-${status}` }, label(status));
  const counted = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
  const ticked = (text) => text.split("`").map((part, i) => (i % 2 ? el("code", {}, part) : part));
  const breakable = (name) => name.split(/(?<=[._/])/).flatMap((part, i) => (i ? [el("wbr"), part] : [part]));
  const two = (value) => (value === null ? "–" : value.toFixed(2));

  // ---- filters, and their place in the address -----------------------------------------------------------------
  const form = get("filters"), body = get("list").tBodies[0];
  const FIELDS = ["status", "class", "operator", "scenario", "q"];
  let shown = PAGE, kept = rows, sorting = { key: "", down: false };
  for (const name of data.scenarios) form.elements.scenario.append(el("option", { value: name }, name));

  const readForm = () => Object.fromEntries(FIELDS.map((name) => [name, form.elements[name].value]));
  const writeForm = (wanted) => FIELDS.forEach((name) => {
    const field = form.elements[name];
    field.value = wanted[name] || "";
    if (field.value !== (wanted[name] || "")) field.value = ""; // an option that this report does not have
  });
  const addressOf = (filters, mutant) => {
    const set = new URLSearchParams(Object.entries(filters).filter(([, value]) => value)).toString();
    if (mutant) return `#mutant-${encodeURIComponent(mutant)}${set ? `?${set}` : ""}`;
    return set ? `#mutants?${set}` : "#mutants";
  };
  const parse = (hash) => {
    const [place, query] = hash.replace(/^#/, "").split(/\?(.*)/s);
    let name = place;
    try { name = decodeURIComponent(place); } catch { /* as it is */ }
    const filters = query === undefined ? null : Object.fromEntries(new URLSearchParams(query));
    return { mutant: name.startsWith("mutant-") ? name.slice(7) : "", list: name === "mutants", filters };
  };
  const haystack = (row) => row.hay || (row.hay = [
    row.id, say(row.op), say(row.at), row.desc, row.diff.map((piece) => piece[1]).join(""), ...row.say.map(say),
  ].join("\n").toLowerCase());
  const fits = (row, filters, words, scenario) =>
    (!filters.status || (filters.status === "unnoticed"
      ? row.intent === "degrade" && (row.st === "survived" || row.st === "no_coverage") : row.st === filters.status))
    && (!filters.class || row.cls === filters.class)
    && (!filters.operator || say(row.op) === filters.operator)
    && (scenario < 0 || row.ev.some((item) => item[0] === scenario))
    && words.every((word) => haystack(row).includes(word));
  const KEYS = {
    id: (row) => row.id, st: (row) => label(row.st), op: (row) => say(row.op), at: (row) => say(row.at),
    n: (row) => row.n, by: (row) => row.by.map(say).join(", "),
  };
  const natural = new Intl.Collator("en", { numeric: true });
  const compare = (a, b) => (typeof a === "number" ? a - b : natural.compare(a, b));

  const filter = () => {
    const filters = readForm(), words = filters.q.toLowerCase().split(/\s+/).filter(Boolean);
    const scenario = filters.scenario ? data.scenarios.indexOf(filters.scenario) : -1;
    kept = rows.filter((row) => fits(row, filters, words, scenario));
    if (sorting.key) {
      const keyed = kept.map((row) => [KEYS[sorting.key](row), row]);
      keyed.sort((a, b) => (sorting.down ? -1 : 1) * compare(a[0], b[0]));
      kept = keyed.map((pair) => pair[1]);
    }
    shown = PAGE;
    list();
  };
  const changeOf = (row) => {
    const pieces = row.diff.filter((piece) => piece[0] === "-" || piece[0] === "+").slice(0, 4);
    if (!pieces.length) return row.desc;
    return pieces.map(([kind, text]) => el(kind === "-" ? "del" : "ins", {}, `${text.slice(0, 160).trim()} `));
  };
  const line = (row) => el("tr", {},
    el("th", { scope: "row" }, el("a", { href: addressOf({}, row.id) }, el("code", {}, row.id))),
    el("td", {}, badge(row.st)), el("td", { class: "change" }, el("span", {}, changeOf(row))),
    el("td", {}, breakable(say(row.op))), el("td", {}, el("code", {}, breakable(say(row.at)))),
    el("td", { class: "num" }, String(row.n)), el("td", {}, breakable(row.by.map(say).join(", ") || "–")));
  const list = () => {
    body.replaceChildren(...kept.slice(0, shown).map(line));
    if (!kept.length) body.append(el("tr", {}, el("td", { colspan: "7" }, "No mutant fits these filters.")));
    const more = kept.length > shown ? `, ${shown} shown` : "";
    get("found").textContent = `${kept.length.toLocaleString("en")} of ${counted(rows.length, "mutant")}${more}`;
    get("more").hidden = kept.length <= shown;
  };
  get("more").addEventListener("click", () => {
    const from = shown;
    shown += PAGE;
    body.append(...kept.slice(from, shown).map(line));
    get("found").textContent = `${kept.length.toLocaleString("en")} of ${counted(rows.length, "mutant")}, `
      + `${Math.min(shown, kept.length)} shown`;
    get("more").hidden = kept.length <= shown;
    body.rows[from]?.querySelector("a").focus();
  });
  const changed = () => { filter(); history.replaceState(null, "", addressOf(readForm())); };
  let waiting = 0;
  form.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(changed, 120); });
  form.addEventListener("reset", () => setTimeout(changed));
  form.addEventListener("submit", (event) => { event.preventDefault(); changed(); });
  for (const head of document.querySelectorAll("#list [data-sort]")) {
    head.querySelector("button").addEventListener("click", () => {
      const key = head.dataset.sort;
      sorting = { key, down: sorting.key === key && !sorting.down };
      for (const other of document.querySelectorAll("#list [aria-sort]")) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", sorting.down ? "descending" : "ascending");
      filter();
    });
  }

  // ---- one mutant ----------------------------------------------------------------------------------------------
  const dialog = get("detail");
  const pages = new Map([...document.querySelectorAll("template[data-mutant]")].map((one) => [one.dataset.mutant, one]));
  const beside = (row) => {
    if (!pages.has(row.id)) return null;
    const shown = document.importNode(pages.get(row.id).content, true).querySelector("[data-page]");
    agentmutPage(shown);
    return shown;
  };
  let current = null, cameFrom = null, before = null;
  const MARKS = { "-": "del", "+": "ins" };
  const diff = (pieces) => el("div", { class: "diff", role: "region", "aria-label": "Change" },
    pieces.map(([kind, text]) => kind === "~" ? el("span", { class: "gap" }, `[… ${text} …]`)
      : MARKS[kind] ? el(MARKS[kind], {}, text) : text));
  const DECISIONS = { continue: "open", killed: "killed", survived: "survived", undecided: "undecided" };

  const evidence = (row) => {
    const show = el("div", {});
    const buttons = [];
    const choose = (item, button) => {
      buttons.forEach((each) => each.setAttribute("aria-pressed", String(each === button)));
      show.replaceChildren(onePath(row, item));
    };
    const lines = row.ev.map((item) => {
      const original = data.baseline[item[0]] || [0, 0], name = data.scenarios[item[0]];
      let pick = null;
      if (item[6] && item[5] !== null && data.tables[item[5]]) {
        pick = el("button", { type: "button", "aria-pressed": "false", "aria-label": `Path on ${name}` }, "path");
        pick.addEventListener("click", () => choose(item, pick));
        buttons.push(pick);
      }
      const failure = say(item[4]);
      return el("tr", {},
        el("th", { scope: "row" }, breakable(name), failure ? el("span", { class: "note" }, `A failure: ${failure}`) : null),
        el("td", { class: "num" }, `${original[0]}/${original[1]}`),
        el("td", { class: "num" }, `${item[1] - item[2]}/${item[1]}`),
        el("td", {}, DECISIONS[item[3]] || item[3]), el("td", {}, pick));
    });
    const first = row.ev.find((item) => item[3] === "killed") || row.ev[0];
    const index = row.ev.filter((item) => item[6] && data.tables[item[5]]).indexOf(first);
    if (index >= 0) choose(first, buttons[index]);
    return [el("h3", {}, "Runs that passed"),
      el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Evidence" }, el("table", {}, el("thead", {}, el("tr", {},
        el("th", { scope: "col" }, "Scenario"), el("th", { scope: "col", class: "num" }, "Original"),
        el("th", { scope: "col", class: "num" }, "Mutant"), el("th", { scope: "col" }, "Decision"),
        el("th", { scope: "col" }, "Path"))), el("tbody", {}, lines))), show];
  };

  const detail = (row) => {
    const at = kept.indexOf(row);
    const step = (by, words) => el("button", {
      type: "button", class: "quiet", disabled: at < 0 || !kept[at + by], onclick: () => open(kept[at + by].id),
    }, words);
    const links = (label, ids) => ids.length ? el("p", {}, label, ids.slice(0, 12).flatMap((id, n) =>
      [n ? ", " : "", byId.has(id) ? el("a", { href: addressOf({}, id) }, el("code", {}, id)) : id]),
      ids.length > 12 ? ` and ${ids.length - 12} more` : "") : null;
    const alike = row.group ? rows.filter((other) => other.group === row.group && other !== row) : [];
    const behind = rows.filter((other) => other.under === row.id);
    const red = row.ci.map(([runs, value, low, high]) =>
      `${two(value)} [${two(low)}, ${two(high)}] with ${counted(runs, "run")} of each scenario`).join("; ");
    const cost = row.usd === null ? "cost unknown" : `$${row.usd.toFixed(4)}`;
    return [
      el("div", { class: "detail-head" },
        el("h2", { id: "detail-title", tabindex: "-1" }, "Mutant ", el("code", {}, row.id)), badge(row.st),
        el("div", { class: "right" }, step(-1, "Previous"), step(1, "Next"),
          el("button", { type: "button", onclick: () => dialog.close() }, "Close"))),
      el("div", { class: "detail-body" },
        el("p", { class: "meta" }, [say(row.op), say(row.at), row.intent === "preserve" ? "harmless by intent" : "",
          counted(row.n, "run"), cost].filter(Boolean).join(" · ")),
        el("p", {}, row.desc), row.diff.length ? diff(row.diff) : null,
        row.say.map((number) => el("p", {}, ticked(say(number)))),
        row.by.length ? el("p", {}, `Killed by ${row.by.map(say).join(", ")}.`) : null,
        links("The same scenarios kill in the same way: ", alike.map((other) => other.id)),
        links("Whoever notices the following notices this one too: ", row.under ? [row.under] : []),
        links("It stands for: ", behind.map((other) => other.id)),
        beside(row),
        row.ev.length ? evidence(row) : null,
        red ? el("p", {}, `Chance that a CI run is red on it: ${red}.`) : null),
    ];
  };
  const show = (row) => {
    current = row.id;
    dialog.replaceChildren(...detail(row));
    dialog.scrollTop = 0;
    if (!dialog.open) dialog.showModal();
    get("detail-title").focus();
  };
  // The address is set without a jump: what stands behind the dialog stays where it is, and gets the focus back.
  const open = (id, from) => {
    const address = addressOf(readForm(), id);
    if (dialog.open) history.replaceState(null, "", address);
    else {
      before = location.hash;
      cameFrom = from || document.activeElement;
      history.pushState(null, "", address);
    }
    show(byId.get(id));
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#mutant-']");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const { mutant } = parse(link.getAttribute("href"));
    if (!byId.has(mutant)) return;
    event.preventDefault();
    open(mutant, link);
  });
  dialog.addEventListener("close", () => {
    current = null;
    history.replaceState(null, "", before === null ? addressOf(readForm()) : before || location.pathname);
    before = null;
    if (cameFrom && cameFrom.isConnected) cameFrom.focus({ preventScroll: true });
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });

  const arrive = () => {
    const { mutant, list: isList, filters } = parse(location.hash);
    if (filters) { writeForm(filters); filter(); }
    if (mutant && byId.has(mutant)) { if (mutant !== current) show(byId.get(mutant)); return; }
    if (dialog.open) dialog.close();
    if (mutant) get("found").textContent = `This report has no mutant ${mutant}.`;
    if (isList || mutant) get("mutants").scrollIntoView();
  };
  window.addEventListener("hashchange", arrive);

  // ---- paths of the sequential test ----------------------------------------------------------------------------
  const steps = (item) => {
    const failed = new Set(item[6]), found = [[0, 0]];
    for (let n = 1, f = 0; n <= item[1]; n += 1) { f += failed.has(n); found.push([n, f]); }
    return found;
  };
  const W = 640, H = 260, LEFT = 46, BOTTOM = 38, TOP = 12;
  const ticks = (most, wanted) => {
    const size = [1, 2, 5, 10, 20, 25, 50, 100, 200, 500].find((step) => most / step <= wanted) || most;
    return Array.from({ length: Math.floor(most / size) + 1 }, (_, i) => i * size);
  };
  const axes = (xMost, yLow, yMost, label, sideways) => {
    const x = (n) => LEFT + ((W - LEFT - 12) * n) / Math.max(1, xMost);
    const y = (f) => H - BOTTOM - ((H - BOTTOM - TOP) * (f - yLow)) / Math.max(1e-9, yMost - yLow);
    const drawn = svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": label });
    for (const n of ticks(xMost, 10)) drawn.append(svg("text", { x: x(n), y: H - BOTTOM + 18, "text-anchor": "middle" }, String(n)));
    const low = Math.ceil(yLow);
    for (const f of ticks(Math.floor(yMost) - low, 6).map((tick) => tick + low)) {
      drawn.append(svg("path", { class: "grid", d: `M${LEFT} ${y(f)}H${W - 12}` }),
        svg("text", { x: LEFT - 8, y: y(f) + 4, "text-anchor": "end" }, String(f)));
    }
    drawn.append(svg("text", { x: W - 12, y: H - 4, "text-anchor": "end" }, "trials"),
      svg("text", { x: 12, y: TOP + 2, transform: `rotate(-90 12 ${TOP})`, "text-anchor": "end", dy: "4" }, sideways));
    return { drawn, x, y };
  };
  const path = (points) => points.map(([a, b], i) => `${i ? "L" : "M"}${a.toFixed(1)} ${b.toFixed(1)}`).join("");
  const bounds = (table, most) => {
    const upTo = Math.min(most, table.kill.length - 1), kill = [], survive = [];
    for (let n = 1; n <= upTo; n += 1) {
      if (table.kill[n] <= n) kill.push([n, table.kill[n]]);
      if (table.survive[n] >= 0) survive.push([n, table.survive[n]]);
    }
    return { kill, survive };
  };
  const withBounds = (table, most, highest, label) => {
    const { kill, survive } = bounds(table, most);
    const top = Math.max(2, highest, ...kill.map((point) => point[1])) + 0.5;
    const chart = axes(most, 0, top, label, "failures");
    const at = (points) => path(points.map(([n, f]) => [chart.x(n), chart.y(f)]));
    if (kill.length) chart.drawn.append(svg("path", { class: "line-k", d: at(kill) }));
    if (survive.length) chart.drawn.append(svg("path", { class: "line-s", d: at(survive) }));
    const last = kill[kill.length - 1], lowest = survive[survive.length - 1];
    if (last) chart.drawn.append(svg("text", { x: chart.x(last[0]) - 4, y: chart.y(last[1]) - 6, "text-anchor": "end" }, "killed from here"));
    if (lowest) chart.drawn.append(svg("text", { x: chart.x(lowest[0]) - 4, y: chart.y(lowest[1]) - 6, "text-anchor": "end" }, "survived"));
    return { ...chart, at };
  };
  const onePath = (row, item) => {
    const table = data.tables[item[5]], points = steps(item), name = data.scenarios[item[0]];
    const label = `${name}: ${item[2]} of ${counted(item[1], "trial")} failed; ${DECISIONS[item[3]] || item[3]}.`;
    const chart = withBounds(table, Math.max(item[1], 4), item[2], `Path of the decision on ${label}`);
    chart.drawn.append(svg("path", { class: "way", d: chart.at(points) }));
    const end = points[points.length - 1];
    chart.drawn.append(svg("circle", { class: "end", cx: chart.x(end[0]), cy: chart.y(end[1]), r: 4 }));
    const evidenceAt = ([n, f]) => table.log[n]?.[f - table.low[n]];
    const logs = points.map((point) => [point[0], evidenceAt(point)]).filter((point) => point[1] !== undefined);
    const lows = logs.map((point) => point[1]);
    const second = axes(Math.max(item[1], 4), Math.floor(Math.min(0, ...lows)), Math.ceil(Math.max(1, ...lows)),
      `Log evidence of a drop on ${name}: ${logs.length ? logs[logs.length - 1][1] : "unknown"} after the last trial`, "log evidence");
    second.drawn.append(svg("path", { class: "way", d: path(logs.map(([n, e]) => [second.x(n), second.y(e)])) }));
    const lines = points.slice(1).map((point, i) => {
      const log = evidenceAt(point), failed = point[1] > points[i][1];
      return el("tr", {}, el("th", { scope: "row", class: "num" }, String(point[0])), el("td", {}, failed ? "failed" : "passed"),
        el("td", { class: "num" }, String(point[1])), el("td", { class: "num" }, log === undefined ? "–" : log.toFixed(2)),
        el("td", { class: "num" }, log === undefined ? "–" : Math.exp(log).toPrecision(3)));
    });
    return el("figure", {}, el("div", { class: "chart" }, chart.drawn, second.drawn),
      el("figcaption", {}, `${label} The original failed ${table.f0} of ${table.n0}; level ${table.alpha.toPrecision(3)}, `
        + "its share of all scenarios that reach the change. Below: evidence for a drop against none, as a logarithm."),
      el("details", {}, el("summary", {}, "Trial by trial"), el("table", {}, el("thead", {}, el("tr", {},
        ["Trial", "Outcome", "Failures", "Log evidence", "Evidence m1/m0"].map((head, i) =>
          el("th", { scope: "col", class: i === 1 ? null : "num" }, head)))), el("tbody", {}, lines))));
  };

  const pick = get("path-scenario");
  const drawPaths = () => {
    const scenario = Number(pick.value), found = [], used = new Map();
    for (const row of rows) for (const item of row.ev) {
      if (item[0] !== scenario || !item[6] || !data.tables[item[5]]) continue;
      found.push(item);
      used.set(item[5], (used.get(item[5]) || 0) + 1);
    }
    if (!found.length) { get("paths").replaceChildren("No path is known for this scenario."); return; }
    const usual = [...used].sort((a, b) => b[1] - a[1])[0][0];
    const most = Math.max(4, ...found.map((item) => item[1])), high = Math.max(...found.map((item) => item[2]));
    const ends = { killed: 0, survived: 0, open: 0 };
    for (const item of found) ends[item[3] in ends ? item[3] : "open"] += 1;
    const words = `${data.scenarios[scenario]}: ${counted(found.length, "path")}; ${ends.killed} ended killed, `
      + `${ends.survived} survived, ${ends.open} left open as the mutant was decided elsewhere or trials ran out.`;
    const chart = withBounds(data.tables[usual], most, high, `Paths on ${words}`);
    for (const kind of ["open", "survived", "killed"]) {
      const some = found.filter((item) => (item[3] in ends ? item[3] : "open") === kind).slice(0, PATHS);
      chart.drawn.append(svg("path", { class: `way thin ${kind}`, d: some.map((item) => chart.at(steps(item))).join("") }));
    }
    get("paths").replaceChildren(chart.drawn);
    const levels = used.size > 1 ? ` The lines are those of the significance level used most, ${data.tables[usual].alpha.toPrecision(3)}.` : "";
    get("paths-says").textContent = words + levels;
  };

  // ---- kill matrix ---------------------------------------------------------------------------------------------
  const drawMatrix = () => {
    const columns = rows.filter((row) => row.ev.length).sort((a, b) => natural.compare(a.cls, b.cls));
    const place = get("matrix");
    if (!columns.length) { place.replaceChildren(el("p", {}, "No mutant was tried.")); return; }
    const step = 18, wide = Math.max(4, Math.min(22, Math.floor(820 / columns.length))), gap = wide > 6 ? 2 : 1;
    const kinds = { k: [], s: [], o: [] };
    const cell = new Map();
    columns.forEach((row, c) => {
      const killers = new Set(row.by.map(say));
      for (const item of row.ev) {
        const kind = killers.has(data.scenarios[item[0]]) || item[3] === "killed" ? "k" : item[3] === "survived" ? "s" : "o";
        const x = c * wide, y = item[0] * step + 1, w = wide - gap;
        if (kind === "k") kinds.k.push(`M${x} ${y}h${w}v16h${-w}z`);
        if (kind === "s") { const d = Math.min(6, w); kinds.s.push(`M${x + (w - d) / 2} ${y + 5}h${d}v6h${-d}z`); }
        if (kind === "o") kinds.o.push(`M${x} ${y + 7}h${w}v2h${-w}z`);
        cell.set(`${c} ${item[0]}`, item);
      }
    });
    const width = columns.length * wide, height = data.scenarios.length * step;
    const cursor = svg("rect", { class: "at", width: wide, height: step, hidden: true });
    const drawn = svg("svg", {
      width, height, viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img",
      "aria-label": `Kill matrix of ${counted(data.scenarios.length, "scenario")} and ${counted(columns.length, "mutant")}`,
    }, data.scenarios.map((_, s) => svg("rect", { class: "n", x: 0, y: s * step + 1, width, height: 16 })),
    ["o", "s", "k"].map((kind) => svg("path", { class: kind, d: kinds[kind].join("") })), cursor);
    const plot = el("div", { class: "plot", tabindex: "0", role: "group", "aria-label": "Cells of the kill matrix; arrow keys move", "aria-describedby": "matrix-help" }, drawn);
    let here = [0, 0];
    const go = (c, s) => {
      here = [Math.max(0, Math.min(columns.length - 1, c)), Math.max(0, Math.min(data.scenarios.length - 1, s))];
      cursor.removeAttribute("hidden");
      cursor.setAttribute("x", here[0] * wide - gap / 2);
      cursor.setAttribute("y", here[1] * step);
      const row = columns[here[0]], item = cell.get(here.join(" "));
      const result = item ? `${item[2]} of ${counted(item[1], "trial")} failed, ${DECISIONS[item[3]] || item[3]}` : "not tried";
      get("matrix-says").textContent = `${data.scenarios[here[1]]} · ${row.id} ${say(row.op)} (${label(row.st)}): ${result}`;
    };
    const under = (event) => {
      const box = drawn.getBoundingClientRect();
      return [Math.floor((event.clientX - box.left) / wide), Math.floor((event.clientY - box.top) / step)];
    };
    drawn.addEventListener("mousemove", (event) => go(...under(event)));
    drawn.addEventListener("click", (event) => { go(...under(event)); open(columns[here[0]].id); });
    plot.addEventListener("keydown", (event) => {
      const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (event.key === "Enter") open(columns[here[0]].id);
      if (!move) return;
      event.preventDefault();
      go(here[0] + move[0], here[1] + move[1]);
      plot.scrollLeft = Math.max(0, here[0] * wide - plot.clientWidth / 2);
    });
    place.replaceChildren(el("ol", { "aria-hidden": "true" }, data.scenarios.map((name) => el("li", { title: name }, name))), plot);
  };

  // ---- the page ------------------------------------------------------------------------------------------------
  const theme = get("theme"), root = document.documentElement;
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
  const remember = (value) => { try { localStorage.setItem("agentmut-theme", value); } catch { /* not allowed here */ } };
  const shade = () => { theme.textContent = dark() ? "Switch to light" : "Switch to dark"; };
  try { const kind = localStorage.getItem("agentmut-theme"); if (kind) root.dataset.theme = kind; } catch { /* as the system has it */ }
  theme.hidden = false;
  theme.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; remember(root.dataset.theme); shade(); });
  shade();

  const late = new Map([[get("matrix"), drawMatrix]]);
  if (pick) {
    const tried = [...new Set(rows.flatMap((row) => row.ev.filter((item) => item[6]).map((item) => item[0])))].sort((a, b) => a - b);
    pick.append(...tried.map((number) => el("option", { value: String(number) }, data.scenarios[number])));
    pick.addEventListener("change", drawPaths);
    if (tried.length) late.set(get("paths"), drawPaths);
  }
  const draw = (place) => { const how = late.get(place); late.delete(place); if (how) how(); };
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) { seen.unobserve(entry.target); draw(entry.target); }
  }, { rootMargin: "600px" });
  for (const place of late.keys()) seen.observe(place);

  // ---- on paper: what is folded on the screen, or behind a link, is written out ---------------------------------------
  const unnoticed = rows.filter((row) => row.intent === "degrade" && (row.st === "survived" || row.st === "no_coverage"));
  const onPaper = (row) => el("article", {},
    el("h3", {}, el("code", {}, row.id), " ", badge(row.st)), detail(row)[1]);
  window.addEventListener("beforeprint", () => {
    for (const place of [...late.keys()]) draw(place);
    const opened = current === null || unnoticed.includes(byId.get(current)) ? [] : [byId.get(current)];
    const left = unnoticed.length - PRINTED;
    get("paper").replaceChildren(...[...opened, ...unnoticed.slice(0, PRINTED)].map(onPaper),
      ...(left > 0 ? [el("p", {}, `${counted(left, "more unnoticed change")} to be read on the screen.`)] : []));
    for (const folded of document.querySelectorAll("details:not([open])")) { folded.open = true; folded.dataset.folded = ""; }
  });
  window.addEventListener("afterprint", () => {
    get("paper").replaceChildren();
    for (const folded of document.querySelectorAll("[data-folded]")) { folded.open = false; delete folded.dataset.folded; }
  });

  const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
  const reading = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) {
      links.forEach((link) => link.removeAttribute("aria-current"));
      links.get(entry.target.id)?.setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-30% 0px -65% 0px" });
  for (const id of links.keys()) if (get(id)) reading.observe(get(id));

  root.classList.add("js");
  filter();
  arrive();
  root.dataset.ready = "true";
})();
