const PIXELS_PER_PIXEL = 3; // of a PNG: sharp on slides and on paper
const TITLE = { size: 17, lineHeight: 23, space: 16, widthOfLetter: 8.5 };
const LONGEST_CODE = 200_000; // letters; a longer figure would choke the cell of a notebook
const READ_SECONDS = 1.5;

export default function ({ data, parentElement: root }) {
  const opener = root.querySelector(".opener");
  const menu = root.querySelector(".menu");
  const status = root.querySelector(".status");
  const items = [...menu.querySelectorAll("[role=menuitem]")];
  const container = root.host.closest('[class*="st-key-figure-"]');

  const actions = {
    png: () => downloadPicture(container, data, "png").then(close),
    svg: () => downloadPicture(container, data, "svg").then(close),
    csv: () => pressDownloadButton(container).then(close),
    code: () => copyCode(container, data).then(closeAfter),
  };

  function close() {
    menu.hidePopover();
  }
  function closeAfter(message) {
    status.textContent = message;
    setTimeout(close, 1000 * READ_SECONDS * Math.ceil(message.length / 20));
  }
  async function run(action) {
    status.textContent = "";
    try {
      await actions[action]();
    } catch (error) {
      status.textContent = `This did not work: ${error.message}`;
    }
  }

  // Streamlit calls this function again after each rerun: handlers are set, never added.
  for (const item of items) item.onclick = () => run(item.dataset.action);
  items.find((item) => item.dataset.action === "csv").hidden = !data.hasData;
  menu.onkeydown = (event) => moveFocus(event, items.filter((item) => !item.hidden), menu);
  menu.onbeforetoggle = (event) => {
    if (event.newState === "open") status.textContent = "";
    else if (menu.contains(root.activeElement)) opener.focus({ preventScroll: true });
  };
  menu.ontoggle = (event) => {
    const open = event.newState === "open";
    opener.setAttribute("aria-expanded", String(open));
    if (!open) return;
    placeBelow(menu, opener);
    items[0].focus();
    // The menu lies above the page and would stay behind when the page moves.
    document.addEventListener("scroll", close, { capture: true, once: true, passive: true });
  };
}

function placeBelow(menu, opener) {
  const corner = opener.getBoundingClientRect();
  const below = corner.bottom + 4;
  const fits = below + menu.offsetHeight <= window.innerHeight;
  menu.style.top = `${fits ? below : Math.max(4, corner.top - menu.offsetHeight - 4)}px`;
  menu.style.left = `${Math.max(4, corner.right - menu.offsetWidth)}px`;
}

function moveFocus(event, items, menu) {
  const at = items.indexOf(event.target);
  const next = {
    ArrowDown: items[(at + 1) % items.length],
    ArrowUp: items[(at + items.length - 1) % items.length],
    Home: items[0],
    End: items.at(-1),
  }[event.key];
  if (next) {
    event.preventDefault();
    next.focus();
  } else if (event.key === "Tab") {
    menu.hidePopover();
  }
}

/** The chart as Plotly drew it; Streamlit's bundle of Plotly makes itself known to the window. */
function chartOf(container) {
  const chart = container.querySelector(".js-plotly-plot");
  if (!window.Plotly || !chart?.data) throw new Error("the figure is not drawn yet.");
  return chart;
}

async function downloadPicture(container, { name, title, layout }, format) {
  const chart = chartOf(container);
  const width = chart.clientWidth;
  const lines = wrapped(title, Math.floor(width / TITLE.widthOfLetter));
  const titleHeight = lines.length * TITLE.lineHeight + TITLE.space;
  const height = chart.clientHeight + titleHeight;
  const picture = { data: chart.data, layout: onPaper(JSON.parse(layout), lines, titleHeight) };
  const scale = format === "png" ? PIXELS_PER_PIXEL : 1;
  await window.Plotly.downloadImage(picture, { format, filename: name, width, height, scale });
}

/** The layout with a title and a white ground, whatever the theme of the page. */
function onPaper(layout, lines, titleHeight) {
  return {
    ...layout,
    paper_bgcolor: "white",
    margin: { ...layout.margin, t: (layout.margin?.t ?? 0) + titleHeight },
    title: {
      text: lines.map(escaped).join("<br>"),
      font: { size: TITLE.size },
      x: 0,
      xanchor: "left",
      y: 1,
      yanchor: "top",
      yref: "container",
      pad: { l: 8, t: TITLE.space / 2 },
    },
  };
}

function wrapped(text, longest) {
  const lines = [""];
  for (const word of text.split(/\s+/)) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (longer.length <= longest || lines.at(-1) === "") lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** Text for Plotly, which reads a little HTML. */
function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

async function pressDownloadButton(container) {
  container.querySelector('[data-testid="stDownloadButton"] button').click();
}

/** Copy code that makes the figure in a notebook; what is too long for a cell goes into a file. */
async function copyCode(container, { name, title, layout }) {
  const traces = JSON.stringify(chartOf(container).data, asSentByPython);
  const figure = `{"data":${traces},"layout":${layout}}`;
  if (figure.length <= LONGEST_CODE) {
    // A raw string of Python cannot hold its own quotation marks; JSON can write them otherwise.
    const literal = figure.replaceAll("'", "\\u0027");
    await copyText(notebookCode(title, `pio.from_json(r'''${literal}''')`));
    return "Copied.";
  }
  save(figure, `${name}.json`);
  await copyText(notebookCode(title, `pio.read_json("${name}.json")`));
  return `Copied. Put ${name}.json, which was downloaded, beside your notebook.`;
}

function notebookCode(title, figure) {
  const comment = title.replace(/[\s\p{Cc}]+/gu, " ");
  return `# ${comment}\nimport plotly.io as pio\n\nfig = ${figure}\nfig\n`;
}

/** Leave out what Plotly notes in the traces, and what the reader clicked. */
function asSentByPython(key, value) {
  return key.startsWith("_") || key === "selectedpoints" ? undefined : value;
}

async function copyText(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // Browsers keep the clipboard from pages without HTTPS, but for what is selected.
  const field = document.createElement("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  const copied = document.execCommand("copy");
  field.remove();
  if (!copied) throw new Error("the browser does not allow this page to copy.");
}

function save(text, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
