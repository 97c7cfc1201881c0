import type { IncomingHttpHeaders } from "node:http";
import type { GrantsOf } from "../../access/index.ts";
import type { Actor } from "../../core/actor.ts";
import type { SessionGuard } from "./session-guard.ts";

type Deps = { readonly find: SessionGuard["findCredential"]; readonly grantsOf: GrantsOf };

/** Returns the signed-in person, for requests without a token (`SessionOf` of the HTTP server). */
export const findSessionActor =
  ({ find, grantsOf }: Deps) =>
  async (headers: IncomingHttpHeaders): Promise<{ actor: Actor; credential: string } | undefined> => {
    const live = await find(headers);
    if (!live) return undefined;
    const { accountId, person, session } = live;
    const { id, name, email } = person;
    // Grants are cached by the access slice, which knows when they change, and not with the session.
    const grants = await grantsOf(accountId, { type: "USER", id });
    const credential = { kind: "session", accountId, id: session.id } as const;
    return {
      actor: { kind: "user", accountId, id, name, email, grants, credential },
      credential: `session.${session.id}`,
    };
  };
