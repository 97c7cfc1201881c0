/** Users in REST responses. */
import { z } from "zod";
import { toWire, type Uuid } from "../../core/ids.ts";
import { epochMs, wireId } from "../../platform/http/response/shapes.ts";
import type { UserDetail } from "../user.ts";

const common = {
  uuid: wireId,
  name: z.string(),
  email: z.string(),
  /** Whether sign-in is paused. */
  locked: z.boolean(),
  disabled: z.boolean(),
  externallyManaged: z.boolean(),
  twoFactorAuthenticationEnabled: z.literal(false),
};

export const metadataShape = z.strictObject(common);
export const infoShape = z.strictObject({
  ...common,
  emailVerified: z.boolean(),
  defaultAccountId: wireId,
  token: z.null(),
  createdAt: epochMs,
  lastUpdatedAt: epochMs,
});

/** `locked` has the users whose sign-in is paused. */
export const metadata = (user: UserDetail, locked: ReadonlySet<Uuid>): z.output<typeof metadataShape> => ({
  uuid: toWire(user.id),
  name: user.name,
  email: user.email,
  locked: locked.has(user.id),
  disabled: !user.active,
  externallyManaged: user.managedExternally,
  twoFactorAuthenticationEnabled: false,
});

export const info = (user: UserDetail, accountId: string, locked: ReadonlySet<Uuid>): z.output<typeof infoShape> => ({
  ...metadata(user, locked),
  emailVerified: user.emailVerified,
  defaultAccountId: accountId,
  token: null,
  createdAt: user.createdAt,
  lastUpdatedAt: user.updatedAt,
});
