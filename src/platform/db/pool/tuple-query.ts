import { Query as DriverQuery } from "pg";
import { getTypeParser } from "../connection.ts";

type Parser = (text: string) => unknown;
/** The driver's default parser for types. */
const asText = getTypeParser(25, "text") as Parser;

type Answered = (error: Error | null | undefined, result: { readonly rows: never[] }) => void;

/**
 * A statement that returns each row as an array of values. The driver's own `rowMode: "array"` copies the query's
 * description property by property, builds an unused object for each result and emits an event for each row. That
 * costs 10 to 20 µs of the 90 µs of CPU that a short list takes.
 */
export class TupleQuery extends DriverQuery {
  readonly #answered: Answered;
  readonly #rows: unknown[][] = [];
  #parsers: readonly Parser[] = [];
  #failed: Error | undefined;
  /** The driver prepares a named query once for each connection. */
  name: string | undefined;

  constructor(text: string, values: readonly unknown[], answered: Answered) {
    super(text, [...values], answered as never);
    this.#answered = answered;
  }

  handleRowDescription({ fields }: { readonly fields: readonly { readonly dataTypeID: number }[] }): void {
    this.#parsers = fields.map(({ dataTypeID }) => getTypeParser(dataTypeID, "text") as Parser);
  }

  /** The driver creates these texts for this query only, so they can be replaced in place. */
  handleDataRow({ fields: row }: { readonly fields: unknown[] }): void {
    if (this.#failed) return;
    try {
      const parsers = this.#parsers;
      for (let n = 0; n < row.length; n += 1) {
        const [parse, text] = [parsers[n] ?? asText, row[n]];
        if (text !== null && parse !== asText) row[n] = parse(text as string);
      }
      this.#rows.push(row);
    } catch (error) {
      // Called when the database has answered the whole statement.
      this.#failed = error as Error;
    }
  }

  handleCommandComplete(): void {}

  handleError(error: Error): void {
    this.#answered(this.#failed ?? error, { rows: [] });
  }

  handleReadyForQuery(): void {
    this.#answered(this.#failed, { rows: this.#rows as never[] });
  }
}
