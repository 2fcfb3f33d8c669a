// Loads the code that draws figures, once per window and only when the browser is idle.
const LONGEST_WAIT_MS = 3000;
const whenIdle = window.requestIdleCallback ?? ((load) => setTimeout(load, LONGEST_WAIT_MS));
let asked = false;

export default function ({ data }) {
  if (asked || navigator.connection?.saveData) return;
  asked = true;
  const entry = document.querySelector('script[type="module"][src*="/static/js/"]');
  if (!entry) return;
  // Streamlit asks for the same address later, and finds it loaded. If this fails, it loads it then.
  whenIdle(() => import(new URL(data.script, entry.src).href).catch(() => {}), {
    timeout: LONGEST_WAIT_MS,
  });
}
