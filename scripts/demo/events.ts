/** Reads server-sent events from a response. */
export async function* eventsOf(response: Response): AsyncIterable<{ readonly event: string; readonly data: string }> {
  if (!response.ok || !response.body) throw new Error(`${response.status} ${response.url}`);
  let text = "";
  for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
    text += part;
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = fieldOf(block, "event");
      if (event !== "") yield { event, data: fieldOf(block, "data") };
    }
  }
}

function fieldOf(block: string, name: string): string {
  const prefix = `${name}: `;
  const rows = block.split("\n").filter((row) => row.startsWith(prefix));
  return rows.map((row) => row.slice(prefix.length)).join("\n");
}
