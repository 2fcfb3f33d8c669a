// Texts in sight with too little contrast, as {text, contrast, color, ground, where}. Icons, which
// a font draws as text, are pictures: for them a lower contrast suffices. Signs without letters
// and digits, such as the ■ of a legend, are not measured.
async ({ text: leastForText, icon: leastForIcons }) => {
  const ICON = '[data-testid="stIconMaterial"], [role="img"][translate="no"]';
  const NO_TEXT = "script, style, noscript, title, option, canvas *";
  const TYPED = "textarea, input:not([type]), input[type=text], input[type=number], input[type=search]";

  const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

  /** Any CSS color as [red, green, blue, opacity]: browsers write computed colors in many ways. */
  function rgba(color, opacity = 1) {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = color;
    pen.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = pen.getImageData(0, 0, 1, 1).data;
    return [red, green, blue, (opacity * alpha) / 255];
  }
  function over([red, green, blue, alpha], ground) {
    return [red, green, blue].map((channel, at) => alpha * channel + (1 - alpha) * ground[at]);
  }
  function luminance(color) {
    const [red, green, blue] = color
      .map((channel) => channel / 255)
      .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  }
  function contrast(one, other) {
    const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  }

  /** The element and all that it is in, through shadow roots, from the inside out. */
  function chain(element) {
    const all = [];
    for (let at = element; at; at = at.parentElement ?? at.getRootNode().host) all.push(at);
    return all;
  }
  function middle(element) {
    const box = element.getBoundingClientRect();
    return [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
  }
  function covers(element, [x, y]) {
    const box = element.getBoundingClientRect();
    return box.left <= x && x <= box.right && box.top <= y && y <= box.bottom;
  }

  /** What lies behind the middle of a text: boxes around it, and marks of a figure. */
  async function groundOf(element) {
    const point = middle(element);
    const colors = chain(element)
      .filter((at) => at === document.documentElement || at === document.body || covers(at, point))
      .reverse()
      .map((at) => rgba(getComputedStyle(at).backgroundColor));
    colors.push(...(await colorsOfMarks(element, point)));
    return colors.reduce((ground, color) => over(color, ground), [255, 255, 255]);
  }
  async function colorsOfMarks(element, point) {
    const bars = element.closest(".bartext")?.parentElement.querySelectorAll("path") ?? [];
    const points = element.closest(".trace.scatter")?.querySelectorAll("path.point") ?? [];
    const cells = element.closest("svg:not(.main-svg)")?.querySelectorAll("rect") ?? [];
    const marks = [...bars, ...points, ...cells].filter((mark) => covers(mark, point)).map((mark) => {
      const style = getComputedStyle(mark);
      return rgba(style.fill, style.fillOpacity * style.opacity);
    });
    const pictures = element.closest(".hm")?.querySelectorAll("image") ?? [];
    for (const picture of pictures) marks.push(await pixelOf(picture, point));
    return marks;
  }
  /** The color of a heatmap, which is a picture, at a point of the window. */
  async function pixelOf(picture, [x, y]) {
    const loaded = new Image();
    loaded.src = picture.href.baseVal;
    await loaded.decode();
    const box = picture.getBoundingClientRect();
    const across = ((x - box.left) / box.width) * loaded.naturalWidth;
    const down = ((y - box.top) / box.height) * loaded.naturalHeight;
    pen.clearRect(0, 0, 1, 1);
    pen.drawImage(loaded, Math.floor(across), Math.floor(down), 1, 1, 0, 0, 1, 1);
    const [red, green, blue, alpha] = pen.getImageData(0, 0, 1, 1).data;
    return [red, green, blue, alpha / 255];
  }

  function isInSight(element) {
    const box = element.getBoundingClientRect();
    const forReadersAlone = box.width <= 1 || box.height <= 1;
    return !forReadersAlone && element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  }
  /** A button that cannot be pressed says nothing; an answer that cannot be changed does. */
  const isOff = (element) => chain(element).some((at) => at.matches("button:disabled:not([role=radio])"));

  function textOf(element) {
    if (element.matches(TYPED)) return element.value || element.placeholder;
    const own = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE);
    return own.map((node) => node.data).join("").trim();
  }
  function* elementsIn(root) {
    for (const element of root.querySelectorAll("*")) {
      yield element;
      if (element.shadowRoot) yield* elementsIn(element.shadowRoot);
    }
  }
  function nameOf(element) {
    return element.dataset?.testid || element.getAttribute("class")?.split(" ")[0] || element.localName;
  }

  const found = [];
  for (const element of elementsIn(document)) {
    const text = element.matches(NO_TEXT) ? "" : textOf(element);
    if (!/[\p{L}\p{N}]/u.test(text) || !isInSight(element) || isOff(element)) continue;
    const style = getComputedStyle(element);
    const isSvg = element instanceof SVGElement;
    const opacity = chain(element).reduce((product, at) => product * getComputedStyle(at).opacity, 1);
    const ground = await groundOf(element);
    const ink = rgba(isSvg ? style.fill : style.color, opacity * (isSvg ? style.fillOpacity : 1));
    const color = over(ink, ground);
    const reached = contrast(color, ground);
    if (reached < (element.closest(ICON) ? leastForIcons : leastForText)) {
      found.push({
        text: text.slice(0, 40),
        contrast: Number(reached.toFixed(2)),
        color: color.map(Math.round).join(),
        ground: ground.map(Math.round).join(),
        where: chain(element).slice(0, 4).map(nameOf).join(" in "),
      });
    }
  }
  return found;
};
