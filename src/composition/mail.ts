/** Mails that steps send. */
import { findGroupAddresses } from "../access/index.ts";
import { holdRootKey } from "../identity/index.ts";
import { createMail } from "../mail/index.ts";
import { createSealer } from "../platform/crypto/seal.ts";
import { allowPublicAddresses } from "../platform/outgoing/reach.ts";
import type { CommonDeps } from "./deps.ts";
import type { IdentityAndAccess } from "./identity-and-access.ts";

export function createMailSlice(deps: CommonDeps, { access }: Pick<IdentityAndAccess, "access">) {
  const { db, audit, clock, newId, keys, onError } = deps;
  return createMail({
    db,
    audit,
    clock,
    newId,
    authorize: access.authorize,
    sealer: createSealer(keys, "mail passwords"),
    holdRootKey: holdRootKey(keys),
    findGroupAddresses: (accountId, which) => findGroupAddresses(db, accountId, which),
    mayReach: allowPublicAddresses(deps.allowPrivateAddresses),
    // No execution waits for a mail: the mail only leaves the queue.
    onMailEnded: (_ref, _outcome, take) => db.transaction(async (tx) => void (await take(tx))),
    onError,
  });
}
