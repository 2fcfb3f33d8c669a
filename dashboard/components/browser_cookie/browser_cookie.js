// Keeps one value in a cookie of the browser, for this site alone.
export default function keepCookie({ data }) {
  const secure = location.protocol === "https:" ? "; Secure" : "";
  const attributes = `Path=/; Max-Age=${data.seconds}; SameSite=Lax${secure}`;
  document.cookie = `${data.name}=${encodeURIComponent(data.value)}; ${attributes}`;
}
