"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const at = id => document.getElementById(id);
const many = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

function made(tag, attributes = {}, text = "") {
  const found = document.createElement(tag);
  Object.assign(found, attributes);
  if (text !== "") found.textContent = text;
  return found;
}

function drawn(tag, attributes, parent, text = "") {
  const found = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) found.setAttribute(name, value);
  if (text !== "") found.textContent = text;
  parent?.append(found);
  return found;
}

// Where nodes are: the places fill the picture, whatever its shape.
const count = data.names.length;
const radius = data.matrix ? Math.max(2, 250 / count) : Math.max(5, Math.min(16, 130 / Math.sqrt(count)));
const spread = k => data.places.map(place => place[k]);
const low = [0, 1].map(k => Math.min(...spread(k)));
const size = [0, 1].map(k => Math.max(...spread(k)) - low[k]);
const scale = 600 / Math.max(...size, 1e-9);
const margin = 3 * radius;
const [width, height] = size.map(one => one * scale + 2 * margin);
const places = data.places.map(([x, y]) => [(x - low[0]) * scale + margin, height - margin - (y - low[1]) * scale]);

const picture = at("picture");
picture.setAttribute("viewBox", `0 0 ${width} ${Math.max(height, 4 * radius)}`);
const heads = drawn("defs", {}, picture);
for (const kind of ["sent", "false"]) {
  const head = { id: `head-${kind}`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerUnits: "userSpaceOnUse" };
  const wide = Math.max(6, Math.min(9, radius));
  const marker = drawn("marker", { ...head, markerWidth: wide, markerHeight: wide, orient: "auto" }, heads);
  drawn("path", { d: "M0 0L8 4L0 8z" }, marker);
}
// In a matrix a message is a square in the row of its sender and the column of its receiver.
const cell = (u, v, kind, parent) => {
  const [x, y] = [places[v][0] - radius, places[u][1] - radius];
  return drawn("rect", { class: kind, x, y, width: 2 * radius, height: 2 * radius }, parent);
};

const edges = drawn("g", { opacity: Math.max(0.35, Math.min(1, 300 / data.edges.length)) }, picture);
for (const [u, v, weight] of data.edges) {
  if (data.matrix) {
    for (const [a, b] of [[u, v], [v, u]]) cell(a, b, "edge cell", edges);
    continue;
  }
  const [[x1, y1], [x2, y2]] = [places[u], places[v]];
  drawn("line", { class: "edge", x1, y1, x2, y2 }, edges);
  if (weight !== undefined && data.edges.length <= 80) {
    drawn("text", { class: "value weight", x: (x1 + x2) / 2, y: (y1 + y2) / 2 }, edges, weight);
  }
}
const layer = drawn("g", { id: "sent" }, picture);
const liars = new Set(data.liars);
const nodes = places.map(([x, y], i) => {
  const group = drawn("g", { class: "at", transform: `translate(${x} ${y})` }, picture);
  if (liars.has(i)) drawn("circle", { class: "liar", r: radius + 4 }, group);
  const circle = drawn("circle", { class: "node", r: radius }, group);
  const r = 0.72 * radius;
  const cross = drawn("path", { class: "cross", d: `M${-r} ${-r}L${r} ${r}M${r} ${-r}L${-r} ${r}` }, group);
  const name = data.names[i];
  const room = Math.min(radius, (3.1 * radius) / name.length);
  const label = room >= 5 ? drawn("text", { class: "label", "font-size": room, style: `font-size: max(${room}px, calc(9 * var(--unit)))` }, group, name) : null;
  const value = count <= 60 ? drawn("text", { class: "value of-node", y: radius + 9 }, group) : null;
  const title = drawn("title", {}, group);
  group.addEventListener("click", () => choose(at("node").value === `${i}` ? "" : `${i}`));
  return { circle, cross, label, value, title };
});

