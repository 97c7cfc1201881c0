/** Reads server-sent events (WHATWG HTML, section 9.2). */
export type StreamEvent = {
  readonly id: string;
  readonly event: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read arbitrary responses
  readonly data: any;
};

/** Yields the events until the stream ends. Leaving the loop closes the stream. It does not read ahead. */
export async function* eventsOf(response: Response): AsyncGenerator<StreamEvent> {
  if (!response.body) return;
  let text = "";
  for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
    text += part;
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const field = (name: string): string =>
        block
          .split("\n")
          .filter((row) => row.startsWith(`${name}: `))
          .map((row) => row.slice(name.length + 2))
          .join("\n");
      if (field("event") !== "") yield { id: field("id"), event: field("event"), data: JSON.parse(field("data")) };
    }
  }
}

/** Reads until the log contains the text. Returns the log so far and the id of the last event. */
export async function readUntil(
  stream: AsyncGenerator<StreamEvent>,
  wanted: string,
): Promise<{ readonly text: string; readonly lastEventId: string }> {
  let text = "";
  for (let next = await stream.next(); !next.done; next = await stream.next()) {
    if (next.value.event === "log") text += next.value.data.text as string;
    if (text.includes(wanted)) return { text, lastEventId: next.value.id };
  }
  throw new Error(`The log ended without ${JSON.stringify(wanted)}: ${text}`);
}

/** Reads until the execution ends. */
export async function readToEnd(
  stream: AsyncGenerator<StreamEvent>,
): Promise<{ readonly text: string; readonly status: string }> {
  let text = "";
  for await (const { event, data } of stream) {
    if (event === "end") return { text, status: data.status as string };
    text += data.text as string;
  }
  throw new Error(`The log ended before the execution: ${text}`);
}
