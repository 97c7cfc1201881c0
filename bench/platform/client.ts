/** An HTTP client of Railhead with keep-alive connections. It records the times of each exchange. */
import { Agent, request } from "node:http";
import type { Facts } from "./server.ts";

export type Exchange = {
  readonly status: number;
  readonly body: string;
  /** Times of `performance.now()`: when the request was sent, and when the head of the answer had arrived. */
  readonly sentAt: number;
  readonly answeredAt: number;
};

export type Client = ReturnType<typeof createClient>;

/** `atOnce` is the maximum number of connections; further requests wait for a free one. */
export function createClient({ baseUrl, accountId, apiKey }: Facts, atOnce: number, signal: AbortSignal) {
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce });

  const exchange = (
    method: "GET" | "POST" | "PUT",
    url: string,
    contentType?: string,
    body?: string | Buffer,
  ): Promise<Exchange> =>
    new Promise((resolve, reject) => {
      const headers = { "x-api-key": apiKey, ...(contentType === undefined ? {} : { "content-type": contentType }) };
      const sentAt = performance.now();
      const sent = request(url, { method, agent, headers, signal }, (response) => {
        const answeredAt = performance.now();
        let text = "";
        response.setEncoding("utf8").on("data", (part: string) => (text += part));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, body: text, sentAt, answeredAt }));
        response.on("error", reject);
      });
      sent.on("error", reject);
      sent.end(body);
    });

  async function requireSuccess(
    method: "GET" | "POST" | "PUT",
    url: string,
    contentType?: string,
    body?: string,
  ): Promise<Exchange> {
    const answer = await exchange(method, url, contentType, body);
    if (answer.status !== 200) throw new Error(`${answer.status} ${method} ${new URL(url).pathname}: ${answer.body}`);
    return answer;
  }

  const withAccount = (path: string): string =>
    `${baseUrl}/gateway${path}${path.includes("?") ? "&" : "?"}accountIdentifier=${accountId}`;

  return {
    /** Sends one request and accepts any status. */
    exchange,
    /** POSTs YAML or no body; returns `data` of the answer. */
    post: async <T>(path: string, yaml?: string): Promise<T> => {
      const { body } = await requireSuccess(
        "POST",
        withAccount(path),
        yaml === undefined ? undefined : "application/yaml",
        yaml,
      );
      return (JSON.parse(body) as { data: T }).data;
    },
    /** Changes settings of the account. */
    set: async (settings: Readonly<Record<string, string>>): Promise<void> => {
      const entries = Object.entries(settings).map(([identifier, value]) => ({
        identifier,
        value,
        allowOverrides: false,
        updateType: "UPDATE",
      }));
      const { body } = await requireSuccess(
        "PUT",
        withAccount("/ng/api/settings"),
        "application/json",
        JSON.stringify(entries),
      );
      const { data } = JSON.parse(body) as { data: readonly { updateStatus: boolean; errorMessage: string | null }[] };
      const refused = data.find(({ updateStatus }) => !updateStatus);
      if (refused) throw new Error(`a setting was refused: ${refused.errorMessage}`);
    },
    /** Calls a webhook. */
    call: (url: string): Promise<Exchange> => requireSuccess("POST", url, "application/json", `{"version":"1.4.2"}`),
    /** GETs an absolute URL or a path below /gateway; returns the body. */
    text: async (at: string): Promise<string> =>
      (await requireSuccess("GET", at.startsWith("/") ? withAccount(at) : at)).body,
    close: (): void => agent.destroy(),
  };
}
