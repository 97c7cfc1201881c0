import type { Uuid } from "../../core/ids.ts";
import type { Period } from "./token-period.ts";

/** A stored token. Its text exists only in the response that created it. */
export type Token = Period & {
  readonly id: Uuid;
  readonly identifier: string;
  readonly name: string;
  readonly description: string;
  readonly tags: Readonly<Record<string, string>>;
  /** The first token of its rotations; its own id if it was never rotated. */
  readonly familyId: Uuid;
  /** The token that replaced it in a rotation; null for the current one. */
  readonly replacedBy: Uuid | null;
  readonly createdAt: number;
  readonly updatedAt: number;
};

export type TokenFields = Pick<Token, "identifier" | "name" | "description" | "tags">;

/** The fields in the audit trail. */
export const shownToken = ({ identifier, name, description, tags, validFrom, validTo, scheduledEnd }: Token) => ({
  identifier,
  name,
  description,
  tags,
  validFrom,
  validTo,
  scheduledEnd,
});
