// The stage: a scene that is drawn, moved through its states and talked about.

const STEP_MILLISECONDS = 900;
const PAUSE_MILLISECONDS = 700;

const stages = new WeakMap(); // by their element: Streamlit calls again after each rerun
const remembered = new Map(); // by key: what was shown, should Streamlit build the element anew

export default function ({ data, parentElement, setStateValue }) {
  const element = parentElement.querySelector(".stage");
  if (!stages.has(element)) stages.set(element, new Stage(element));
  stages.get(element).show(data, setStateValue);
  // Streamlit also cleans up after a call that a newer one overtook.
  return () => {
    if (!element.isConnected) stages.get(element)?.close();
  };
}

class Stage {
  constructor(element) {
    const find = (selector) => element.querySelector(selector);
    this.element = element;
    this.svg = find("svg");
    this.canvas = find("canvas");
    this.steps = find(".steps");
    this.replay = find(".replay");
    this.slider = find(".slider");
    this.input = find("input");
    this.caption = find(".caption");
    this.ghost = find(".ghost");
    this.reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");
    this.print = matchMedia("print");
    this.width = 0;
    this.redraw = () => this.draw();
    this.print.addEventListener("change", this.redraw);
    this.rebuild = () => this.fit({ again: true });
    document.fonts.addEventListener("loadingdone", this.rebuild); // text has another width now
    const inSight = { threshold: 0.3 }; // the share that must be seen
    this.sight = new IntersectionObserver((entries) => this.seen(entries.at(-1)), inSight);
    // In the next frame: what changes its own size while it is measured is an error to browsers.
    this.resizing = new ResizeObserver(() => requestAnimationFrame(() => this.fit()));
    this.resizing.observe(element);
  }

  close() {
    this.stop();
    this.resizing.disconnect();
    this.sight.disconnect();
    document.fonts.removeEventListener("loadingdone", this.rebuild);
    this.print.removeEventListener("change", this.redraw);
    stages.delete(this.element);
  }

  show(data, setStateValue) {
    this.send = setStateValue;
    if (data.digest !== this.digest) {
      this.open(data);
    } else {
      this.paper?.forgetDots(); // the theme may have changed
      this.draw();
    }
    if (data.play && !this.memory.played) {
      Object.assign(this.memory, { played: true, rest: this.states.length - 1 });
      if (this.reducedMotion.matches) this.reveal();
      else this.sight.observe(this.element); // what moves out of sight is not seen moving
    }
  }

  seen({ isIntersecting }) {
    if (!isIntersecting) return;
    this.sight.disconnect();
    this.reveal();
  }

  reveal() {
    if (this.scene.slider) this.sweep();
    else this.play();
  }

  /** Take a new scene; one that was shown before is as it was left. */
  open({ key, digest, scene, value }) {
    this.stop();
    this.sight.disconnect();
    this.digest = digest;
    this.scene = scene;
    const layers = scene.panels.flatMap((panel) => panel.layers);
    this.staggered = layers.map((layer) => LAYERS[layer.kind].staggered ?? false);
    const stateOf = (layer, k) => LAYERS[layer.kind].state(layer, k);
    this.states = scene.states.map((_, k) => layers.map((layer) => stateOf(layer, k)));
    if (remembered.get(key)?.digest !== digest) {
      remembered.set(key, { digest, rest: 0, played: false }); // rest: the state it ends in
    }
    this.memory = remembered.get(key);
    this.buildSteps();
    this.buildSlider();
    this.updates = null;
    this.sent = value;
    if (scene.slider) this.slide(value);
    else this.jump(this.memory.rest);
    this.fit({ again: true });
  }

  // Drawing

  fit({ again = false } = {}) {
    const width = this.element.clientWidth;
    if (!width || (width === this.width && !again)) return;
    this.width = width;
    this.build();
    this.draw();
    this.keepRoomForCaptions();
  }

  build() {
    const { panels, height } = this.scene;
    const plan = planPanels(panels, this.width, height, new Ruler(this.element));
    this.svg.replaceChildren();
    set(this.svg, { viewBox: `0 0 ${this.width} ${plan.height}` });
    this.paper = new Paper(this.canvas, this.width, plan.height);
    this.updates = plan.plans.map((panel) => buildPanel(panel, this.svg, this.paper));
  }

  draw() {
    if (!this.updates) return;
    this.paper.clear();
    const finished = this.print.matches && !this.scene.slider;
    const layers = finished ? this.states.at(-1) : this.present;
    let first = 0;
    this.scene.panels.forEach((panel, k) => {
      this.updates[k](layers.slice(first, first + panel.layers.length));
      first += panel.layers.length;
    });
    this.tell(finished ? this.states.length - 1 : this.state);
  }

  /** The caption of a state, also for those who do not see the picture. */
  tell(state) {
    const caption = this.scene.captions[state];
    if (this.caption.textContent !== caption) this.caption.textContent = caption;
    set(this.svg, { "aria-label": `${this.scene.description} ${caption}`.trim() });
  }

  /** What stands below must not move when a caption is longer than the one before. */
  keepRoomForCaptions() {
    const heights = this.scene.captions.map((caption) => {
      this.ghost.textContent = caption;
      return this.ghost.offsetHeight;
    });
    this.ghost.textContent = "";
    this.caption.style.minHeight = `${Math.max(...heights)}px`;
  }

