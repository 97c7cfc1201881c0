import type { Uuid } from "../../core/ids.ts";
import type { Referred } from "../../core/reference.ts";

/** An account for programs, with tokens of its own. It belongs to the account, an organization or a project. */
export type ServiceAccount = Referred & {
  readonly id: Uuid;
  readonly name: string;
  /** Derived from the identifier; no mail is sent there. */
  readonly email: string;
  readonly description: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly createdAt: number;
  readonly updatedAt: number;
};

/** The fields of a request. */
export type ServiceAccountFields = Omit<ServiceAccount, "id" | "email" | "createdAt" | "updatedAt">;

/** A service account with the number of its tokens, as lists show it. */
export type ListedServiceAccount = ServiceAccount & { readonly tokens: number };

// Reserved for local use (RFC 6762; RFC 2606 has no better one), so it is no real address.
const DOMAIN = "service.railhead.local";

/** The address of a service account, made of its identifier. */
export const serviceAccountEmail = (identifier: string): string => `${identifier}@${DOMAIN}`;

/** The fields in the audit trail. */
export const shownAccount = ({ name, description, tags }: ServiceAccount) => ({ name, description, tags });
