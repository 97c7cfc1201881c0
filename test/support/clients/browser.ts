/** A client with the parts of a browser that the server sees: cookies, the Origin header and the anti-forgery token. */
import type { Answer, SendOptions, TestPlatform } from "../platform.ts";

export type PretendBrowser = {
  /**
   * Sends JSON with the session's cookies and anti-forgery token and without an API key, as a page of the platform
   * does.
   */
  readonly send: (method: string, path: string, body?: unknown, options?: SendOptions) => Promise<Answer>;
  readonly signIn: (email: string, password: string) => Promise<Answer>;
  readonly cookies: () => Readonly<Record<string, string>>;
  readonly forget: (name: string) => void;
  readonly csrfToken: () => string;
};

export function pretendBrowser(platform: Pick<TestPlatform, "send" | "url">): PretendBrowser {
  const jar = new Map<string, string>();
  let csrfToken = "";

  const send: PretendBrowser["send"] = async (method, path, body, options = {}) => {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer = await platform.send(method, path, {
      apiKey: null,
      ...(body === undefined ? {} : { body: JSON.stringify(body), contentType: "application/json" }),
      ...options,
      headers: {
        ...(method === "GET" ? {} : { origin: platform.url }),
        ...(cookie === "" ? {} : { cookie }),
        ...(csrfToken === "" ? {} : { "x-csrf-token": csrfToken }),
        ...options.headers,
      },
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/Max-Age=0(;|$)/.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    csrfToken = answer.body?.data?.csrfToken ?? csrfToken;
    return answer;
  };

  return {
    send,
    signIn: (email, password) => send("POST", "/auth/login", { email, password }),
    cookies: () => Object.fromEntries(jar),
    forget: (name) => void jar.delete(name),
    csrfToken: () => csrfToken,
  };
}
