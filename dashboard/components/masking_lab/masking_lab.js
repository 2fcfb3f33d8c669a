// The Masking lab: what the hand moves is drawn here at once; Python hears it on release.

const ANIMATION_MS = 500;
const BATCH_MS = 333;
const KEYS_MS = 250; // keys come in series: Python hears the last one
const FINER = 10; // a hand moves in tenths of the steps of keys
const ICONS = { play: "M8 5v14l11-7z", pause: "M6 5h4v14H6zM14 5h4v14h-4z" };

export default function ({ data, parentElement: root, setTriggerValue }) {
  const element = root.querySelector(".lab");
  element.lab ??= new MaskingLab(element);
  element.lab.update(data, (settings) => setTriggerValue("released", settings));
}

/** How to drag the curve: what its middle sets, and what its ends set. */
function hintOf(handles) {
  const middle = handles.find(({ at }) => at === 0.5)?.parameter;
  const ends = handles.find(({ at }) => at !== 0.5)?.parameter;
  if (middle && ends) return `Drag the curve: its middle sets ${middle}, its ends set ${ends}.`;
  return handles.length ? `Drag the curve to set the ${middle ?? ends}.` : "";
}

class MaskingLab {
  constructor(element) {
    this.element = element;
    this.find = (selector) => element.querySelector(selector);
    this.sent = []; // settings that Python has not answered yet
    const choose = (column) => this.#highlight(column);
    this.curve = new Curve(this.find(".curve"), {
      grab: (handle) => this.#grab(handle),
      drag: (handle, height) => this.#drag(handle, height),
      release: () => this.#release(),
      choose,
      key: (event, parameter) => this.#moveByKey(event, parameter),
    });
    this.cells = new Cells(this.find(".cells"), { choose });
    this.find("#function").onchange = (event) => this.#animateTo({ function: event.target.value });
    this.find("#column").onchange = (event) => choose(event.target.selectedIndex);
    this.find(".play").onclick = () => (this.timer ? this.#pause() : this.#play());
    this.#showPlaying();
    const sizes = new ResizeObserver(() => this.#redraw({ everything: true }));
    sizes.observe(this.find(".curve"));
    sizes.observe(this.find(".cells"));
  }

  // What Python says

  /** Take what Python sends at first and after each rerun. */
  update(data, send) {
    this.data = data;
    this.send = send;
    if (!this.functions) this.#build();
    if (data.table.key !== this.table?.key) this.#open(data.table);
    this.#hear(data.settings);
    this.#showNotes();
    this.#redraw({ everything: true }); // the theme may be another
  }

  /** Build the controls, which are the same for every table. */
  #build() {
    const { functions, presets, colors, uniform, help } = this.data;
    this.functions = new Map(functions.map((one) => [one.name, one]));
    for (const [state, color] of Object.entries(colors))
      this.element.style.setProperty(`--${state}`, color);
    const option = ({ name, title }) => new Option(title, name);
    this.find("#function").replaceChildren(...functions.map(option));
    this.find(".about-function").replaceChildren(this.#helpButton("masking functions", help));
    const share = `(${percent(uniform.rate)})`;
    const about = this.#helpButton("uniform masking", uniform.help);
    this.find(".about-uniform").replaceChildren(share, about);
    this.find(".presets").replaceChildren(
      ...presets.map((preset) => {
        const button = Object.assign(document.createElement("button"), {
          type: "button",
          textContent: preset.title,
          title: preset.why,
          onclick: () => this.#animateTo(preset.settings),
        });
        return button;
      }),
    );
  }

  #helpButton(topic, text) {
    const button = Object.assign(document.createElement("button"), {
      type: "button",
      className: "help",
      textContent: "?",
    });
    button.setAttribute("aria-label", `Help: ${topic}`);
    const popover = this.find("#help");
    button.popoverTargetElement = popover;
    button.onclick = () => {
      popover.textContent = text;
      const { left, bottom } = button.getBoundingClientRect();
      popover.style.left = `${Math.max(8, Math.min(left, window.innerWidth - 330))}px`;
      popover.style.top = `${bottom + 6}px`;
    };
    return button;
  }

  /** Show another table, or other missing values of it. */
  #open(table) {
    this.table = table;
    this.#pause();
    const nCells = table.nSampled * table.names.length;
    const observed = unpackBits(table.observed, nCells);
    const rows = Array.from({ length: table.nShown }, (_, row) => row);
    this.observed = observed;
    this.fixed = { observed, rows, numbers: unpackFloats(table.numbers), pObs: table.pObs };
    this.find("#column").replaceChildren(...table.names.map((name) => new Option(name)));
    this.find("canvas").setAttribute(
      "aria-label",
      `${count(table.nShown)} rows of the table, cell by cell: observed, masked or missing`,
    );
    this.#show(this.fixed);
  }

