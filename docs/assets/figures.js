// Figures take the colour of the text around them, also when the reader switches to dark.
function colourFigures() {
  const colour = getComputedStyle(document.body).getPropertyValue("color");
  for (const figure of document.querySelectorAll(".plotly-graph-div")) {
    Plotly.relayout(figure, {"font.color": colour});
  }
}

window.addEventListener("load", () => {
  colourFigures();
  new MutationObserver(colourFigures).observe(document.body, {
    attributeFilter: ["data-md-color-scheme"],
  });
});