  // Moving

  stop() {
    cancelAnimationFrame(this.frame);
  }

  /** Call a function per frame with the share of the time that is over. Stopped, it never ends. */
  animate(milliseconds, step) {
    return new Promise((done) => {
      let start;
      const frame = (now) => {
        start ??= now;
        const share = Math.min(1, (now - start) / milliseconds);
        step(share);
        if (share < 1) this.frame = requestAnimationFrame(frame);
        else done();
      };
      this.frame = requestAnimationFrame(frame);
    });
  }

  jump(state) {
    this.stop();
    this.markStep(state);
    this.present = this.states[state];
    this.draw();
  }

  transition(state) {
    const from = this.present;
    const to = this.states[state];
    this.markStep(state);
    return this.animate(STEP_MILLISECONDS, (share) => {
      const paces = this.staggered.map((staggered) => paceOf(share, staggered));
      this.present = to.map((layer, k) => between(from[k], layer, paces[k]));
      this.draw();
    });
  }

  goTo(state) {
    this.stop();
    this.sight.disconnect();
    this.memory.rest = state;
    if (this.reducedMotion.matches) this.jump(state);
    else this.transition(state);
  }

  /** From the first state to the last, with time to read in each. */
  async play() {
    const last = this.states.length - 1;
    this.memory.rest = last;
    if (this.reducedMotion.matches) return this.jump(last);
    this.jump(0);
    for (let state = 1; state <= last; state++) {
      await this.animate(PAUSE_MILLISECONDS, () => {});
      await this.transition(state);
    }
  }

  // Steps

  buildSteps() {
    const { states, slider } = this.scene;
    const needed = states.length > 1 && !slider;
    this.steps.hidden = this.replay.hidden = !needed;
    this.replay.onclick = () => this.play();
    const buttons = states.map((name, state) => {
      const button = document.createElement("button");
      button.type = "button";
      button.setAttribute("role", "radio");
      button.textContent = name;
      button.onclick = () => this.goTo(state);
      return button;
    });
    this.steps.replaceChildren(...(needed ? buttons : []));
    this.steps.onkeydown = (event) => this.moveByKey(event);
  }

  moveByKey(event) {
    const last = this.states.length - 1;
    const { state } = this;
    const next = {
      ArrowRight: Math.min(last, state + 1),
      ArrowDown: Math.min(last, state + 1),
      ArrowLeft: Math.max(0, state - 1),
      ArrowUp: Math.max(0, state - 1),
      Home: 0,
      End: last,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    this.goTo(next);
    this.steps.children[next].focus();
  }

  markStep(state) {
    this.state = state;
    [...this.steps.children].forEach((button, k) => {
      set(button, { "aria-checked": k === state });
      button.tabIndex = k === state ? 0 : -1;
    });
  }

  // Slider

  buildSlider() {
    const { slider } = this.scene;
    this.slider.hidden = !slider;
    if (!slider) return;
    this.slider.querySelector(".name").textContent = slider.label;
    this.input.min = slider.values[0];
    this.input.max = slider.values.at(-1);
    this.input.oninput = () => {
      this.stop();
      this.frame = requestAnimationFrame(() => this.slide(Number(this.input.value)));
    };
    this.input.onchange = () => this.release();
    this.input.onkeydown = (event) => this.slideByKey(event);
    this.input.onkeyup = this.input.onblur = () => this.release();
  }

  /** Draw the picture at a value: between two states, if it is between their values. */
  slide(value) {
    const { values, decimals } = this.scene.slider;
    const above = clamp(values.findIndex((bound) => bound >= value), 1, values.length - 1);
    const share = clamp((value - values[above - 1]) / (values[above] - values[above - 1]), 0, 1);
    this.present = this.states[above].map((layer, k) =>
      between(this.states[above - 1][k], layer, () => share),
    );
    this.state = share < 0.5 ? above - 1 : above;
    this.input.value = value;
    const words = written(value, decimals);
    this.slider.querySelector("output").textContent = words;
    set(this.input, { "aria-valuetext": words });
    this.draw();
  }

  /** Tell Python, once: the value as it is written. */
  release() {
    const { values, decimals } = this.scene.slider;
    const now = Number(this.input.value);
    if (now === this.sent) return;
    this.stop();
    this.sent = clamp(Number(now.toFixed(decimals)), values[0], values.at(-1));
    this.slide(this.sent);
    this.send("moved", { digest: this.digest, value: this.sent });
  }

  slideByKey(event) {
    const { values, decimals } = this.scene.slider;
    const [low, high] = [values[0], values.at(-1)];
    const small = 10 ** -decimals;
    const large = Math.max(small, (high - low) / 10);
    const now = Number(this.input.value);
    const next = {
      ArrowRight: now + small,
      ArrowUp: now + small,
      ArrowLeft: now - small,
      ArrowDown: now - small,
      PageUp: now + large,
      PageDown: now - large,
      Home: low,
      End: high,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    this.stop();
    this.slide(clamp(next, low, high));
  }

  /** Show what the slider does: from its first value to where it starts. */
  sweep() {
    const { values, start } = this.scene.slider;
    if (this.reducedMotion.matches || start === values[0]) return;
    this.animate(STEP_MILLISECONDS, (share) => this.slide(mix(values[0], start, eased(share))));
  }
}
