// Loads the code that draws figures, once per window and only when the browser is idle. To run it
// takes a moment in which nothing else is drawn, so the page gets its time first.
const PAGE_MS = 2000;
const whenIdle = window.requestIdleCallback ?? ((load) => load());
let asked = false;

export default function ({ data }) {
  if (asked || navigator.connection?.saveData) return;
  asked = true;
  const entry = document.querySelector('script[type="module"][src*="/static/js/"]');
  if (!entry) return;
  // Streamlit asks for the same address later, and finds it loaded. If this fails, it loads it then.
  const load = () => import(new URL(data.script, entry.src).href).catch(() => {});
  setTimeout(() => whenIdle(load), PAGE_MS);
}
