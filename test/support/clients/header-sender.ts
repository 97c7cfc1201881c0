/** Sends requests with any headers: `fetch` sets `Sec-Fetch-Mode` by itself, as browsers do. */
import { request, type OutgoingHttpHeaders } from "node:http";
import { text as textOf } from "node:stream/consumers";
import type { Answer, TestPlatform } from "../platform.ts";

/** The same platform, whose requests have exactly the given headers, and no key. */
export const withExactHeaders = <T extends Pick<TestPlatform, "url">>(platform: T): T & Pick<TestPlatform, "send"> => ({
  ...platform,
  send: async (method, path, { headers = {}, apiKey, contentType, body } = {}) => {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const sent: OutgoingHttpHeaders = { ...headers };
    if (typeof apiKey === "string") sent["x-api-key"] = apiKey;
    if (contentType !== undefined) sent["content-type"] = contentType;
    request(`${platform.url}${path}`, { method, headers: sent, agent: false }, (response) => {
      textOf(response).then((text) => resolve(answerOf(response.statusCode, response.headersDistinct, text)), reject);
    })
      .on("error", reject)
      .end(body);
    return promise;
  },
});

function answerOf(status = 0, headers: NodeJS.Dict<string[]>, text: string): Answer {
  const all = Object.entries(headers).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  return { status, headers: new Headers(all), text, body: undefined };
}
