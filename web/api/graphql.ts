import { request } from "./client.ts";
import { operation } from "./operation.ts";

type GraphqlBody = { readonly query: string; readonly variables?: Readonly<Record<string, unknown>> };

/** The endpoint of all GraphQL operations. */
export const graphqlRun = operation<object, object, GraphqlBody, unknown>(
  "graphql.run",
  "POST",
  "/api/graphql",
  null,
  "accountId",
);

/** Runs the document with the session. The answer is JSON, also with errors of GraphQL. */
export async function runQuery(body: GraphqlBody, signal?: AbortSignal): Promise<unknown> {
  const { answer } = await request(graphqlRun, { body }, signal ? { signal } : {});
  return answer;
}

/** The data of the document. Throws the first of its errors. */
export async function fetchGraphql<Data>(body: GraphqlBody, signal?: AbortSignal): Promise<Data> {
  const { data, errors } = (await runQuery(body, signal)) as {
    readonly data: Data;
    readonly errors?: readonly { readonly message: string }[];
  };
  if (errors?.[0] !== undefined) throw new Error(errors[0].message);
  return data;
}
