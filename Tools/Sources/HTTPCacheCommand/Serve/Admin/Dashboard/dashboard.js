"use strict";

const element = (id) => document.getElementById(id);
const token = () => sessionStorage.getItem("token");
const samples = []; // the last two minutes, a second each

class Refused extends Error {}

async function ask(path, options = {}) {
  const headers = token() ? { Authorization: `Bearer ${token()}` } : {};
  const response = await fetch(path, { ...options, headers });
  if (response.status === 401) throw new Refused("the token is missing or wrong");
  if (!response.ok) throw new Error((await response.text()).trim());
  return response;
}

const json = async (path, options) => (await ask(path, options)).json();
const query = (parameters) => new URLSearchParams(parameters).toString();

function bytes(count) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (count >= 1024 && unit < units.length - 1) { count /= 1024; unit += 1; }
  return `${count.toFixed(unit === 0 || count >= 100 ? 0 : 1)} ${units[unit]}`;
}

function time(seconds) {
  if (seconds == null) return "–";
  if (seconds < 0.001) return `${Math.round(seconds * 1e6)} µs`;
  if (seconds < 1) return `${(seconds * 1e3).toFixed(seconds < 0.01 ? 1 : 0)} ms`;
  return `${seconds.toFixed(1)} s`;
}

const number = (value) => Math.round(value).toLocaleString("en");
const sum = (sample, outcomes) => outcomes.reduce((all, name) => all + (sample.outcomes[name] || 0), 0);
const hits = (sample) => sum(sample, ["hit", "stale", "validated", "shared"]);
const cacheable = (sample) => hits(sample) + sum(sample, ["miss", "refetched", "collapsed"]);

// Rows and cells are made of text only: URLs come from strangers.
function row(cells) {
  const tr = document.createElement("tr");
  for (const cell of cells) {
    const td = tr.insertCell();
    if (cell instanceof Node) td.append(cell);
    else if (typeof cell === "object") { td.textContent = cell.number; td.className = "number"; }
    else td.textContent = cell;
  }
  return tr;
}

function button(text, label, action) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = text;
  button.setAttribute("aria-label", label);
  button.addEventListener("click", action);
  return button;
}

// MARK: Live figures

function show(sample) {
  const seconds = Math.max(sample.seconds, 0.001);
  element("requests").textContent = number(sample.requests / seconds);
  element("bytes").textContent = bytes(sample.bytes / seconds);
  element("p50").textContent = time(sample.p50);
  element("p99").textContent = time(sample.p99);
  element("connections").textContent = number(sample.connections);
  const minute = samples.slice(-60);
  const asked = minute.reduce((all, one) => all + cacheable(one), 0);
  const found = minute.reduce((all, one) => all + hits(one), 0);
  element("ratio").textContent = asked === 0 ? "–" : `${(100 * found / asked).toFixed(1)} %`;
  for (const tier of ["memory", "disk"]) {
    const [used, all, entries] = [sample[`${tier}Bytes`], sample[`${tier}Capacity`], sample[`${tier}Entries`]];
    element(tier).value = all > 0 ? used / all : 0;
    element(`${tier}-text`).textContent = all > 0
      ? `${bytes(used)} of ${bytes(all)}, ${number(entries)} responses` : "not used";
  }
  showFleet(sample.fleet);
  const outcomes = {};
  for (const one of minute) {
    for (const [name, count] of Object.entries(one.outcomes)) outcomes[name] = (outcomes[name] || 0) + count;
  }
  const list = Object.entries(outcomes).sort((a, b) => b[1] - a[1]).map(([name, count]) => `${name} ${number(count)}`);
  if (list.length > 0) element("outcomes").textContent = `In the last minute: ${list.join(", ")}.`;
  draw();
}

function showFleet(fleet) {
  element("fleet").hidden = !fleet;
  if (!fleet) return;
  const state = fleet.isConnected ? `connected, last contact ${time(fleet.lastContactSeconds)} ago` : "not connected";
  element("fleet-text").textContent = `${fleet.node} is ${state}; ${number(fleet.pendingChanges)} waiting changes, `
    + `${number(fleet.sharedHits)} shared hits, ${bytes(fleet.sharedBytes)}`;
}

function draw() {
  const top = Math.max(1, ...samples.map((one) => one.requests));
  const point = (value, index) => `${((index + 120 - samples.length) * 600 / 119).toFixed(1)},${(118 - 114 * value / top).toFixed(1)}`;
  const line = (value) => samples.map((one, index) => point(value(one), index)).join(" L");
  if (samples.length < 2) return;
  element("chart-all").setAttribute("d", `M${line((one) => one.requests)}`);
  const left = ((120 - samples.length) * 600 / 119).toFixed(1);
  element("chart-hits").setAttribute("d", `M${left},118 L${line(hits)} L600,118 Z`);
  element("chart-top").textContent = number(top);
}

