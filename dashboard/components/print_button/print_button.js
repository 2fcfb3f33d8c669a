// Opens the browser's window for printing.
export default function printButton({ parentElement }) {
  parentElement.querySelector("button").onclick = () => window.print();
}