// Text is nine pixels high at least: where a picture is small, it is larger in its units, and values that
// would hide each other are left to the list of nodes and to a tap.
function fit() {
  const [wide, high] = [picture.clientWidth, picture.clientHeight];
  const unit = Math.max(1, width / Math.max(wide, 1), height / Math.max(high, 1));
  picture.style.setProperty("--unit", `${unit}px`);
  picture.classList.toggle("tight", unit > 1.3 && count > 16);
  for (const { label, value } of nodes) {
    if (label) label.style.display = label.getAttribute("font-size") / unit >= 9 || 9 * unit <= 1.3 * radius ? "" : "none";
    value?.setAttribute("y", radius + 8 * unit);
  }
}
new ResizeObserver(fit).observe(picture);

// The values of a field at a stop: those of the last stop that has any.
const latest = (values, stop) => {
  while (stop > 0 && values[stop] === null) stop--;
  return values[stop];
};

const CLASSES = ["#4c8dbf", "#e69f00", "#3aa17e", "#cc79a7", "#b5a300", "#8c6bb1", "#7fb7e6", "#a65628"];
const RAMP = [[253, 231, 37], [94, 201, 98], [33, 145, 140], [59, 82, 139], [68, 1, 84]];
function colour(field, mark) {
  if (mark === null) return "var(--none)";
  if (field.truth) return mark ? CLASSES[1] : "var(--none)";
  if (field.values) return CLASSES[field.values.indexOf(mark) % CLASSES.length];
  const [least, most] = field.range;
  const part = ((mark - least) / (most - least || 1)) * (RAMP.length - 1);
  const k = Math.min(Math.floor(part), RAMP.length - 2);
  return `rgb(${RAMP[k].map((one, c) => Math.round(one + (part - k) * (RAMP[k + 1][c] - one))).join(" ")})`;
}

// Text on a colour is dark or light, as the colour is light or dark.
function ink(shade) {
  if (shade.startsWith("var")) return "";
  const [r, g, b] = shade.startsWith("#")
    ? [1, 3, 5].map(k => parseInt(shade.slice(k, k + 2), 16))
    : shade.match(/\d+/g).map(Number);
  return 0.299 * r + 0.587 * g + 0.114 * b > 130 ? "#111" : "#fff";
}

// A message is a line beside its edge, so that one each way can be seen; to itself, a loop.
const FATES = ["arrives", "is lost", "reaches nobody: its receiver is down", "is of a liar"];
const KINDS = ["sent", "lost", "unheard", "false"];
function line(u, v, fate) {
  const group = drawn("g", {}, null);
  const kind = KINDS[fate];
  if (data.matrix) {
    cell(u, v, `cell ${kind}`, group);
    return group;
  }
  const head = fate === 0 || fate === 3 ? { "marker-end": `url(#head-${kind})` } : {};
  const [[x1, y1], [x2, y2]] = [places[u], places[v]];
  if (u === v) {
    const d = `M${x1 - 3} ${y1 - radius}c-14 -24 20 -24 6 0`;
    drawn("path", { class: kind, d, ...head }, group);
    return group;
  }
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
  const aside = Math.min(4, radius / 2);
  const point = (along, across) =>
    [x1 + dx * along - dy * (aside + across), y1 + dy * along + dx * (aside + across)];
  const path = (...points) => `M${points.map(one => one.join(" ")).join("L")}`;
  const end = fate === 1 ? 0.55 * length : length - radius - 2;
  drawn("path", { class: kind, d: path(point(radius, 0), point(end, 0)), ...head }, group);
  if (fate === 1) {
    const d = path(point(end - 5, -5), point(end + 5, 5)) + path(point(end - 5, 5), point(end + 5, -5));
    drawn("path", { class: "stop", d }, group);
  }
  if (fate === 2) drawn("path", { class: "unheard solid", d: path(point(end, -5), point(end, 5)) }, group);
  return group;
}

const says = (stop, k) => {
  const names = [stop.from[k], stop.to[k]].map(node => data.names[node]);
  return `${names.join(" → ")}${stop.says[k] && `: ${stop.says[k]}`}`;
};

let step = 0;
let message = 0; // 0: all of the step; k: the k-th of those that are shown
let shown = []; // messages of the step: all, or those of the chosen node