async function watch() {
  const reader = (await ask("/live")).body.pipeThrough(new TextDecoderStream()).getReader();
  element("sign-in").hidden = true;
  element("state").textContent = "live";
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += value;
    const events = text.split("\n\n");
    text = events.pop();
    for (const event of events) {
      if (!event.startsWith("data: ")) continue;
      const sample = JSON.parse(event.slice(6));
      if (sample.seconds > 0) samples.push(sample);
      if (samples.length > 120) samples.shift();
      show(sample);
    }
  }
}

async function run() {
  for (;;) {
    try {
      await watch();
      element("state").textContent = "the connection ended; connecting again…";
    } catch (error) {
      if (error instanceof Refused) {
        element("state").textContent = error.message;
        element("sign-in").hidden = false;
        element("token").focus();
        return;
      }
      element("state").textContent = `not connected: ${error.message}`;
    }
    await new Promise((resolve) => setTimeout(resolve, 2000));
  }
}

// MARK: Tables

async function showMissed() {
  const rows = await json(`/missed?${query({ by: element("order").value })}`);
  const body = element("missed").tBodies[0];
  body.replaceChildren(...rows.slice(0, 15).map((one) => row([
    one.target.startsWith("/") ? (one.host || "") + one.target : one.target, { number: number(one.requests) }, { number: time(one.meanSeconds) },
    { number: time(one.slowestSeconds) }, `${one.outcome}, ${one.status}`, one.reason || "",
  ])));
  if (rows.length === 0) body.replaceChildren(row(["none so far", "", "", "", "", ""]));
}

async function showHosts() {
  element("hosts-state").textContent = "counting…";
  const { hosts, isComplete } = await json("/hosts");
  element("hosts").hidden = false;
  element("hosts").tBodies[0].replaceChildren(...hosts.map((one) => row(
    [one.host, { number: number(one.entries) }, { number: bytes(one.bytes) }])));
  element("hosts-state").textContent = isComplete ? "" : "of the first 100,000 entries";
}

let next = null;

async function showEntries(isMore) {
  const prefix = element("prefix").value.trim();
  const page = await json(`/entries?${query({ limit: 50, ...(prefix && { prefix }), ...(isMore && next && { after: next }) })}`);
  const rows = page.entries.map((entry) => {
    const actions = document.createElement("span");
    actions.append(
      button("Explain", `Explain ${entry.url}`, () => attempt(() => explain(entry))),
      button("Purge", `Purge ${entry.url}`, () => attempt(() => purge({ url: entry.url }))));
    return row([entry.url, { number: entry.status }, { number: bytes(entry.size) }, entry.freshness, actions]);
  });
  const body = element("entries").tBodies[0];
  if (isMore) body.append(...rows); else body.replaceChildren(...rows);
  if (!isMore) element("entries-state").textContent = rows.length === 0 ? "no entry" : "";
  element("purge-prefix").disabled = prefix === "" || body.rows.length === 0;
  next = page.next || null;
  element("more").hidden = next === null;
}

async function explain(entry) {
  const { steps } = await json(`/explain?${query({ url: entry.url, partition: entry.partition })}`);
  element("explanation-url").textContent = entry.url;
  const list = element("explanation-steps");
  list.replaceChildren();
  for (const step of steps) {
    const [term, text] = [document.createElement("dt"), document.createElement("dd")];
    term.textContent = step.question;
    text.textContent = step.section ? `${step.answer} (${step.section})` : step.answer;
    list.append(term, text);
  }
  element("explanation").showModal();
}

async function purge(selection) {
  const { removed, fleet } = await json(`/purge?${query(selection)}`, { method: "POST" });
  await showEntries(false);
  const nodes = fleet && fleet.applied != null ? `${fleet.applied} of ${fleet.nodes} nodes` : "this node alone so far";
  element("entries-state").textContent = `${number(removed)} removed` + (fleet ? `, applied by ${nodes}` : "");
}

// MARK: Beginning

async function attempt(action) {
  try { await action(); } catch (error) { element("entries-state").textContent = error.message; }
}

element("sign-in").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("token", element("token").value.trim());
  start();
});
element("search").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(() => showEntries(false));
});
element("purge-prefix").addEventListener("click", () => {
  const prefix = element("prefix").value.trim();
  if (prefix && confirm(`Remove all responses whose URL begins with ${prefix}?`)) attempt(() => purge({ prefix }));
});
element("more").addEventListener("click", () => attempt(() => showEntries(true)));
element("order").addEventListener("change", () => attempt(showMissed));
element("count-hosts").addEventListener("click", () => attempt(showHosts));
setInterval(() => { if (!document.hidden && element("sign-in").hidden) showMissed().catch(() => {}); }, 5000);

function start() {
  run();
  attempt(showMissed);
  attempt(() => showEntries(false));
}
start();
