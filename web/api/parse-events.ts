/** An event of a stream. `id` is undefined for an event without one. */
export type StreamEvent = { readonly type: string; readonly data: unknown; readonly id: string | undefined };

/**
 * Reads server-sent events (HTML standard, section 9.2.6) until the stream ends. All data of this API is JSON.
 * `onBytes` is called for each piece, also for comments.
 */
export async function parseEvents(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void,
  onEvent: (event: StreamEvent) => void,
): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = "";
  let fields = emptyFields();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    onBytes();
    const lines = (rest + value).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line !== "") addField(fields, line);
      else {
        if (fields.data.length > 0) onEvent(eventOf(fields));
        fields = emptyFields();
      }
    }
  }
}

type Fields = { type: string; id: string | undefined; data: string[] };
const emptyFields = (): Fields => ({ type: "message", id: undefined, data: [] });

function addField(fields: Fields, line: string): void {
  const colon = line.indexOf(":");
  const name = colon === -1 ? line : line.slice(0, colon);
  const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
  if (name === "data") fields.data.push(value);
  if (name === "event") fields.type = value;
  if (name === "id") fields.id = value;
}

const eventOf = ({ type, id, data }: Fields): StreamEvent => ({
  type,
  id,
  data: JSON.parse(data.join("\n")) as unknown,
});