  /** Take settings that were made elsewhere: by a link, in another tab, on the first visit. */
  #hear(settings) {
    const text = this.#textOf(settings);
    if (text === this.heard) return;
    this.heard = text;
    const answered = this.sent.indexOf(text);
    this.sent = answered >= 0 ? this.sent.slice(answered + 1) : [];
    if (answered >= 0) return; // our own, and the hand may be farther already
    this.#stopAnimation();
    this.values = { ...settings.values };
    this.chosen = settings.focus;
    this.#setFunction(settings.function);
  }

  /** Settings as text: the same for what Python sends and for what it gets. */
  #textOf({ function: name, values, focus }) {
    const parameters = this.functions.get(name).parameters;
    return JSON.stringify([name, parameters.map((one) => values[one.name]), focus]);
  }

  #showNotes() {
    const items = this.data.notes.map(({ level, head, text }) => {
      const item = Object.assign(document.createElement("li"), { className: level });
      const strong = Object.assign(document.createElement("strong"), { textContent: head });
      item.append(strong, text);
      return item;
    });
    this.find(".notes").replaceChildren(...items);
  }

  // The state

  get function() {
    return this.functions.get(this.name);
  }

  get settings() {
    return { function: this.name, values: this.values, focus: this.chosen };
  }

  /** The column to highlight: the chosen one, or the first. */
  get focus() {
    return Math.max(0, this.table.names.indexOf(this.chosen));
  }

  /** M_j by p_obs, as it is at this moment of an animation. */
  probability(p) {
    const now = maskingProbability(this.name, p, this.values);
    if (!this.blend) return now;
    const { name, values, share } = this.blend;
    return share * maskingProbability(name, p, values) + (1 - share) * now;
  }

  #setFunction(name) {
    this.name = name;
    const { parameters } = this.function;
    this.find("#function").value = name;
    this.inputs = new Map();
    this.find(".sliders").replaceChildren(...parameters.map((one) => this.#slider(one)));
    this.find(".hint").textContent = hintOf(HANDLES[name] ?? []);
    this.curve.setHandles(
      (HANDLES[name] ?? []).map((handle) => ({
        ...handle,
        ...parameters.find((one) => one.name === handle.parameter),
      })),
    );
  }

  #slider(parameter) {
    const { name, label, help, low, high, step } = parameter;
    const field = Object.assign(document.createElement("div"), { className: "field" });
    const words = { htmlFor: `slider-${name}`, textContent: label };
    const title = document.createElement("div");
    const helpButton = this.#helpButton(label, help);
    title.append(Object.assign(document.createElement("label"), words), helpButton);
    const output = Object.assign(document.createElement("output"), { htmlFor: `slider-${name}` });
    const input = Object.assign(document.createElement("input"), {
      type: "range",
      id: `slider-${name}`,
      min: low,
      max: high,
      step: step / FINER,
      oninput: () => this.#set(name, Number(input.value)),
      onchange: () => this.#release(),
      onkeydown: (event) => this.#moveByKey(event, name),
      onblur: () => this.#flush(),
    });
    const heading = Object.assign(document.createElement("div"), { className: "heading" });
    heading.append(title, output);
    field.append(heading, input);
    this.inputs.set(name, { input, output });
    return field;
  }

  // What the hand does

  #parameter(name) {
    return this.function.parameters.find((one) => one.name === name);
  }

  #set(name, value) {
    const { low, high, step } = this.#parameter(name);
    const finest = step / FINER;
    const rounded = Number((Math.round(value / finest) * finest).toFixed(6));
    this.#stopAnimation();
    this.values[name] = Math.min(Math.max(rounded, low), high);
    this.#redraw();
  }

  #grab({ at }) {
    this.#stopAnimation();
    return unclipped(this.name, at, this.values);
  }

  #drag({ parameter, at }, height) {
    this.#set(parameter, valueAtHeight(parameter, height, at, this.values));
  }

  #moveByKey(event, name) {
    const { low, high, step } = this.#parameter(name);
    const value = this.values[name];
    const to = {
      ArrowRight: value + step,
      ArrowUp: value + step,
      ArrowLeft: value - step,
      ArrowDown: value - step,
      PageUp: value + 10 * step,
      PageDown: value - 10 * step,
      Home: low,
      End: high,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.#set(name, to);
    clearTimeout(this.keys);
    this.keys = setTimeout(() => this.#flush(), KEYS_MS);
  }

  /** Tell Python what keys have set, if it does not know yet. */
  #flush() {
    if (!this.keys) return;
    clearTimeout(this.keys);
    this.keys = null;
    this.#release();
  }

  #highlight(column) {
    this.chosen = this.table.names[column];
    this.#redraw();
    this.#release();
  }

  /** Tell Python where the hand stopped. */
  #release(settings = this.settings) {
    const text = this.#textOf(settings);
    const last = this.sent.at(-1) ?? this.heard;
    if (text === last) return;
    this.sent.push(text);
    const { function: name, values, focus } = settings;
    const parameters = this.functions.get(name).parameters;
    const chosen = parameters.map((one) => [one.name, values[one.name]]);
    this.send({ function: name, ...Object.fromEntries(chosen), ...(focus && { focus }) });
    this.find(".status").textContent = plainText(this.#columnSentence());
  }

  // Presets and functions: the curve goes there

  #animateTo({ function: name, ...values }) {
    this.#stopAnimation();
    const from = { ...this.values };
    const to = { ...this.values, ...values };
    this.#release({ function: name, values: to, focus: this.chosen });
    if (name !== this.name) {
      this.blend = { name: this.name, values: from, share: 1 };
      this.#setFunction(name);
    }
    const begun = performance.now();
    const duration = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : ANIMATION_MS;
    const step = (now) => {
      const time = duration ? Math.min((now - begun) / duration, 1) : 1;
      const eased = 1 - (1 - Math.max(time, 0)) ** 3;
      if (this.blend) this.blend.share = 1 - eased;
      for (const key of Object.keys(to)) {
        this.values[key] = this.blend ? to[key] : from[key] + eased * (to[key] - from[key]);
      }
      this.#redraw();
      if (time < 1) {
        this.animation = requestAnimationFrame(step);
      } else {
        Object.assign(this, { values: to, blend: null, animation: null });
      }
    };
    step(begun);
  }

  #stopAnimation() {
    cancelAnimationFrame(this.animation);
    Object.assign(this, { animation: null, blend: null });
  }

  // Batches, as training sees them

  #play() {
    this.nBatches = 0;
    this.timer = setInterval(() => this.#nextBatch(), BATCH_MS);
    this.#showPlaying();
    this.#nextBatch();
  }

  #pause() {
    clearInterval(this.timer);
    this.timer = null;
    this.#showPlaying();
    if (this.fixed) this.#show(this.fixed);
  }

  /** Take random rows with new random numbers; M_j follows from the p_obs of these rows. */
  #nextBatch() {
    if (!this.element.isConnected) return clearInterval(this.timer);
    const { nSampled, names } = this.table;
    const all = Array.from({ length: nSampled }, (_, row) => row);
    const rows = all.slice(0, Math.min(this.data.batchRows, nSampled));
    rows.forEach((_, i) => {
      const j = i + Math.floor(Math.random() * (nSampled - i));
      [all[i], all[j]] = [all[j], all[i]];
      rows[i] = all[i];
    });
    const numbers = Float32Array.from({ length: rows.length * names.length }, Math.random);
    const nObserved = (column) =>
      rows.reduce((total, row) => total + this.observed[row * names.length + column], 0);
    const pObs = names.map((_, column) => nObserved(column) / rows.length);
    this.nBatches += 1;
    this.#show({ observed: this.observed, rows, numbers, pObs });
  }

  #showPlaying() {
    const isPlaying = Boolean(this.timer);
    const button = this.find(".play");
    button.setAttribute("aria-pressed", isPlaying);
    button.querySelector("path").setAttribute("d", isPlaying ? ICONS.pause : ICONS.play);
    button.querySelector("span").textContent = isPlaying ? "Pause" : "Play batches";
  }

  // Drawing

  /** Show some rows: those of the table that stay, or those of a batch. */
  #show(view) {
    this.view = view;
    this.states = new Uint8Array(view.rows.length * view.pObs.length);
    this.curve.setColumns(view.pObs, this.table.names, this.table.labels);
    this.#redraw();
  }

  /** Draw before the next frame, however often the hand moved since the last one. */
  #redraw({ everything = false } = {}) {
    this.resized ||= everything;
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      if (this.element.isConnected && this.find(".curve").clientWidth) this.#draw();
    });
  }

  #draw() {
    if (this.resized) {
      this.curve.resize();
      this.cells.resize(this.table.labels, this.table.nShown);
      this.resized = false;
    }
    const { pObs } = this.view;
    this.probabilities = pObs.map((p) => this.probability(p));
    this.curve.draw((p) => this.probability(p), this.values, {
      uniform: this.data.uniform.rate,
      focus: this.focus,
    });
    this.cells.draw(cellStates(this.view, this.probabilities, this.states), this.focus);
    this.#drawControls();
    this.#drawWords();
  }

  #drawControls() {
    for (const [name, { input, output }] of this.inputs) {
      const value = this.values[name];
      const text = String(Number(value.toFixed(3)));
      if (Number(input.value) !== value) input.value = value;
      input.style.setProperty("--filled", (value - input.min) / (input.max - input.min));
      if (output.value !== text) output.value = text;
    }
    this.find("#column").selectedIndex = this.focus;
    const active = this.data.presets.findIndex(({ settings: { function: name, ...values } }) => {
      const isSame = Object.entries(values).every(([key, value]) => this.values[key] === value);
      return name === this.name && isSame && !this.blend;
    });
    [...this.find(".presets").children].forEach((button, i) => {
      button.setAttribute("aria-pressed", i === active);
    });
    const why = this.data.presets[active]?.why ?? "";
    if (this.find(".why").textContent !== why) this.find(".why").textContent = why;
    this.find(".notes").classList.toggle("stale", this.#textOf(this.settings) !== this.heard);
  }

  #columnSentence() {
    const { pObs } = this.view;
    const rows = this.timer ? "the rows of this batch" : "rows";
    return columnSentence(
      this.table.names[this.focus],
      pObs[this.focus],
      this.probability(pObs[this.focus]),
      rows,
    );
  }

  #drawWords() {
    const { nRows, nShown } = this.table;
    const shown = Math.min(nShown, this.view.rows.length);
    let ofTable = null;
    let ofRows = `The picture shows ${count(shown)} of ${count(nRows)} rows, at random.`;
    if (this.timer) {
      const observed = this.states.filter((state) => state !== MISSING).length;
      const masked = this.states.filter((state) => state === MASKED).length;
      ofTable = batchSentence(this.nBatches, masked, observed);
      ofRows =
        `The picture shows ${count(shown)} of the ${count(this.view.rows.length)} rows of a batch ` +
        "with new random numbers. M_j follows from the batch's own p_obs, as in the paper.";
    } else {
      ofTable = tableSentence(
        this.view.pObs, this.probabilities, nRows, this.data.uniform.rate,
      );
    }
    writeSentence(this.find(".of-table"), ofTable);
    writeSentence(this.find(".of-column"), this.#columnSentence());
    writeSentence(this.find(".rows"), [ofRows]);
  }
}
