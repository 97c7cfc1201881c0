/** An operation of the public API as api/openapi.json describes it. The types of its parts have no values. */
export type Operation<Path, Query, Body, Answer> = {
  readonly id: string;
  readonly method: string;
  /** With `{name}` for parts of the path. */
  readonly path: string;
  /** The permission that the API checks; null if it checks none or several. */
  readonly permission: string | null;
  /** The query parameter that names the account; null if there is none. */
  readonly account: string | null;
  readonly types?: { readonly path: Path; readonly query: Query; readonly body: Body; readonly answer: Answer };
};

export function operation<Path, Query, Body, Answer>(
  id: string,
  method: string,
  path: string,
  permission: string | null,
  account: string | null,
): Operation<Path, Query, Body, Answer> {
  return { id, method, path, permission, account };
}

// oxlint-disable-next-line typescript/no-explicit-any -- stands for the operations of all types
export type AnyOperation = Operation<any, any, any, any>;
