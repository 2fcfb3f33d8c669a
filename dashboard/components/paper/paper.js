// Before a page is printed: what style sheets cannot know about the window that is printed.
const DRAWINGS = ".js-plotly-plot .svg-container";

addEventListener("beforeprint", () => {
  const { colorScheme } = getComputedStyle(document.querySelector(".stApp"));
  document.documentElement.dataset.printed = colorScheme;
  document.querySelectorAll(DRAWINGS).forEach(fitPaper);
});
addEventListener("afterprint", () => {
  delete document.documentElement.dataset.printed;
  document.querySelectorAll(DRAWINGS).forEach(fitWindow);
});

/** Let a drawing shrink with the paper: Plotly draws for one width, and cannot draw in time. */
function fitPaper(drawing) {
  const { clientWidth: width, clientHeight: height } = drawing;
  drawing.style.setProperty("--drawn-width", `${width}px`);
  drawing.style.aspectRatio = `${width} / ${height}`;
  for (const layer of drawing.querySelectorAll(".main-svg")) {
    layer.setAttribute("viewBox", `0 0 ${width} ${height}`);
  }
}
function fitWindow(drawing) {
  drawing.style.removeProperty("--drawn-width");
  drawing.style.aspectRatio = "";
  for (const layer of drawing.querySelectorAll(".main-svg")) layer.removeAttribute("viewBox");
}

// The page has it as long as it is open: listeners above are all that it needs.
export default function () {}
