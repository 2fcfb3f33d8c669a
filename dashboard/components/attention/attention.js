// Moves the focus to the container that this component stands in, once per occasion.
const SETTLING_MILLISECONDS = 1500;
const done = new Map(); // by container: the last occasion

export default function bringReaderHere({ data, parentElement: root }) {
  const { container, occasion, scroll } = data;
  // Streamlit calls this function again after each rerun.
  if (occasion === null || done.get(container) === occasion) return;
  done.set(container, occasion);
  const place = root.host.closest(`.st-key-${container}`);
  const main = place.closest('[data-testid="stMain"]');
  place.tabIndex = -1;
  place.focus({ preventScroll: true });
  if (scroll === "top") main.scrollTo({ top: 0 });
  else keepInView(place, main);
}

/** Figures above may still grow and push the place away, until the reader scrolls. */
function keepInView(place, main) {
  const growing = new ResizeObserver(() => place.scrollIntoView({ block: "nearest" }));
  const stop = () => {
    growing.disconnect();
    for (const event of READING) main.removeEventListener(event, stop);
  };
  growing.observe(main.firstElementChild);
  for (const event of READING) main.addEventListener(event, stop, { passive: true });
  setTimeout(stop, SETTLING_MILLISECONDS);
}

const READING = ["wheel", "touchmove", "keydown", "pointerdown"];