const ROWS = 100;
function list(stop) {
  const first = Math.max(0, Math.min(message - ROWS / 2, shown.length - ROWS));
  const rows = shown.slice(first, first + ROWS).map((k, i) => {
    const marks = ["", " ✕ lost", " ⊣ receiver is down", " ⚠ of a liar"];
    const button = made("button", { className: `fate${stop.fate[k]}` }, says(stop, k) + marks[stop.fate[k]]);
    if (first + i + 1 === message) button.setAttribute("aria-current", "true");
    button.addEventListener("click", () => show(step, first + i + 1));
    const row = made("li");
    row.append(button);
    return row;
  });
  const rest = shown.length - first - rows.length;
  if (first) rows.unshift(made("li", { className: "small" }, `${first} before`));
  if (rest) rows.push(made("li", { className: "small" }, `${rest} more`));
  if (!rows.length) rows.push(made("li", { className: "small" }, "none"));
  at("list").replaceChildren(...rows);
  const current = at("list").querySelector("[aria-current]");
  if (current) at("list").scrollTop = current.offsetTop - at("list").offsetTop - 60;
}

function table() {
  const heads = made("tr");
  heads.append(...["node", ...data.fields.map(field => field.name)].map(name => made("th", {}, name)));
  const columns = data.fields.map(field => latest(field.texts, step));
  const rows = data.names.map((name, i) => {
    const row = made("tr");
    row.append(made("th", {}, name), ...columns.map(texts => made("td", {}, texts?.[i] ?? "")));
    return row;
  });
  at("table").replaceChildren(heads, ...rows);
}

function key(field) {
  const item = (shade, text, wide = "") => {
    const row = made("li");
    const swatch = made("span", { className: `swatch ${wide}` });
    swatch.style.background = shade;
    row.append(swatch, text);
    return row;
  };
  let items;
  if (field.truth) items = [item(colour(field, 1), "yes"), item(colour(field, 0), "no")];
  else if (field.values) items = field.values.map(one => item(colour(field, one), `${one}`));
  else {
    const stops = RAMP.map(one => `rgb(${one.join(" ")})`).join(", ");
    items = [item(`linear-gradient(to right, ${stops})`, field.range.map(one => +one.toPrecision(4)).join(" to "), "bar")];
  }
  if (!field.truth && field.marks.some(marks => marks?.includes(null))) items.push(item("var(--none)", "none, such as -1"));
  at("scale").replaceChildren(...items);
}

function show(newStep, newMessage = 0) {
  step = Math.max(0, Math.min(newStep, data.stops.length - 1));
  const stop = data.stops[step];
  const chosen = at("node").value;
  shown = [...stop.from.keys()].filter(k => chosen === "" || stop.from[k] === +chosen || stop.to[k] === +chosen);
  message = Math.max(0, Math.min(newMessage, shown.length));

  const field = data.fields[at("field").value];
  const marks = field ? latest(field.marks, step) : null;
  const texts = data.fields.map(one => latest(one.texts, step));
  const sets = Object.fromEntries(["crashed", "away", "changed"].map(name => [name, new Set(stop[name])]));
  nodes.forEach(({ circle, cross, label, value, title }, i) => {
    const down = ["crashed", "away"].filter(name => sets[name].has(i));
    const shade = sets.crashed.has(i) || !marks ? "" : colour(field, marks[i]);
    const classes = ["crashed", "away", "changed"].filter(name => sets[name].has(i));
    circle.setAttribute("class", ["node", ...classes, ...(chosen === `${i}` ? ["chosen"] : [])].join(" "));
    circle.style.fill = shade;
    if (label) label.style.fill = ink(shade || "var");
    value?.classList.toggle("chosen", chosen === `${i}`);
    if (value) value.textContent = field?.truth ? "" : texts[at("field").value]?.[i].slice(0, 12) ?? "";
    cross.style.display = sets.crashed.has(i) ? "" : "none";
    const known = data.fields.map((one, f) => texts[f] && `${one.name}: ${texts[f][i]}`).filter(Boolean);
    title.textContent = [`node ${data.names[i]}`, ...(liars.has(i) ? ["lies"] : []), ...down, ...known].join("\n");
  });

  layer.replaceChildren(...shown.map((k, i) => {
    const group = line(stop.from[k], stop.to[k], stop.fate[k]);
    if (message) group.setAttribute("class", i + 1 === message ? "current" : "faint");
    drawn("title", {}, group, `${says(stop, k)} (${FATES[stop.fate[k]]})`);
    return group;
  }));

  const phase = step ? `round ${stop.round}, ${stop.phase}` : "start";
  at("where").textContent = `Step ${step} of ${data.stops.length - 1}: ${phase}`;
  at("step").value = step;
  at("step").setAttribute("aria-valuetext", phase);
  const one = message && says(stop, shown[message - 1]);
  at("which").textContent = message ? `Message ${message} of ${shown.length}: ${one}` : shown.length ? `Messages: all ${shown.length}` : "No messages";
  at("message").max = shown.length;
  at("message").value = message;
  at("message").disabled = !shown.length;
  at("message").setAttribute("aria-valuetext", message ? one : "all");
  const lost = shown.filter(k => stop.fate[k] === 1).length;
  const parts = [many(shown.length, "message") + (lost ? `, of which ${lost} lost` : "")];
  if (step) parts.push(`${many(stop.changed.length, "node")} changed`);
  if (stop.crashed.length) parts.push(`${stop.crashed.length} crashed`);
  if (stop.away.length) parts.push(`${stop.away.length} away`);
  const whole = `${phase}: ${parts.join("; ")}.`;
  at("told").textContent = message ? `${phase}: ${one} (${FATES[stop.fate[shown[message - 1]]]}).` : whole;
  list(stop);
  if (at("table").closest("details").open) table();
}

