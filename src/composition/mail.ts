/** Mails that steps send. */
import { findGroupAddresses } from "../access/index.ts";
import { holdRootKey } from "../identity/index.ts";
import { createMail, type OnMailEnded } from "../mail/index.ts";
import { createSealer } from "../platform/crypto/seal.ts";
import { allowPublicAddresses } from "../platform/outgoing/reach.ts";
import type { CommonDeps } from "./deps.ts";
import type { IdentityAndAccess } from "./identity-and-access.ts";

type MailSlices = Pick<IdentityAndAccess, "access"> & {
  /** A callback to the executions, which are built later. */
  readonly onMailEnded: OnMailEnded;
};

export function createMailSlice(deps: CommonDeps, { access, onMailEnded }: MailSlices) {
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
    onMailEnded,
    onError,
  });
}
