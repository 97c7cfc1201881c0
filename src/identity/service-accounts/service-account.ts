import type { Uuid } from "../../core/ids.ts";
import type { Referred } from "../../core/reference.ts";

/** Who acts in the place of a person, with tokens of its own. It lives in the account, in an organization or in a project. */
export type ServiceAccount = Referred & {
  readonly id: Uuid;
  readonly name: string;
  /** Made from the identifier: no mail is ever sent there. */
  readonly email: string;
  readonly description: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly createdAt: number;
  readonly updatedAt: number;
};

/** A service account as it is sent; the rest is the platform's. */
export type ServiceAccountFields = Omit<ServiceAccount, "id" | "email" | "createdAt" | "updatedAt">;

/** With what a list shows beside it. */
export type ListedServiceAccount = ServiceAccount & { readonly tokens: number };

// Reserved for local use (RFC 6762 and 2606 have no better one): it can belong to nobody outside.
const DOMAIN = "service.railhead.local";

export const emailOf = (identifier: string): string => `${identifier}@${DOMAIN}`;

/** For the audit trail. */
export const shownAccount = ({ name, description, tags }: ServiceAccount) => ({ name, description, tags });
