import type { Uuid } from "../../core/ids.ts";
import type { Period } from "./expiry.ts";

/** A token as it is kept: its text exists once, in the answer to whoever made it. */
export type Token = Period & {
  readonly id: Uuid;
  readonly identifier: string;
  readonly name: string;
  readonly description: string;
  readonly tags: Readonly<Record<string, string>>;
  /** The token that its rotations began with; its own id for one that was never rotated. */
  readonly familyId: Uuid;
  /** The token that a rotation has made in its place; null for the one that counts. */
  readonly replacedBy: Uuid | null;
  readonly createdAt: number;
  readonly updatedAt: number;
};

export type TokenFields = Pick<Token, "identifier" | "name" | "description" | "tags">;

/** For the audit trail. */
export const shownToken = ({ identifier, name, description, tags, validFrom, validTo, scheduledEnd }: Token) => ({
  identifier,
  name,
  description,
  tags,
  validFrom,
  validTo,
  scheduledEnd,
});
