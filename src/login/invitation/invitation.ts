import type { Uuid } from "../../core/ids.ts";
import { hashSecret, newTokenSecret } from "../../platform/crypto/tokens.ts";

/** Who made an invitation, and so knows its link. */
export type InvitationAuthor = { readonly kind: "user" | "service_account"; readonly id: Uuid };

/** A link with which a user without a password chooses one and is signed in, once. */
export type Invitation = {
  readonly userId: Uuid;
  readonly author: InvitationAuthor;
  readonly createdAt: number;
  readonly expiresAt: number;
};

export type ListedInvitation = Invitation & { readonly name: string; readonly email: string };

export const DEFAULT_DAYS = 7;
export const MAX_DAYS = 30;

/** 256 random bits as text; the database has only their hash. */
export const newInvitationToken = newTokenSecret;
export const hashOfInvitation = hashSecret;

/** The token is in the fragment, which browsers neither send to a server nor pass on as the referrer. */
export const invitationLink = (publicUrl: string, token: string): string =>
  `${publicUrl.replace(/\/+$/, "")}/login#invitation=${token}`;
