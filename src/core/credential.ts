import type { Uuid } from "./ids.ts";

/** The id of the credential of a request, to check later whether it is still valid. Contains no secret. */
export type Credential = { readonly kind: "token" | "session"; readonly accountId: Uuid; readonly id: Uuid };