function choose(node) {
  at("node").value = node;
  show(step);
}

const last = data.stops.length - 1;
const ends = [...data.stops.keys()].filter(
  i => i === 0 || i === last || data.stops[i].round !== data.stops[i + 1].round,
);

let timer = 0;
function play(wanted = !timer) {
  clearInterval(timer);
  timer = 0;
  if (wanted) {
    if (step === data.stops.length - 1) show(0);
    timer = setInterval(() => (step < data.stops.length - 1 ? show(step + 1) : play(false)), 900);
  }
  at("play").setAttribute("aria-pressed", `${!!timer}`);
}

const KEYS = {
  ArrowLeft: () => show(step - 1),
  ArrowRight: () => show(step + 1),
  ArrowUp: () => show(step, message - 1),
  ArrowDown: () => show(step, message + 1),
  PageUp: () => show(ends.findLast(i => i < step) ?? 0),
  PageDown: () => show(ends.find(i => i > step) ?? last),
  Home: () => show(0),
  End: () => show(last),
  p: () => play(),
};
document.addEventListener("keydown", event => {
  const within = event.target.tagName;
  if (within === "SELECT" || event.ctrlKey || event.altKey || event.metaKey || !(event.key in KEYS)) return;
  if (event.target.id === "message" && event.key !== "p") {
    if (event.key.startsWith("Arrow")) {
      event.preventDefault();
      show(step, message + (event.key === "ArrowRight" || event.key === "ArrowDown" ? 1 : -1));
    }
    return;
  }
  event.preventDefault();
  KEYS[event.key]();
});

data.fields.forEach((field, i) => {
  at("field").append(made("option", { value: i, title: field.about }, field.name.replaceAll("_", " ")));
});
data.names.forEach((name, i) => at("node").append(made("option", { value: i }, name)));
at("step").max = last;
at("step").addEventListener("input", event => show(+event.target.value));
at("message").addEventListener("input", event => show(step, +event.target.value));
at("field").addEventListener("input", () => { key(data.fields[at("field").value]); show(step, message); });
at("node").addEventListener("input", () => show(step));
at("table").closest("details").addEventListener("toggle", table);
at("begin").addEventListener("click", KEYS.Home);
at("back").addEventListener("click", KEYS.ArrowLeft);
at("on").addEventListener("click", KEYS.ArrowRight);
at("end").addEventListener("click", KEYS.End);
at("play").addEventListener("click", () => play());
at("matrix").hidden = !data.matrix;
if (data.fields.length) key(data.fields[0]);
show(0);
