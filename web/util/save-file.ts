/** Saves the bytes as a download of the browser. */
export function saveFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has begun to read it by then; the memory would stay until the page is left.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
