// Moves the focus to the container that this component stands in, once per occasion.
const done = new Map();

export default function bringReaderHere({ data, parentElement: root }) {
  const { container, occasion, scroll } = data;
  // Streamlit calls this function again after each rerun.
  if (occasion === null || done.get(container) === occasion) return;
  done.set(container, occasion);
  const place = root.host.closest(`.st-key-${container}`);
  place.tabIndex = -1;
  place.focus({ preventScroll: true });
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  const behavior = calm ? "instant" : "smooth";
  if (scroll === "top") place.closest('[data-testid="stMain"]').scrollTo({ top: 0 });
  else place.scrollIntoView({ block: "nearest", behavior });
}
