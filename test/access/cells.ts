/** The cells of the matrix: how a request is sent and what its response means. */
import type { GraphQLField } from "graphql";
import { WebSocket } from "ws";
import { isStream } from "../contract/operations.ts";
import type { World } from "../contract/world.ts";
import type { Answer, TestPlatform } from "../support/platform.ts";
import { sendSample, callOf, type Sample } from "../scenarios/attacks/requests.ts";

/** `-` unauthenticated (401) · `x` forbidden (403) · `?` not found · `+` other: success, or another refusal. */
export type Cell = "-" | "x" | "?" | "+";

const cellOf = ({ status, text }: Pick<Answer, "status" | "text">): Cell => {
  if (status >= 500) throw new Error(text);
  if (status === 401) return "-";
  if (status === 403) return "x";
  return status === 404 ? "?" : "+";
};

/** Sends an operation with its example. For a stream it reads the beginning. */
export async function restCell(platform: TestPlatform, sample: Sample, apiKey: string | null): Promise<Cell> {
  if (isStream(sample.operation)) return streamCell(platform, sample, apiKey);
  // The permission is checked before the form. A form without parts is refused only after that check.
  const bare = sample.type?.startsWith("multipart/") ? { ...sample, body: undefined, type: undefined } : sample;
  return cellOf(await sendSample(platform, bare, { apiKey }));
}

async function streamCell(platform: TestPlatform, sample: Sample, apiKey: string | null): Promise<Cell> {
  const end = new AbortController();
  const send: TestPlatform["send"] = async (method, path) => {
    const url = new URL(`${platform.url}${path}`);
    const headers = apiKey === null ? {} : { "x-api-key": apiKey };
    const { status, headers: given } = await fetch(url, { method, headers, signal: end.signal });
    return { status, headers: given, text: "", body: undefined };
  };
  const cell = cellOf(await sendSample({ send, accountId: platform.accountId }, sample));
  end.abort();
  return cell;
}

/** Adds ids to fields that find resources by id. Other fields accept any text. */
export const graphqlCall = (field: GraphQLField<unknown, unknown>, ids: World): string => {
  const known = ids[field.name];
  return known === undefined ? callOf(field, "x") : `${field.name}(${known})`;
};

/** Sends one root field. */
export async function fieldCell(
  platform: TestPlatform,
  kind: "query" | "mutation",
  call: string,
  apiKey: string | null,
): Promise<Cell> {
  const { status, body, text } = await platform.send("POST", `/api/graphql?accountId=${platform.accountId}`, {
    apiKey,
    contentType: "application/json",
    body: JSON.stringify({ query: `${kind} { ${call} { __typename } }` }),
  });
  if (status !== 200) return cellOf({ status, text });
  const [error] = body.errors ?? [];
  if (!error) return "+";
  if (/Missing permission/.test(error.message)) return "x";
  return /not authorized|not found|does not exist|no such|No execution has|User group \[/i.test(error.message)
    ? "?"
    : "+";
}

/** Opens a delegate session. Credentials of users are not accepted there. */
export function socketCell(platform: TestPlatform, token: string | null): Promise<Cell> {
  const headers = token === null ? {} : { authorization: `Bearer ${token}` };
  const socket = new WebSocket(`${platform.url.replace(/^http/, "ws")}/delegate/connect`, { headers });
  return new Promise((resolve, reject) => {
    socket.once("open", () => {
      socket.close();
      resolve("+");
    });
    socket.once("unexpected-response", (_request, response) => {
      response.destroy();
      resolve(cellOf({ status: response.statusCode ?? 500, text: "" }));
    });
    socket.once("error", reject);
  });
}
