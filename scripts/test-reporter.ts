/** A reporter for Node's test runner. It prints the absolute path of each file with a failed test, one per line. */
type TestEvent = { readonly type: string; readonly data: { readonly file?: string } };

export default async function* failedFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const seen = new Set<string>();
  for await (const { type, data } of events) {
    if (type !== "test:fail" || data.file === undefined || seen.has(data.file)) continue;
    seen.add(data.file);
    yield `${data.file}\n`;
  }
}
