import type { Uuid } from "./ids.ts";

/** What somebody came in with, by its id: enough to ask later whether it still holds, and no secret. */
export type Credential = { readonly kind: "token" | "session"; readonly accountId: Uuid; readonly id: Uuid };
