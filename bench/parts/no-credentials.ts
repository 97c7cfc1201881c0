/** In the place of src/identity/credentials.ts, for a benchmark: everybody is the same person, whatever the token. */
import type { Actor } from "../../src/core/actor.ts";
import { fromWire, type Uuid } from "../../src/core/ids.ts";
import type { makeIdentity } from "../../src/identity/index.ts";

type Credentials = Pick<ReturnType<typeof makeIdentity>, "authenticate" | "watch" | "ended" | "look" | "stop"> & {
  readonly onEnded: (listener: () => void) => void;
};

export function makeCredentials(): Credentials {
  let anybody: Actor | undefined;
  const ofAccount = (token: string): Actor => {
    const accountId = fromWire(token.split(".")[1] ?? "") as Uuid;
    return { kind: "user", accountId, id: accountId, name: "anybody", email: "anybody@example.com", grants: [] };
  };
  return {
    authenticate: (token) => (anybody ??= ofAccount(token)),
    watch: () => () => undefined,
    onEnded: () => undefined,
    ended: () => undefined,
    look: async () => undefined,
    stop: () => undefined,
  };
}
