import type { Place } from "../core/reference.ts";
import type { Uuid } from "../core/ids.ts";
import type { UsageScope } from "./usage-scope.ts";

export type SecretType = "ENCRYPTED_TEXT" | "ENCRYPTED_FILE";

/** What anybody may learn of a secret. Its content is sealed elsewhere and never stands beside this. */
export type Secret = Place & {
  readonly id: Uuid;
  readonly identifier: string;
  readonly name: string;
  readonly description: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly type: SecretType;
  readonly managerId: Uuid;
  /** True: its manager's scope holds, and `usageScope` is null. */
  readonly inheritsScope: boolean;
  readonly scopedToAccount: boolean;
  readonly usageScope: UsageScope | null;
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
};

export type SecretKey = Place & { readonly identifier: string };
