/** Response shapes of the session API. */
import { z } from "zod";
import { toWire, type Uuid } from "../../core/ids.ts";
import { enveloped, epochMs, wireId } from "../../platform/http/response/shapes.ts";
import type { ListedSession } from "../session/list-sessions.ts";
import type { Person } from "../people.ts";
import { csrfTokenOf, mustChange, type Session, type SessionSecret } from "../session/session.ts";

const method = z.enum(["PASSWORD", "OPENID_CONNECT"]);

const openIdConnect = z
  .strictObject({ name: z.string() })
  .nullable()
  .describe("The identity provider that people may sign in with, at /auth/oidc/start.");

const signedIn = z.strictObject({
  signedIn: z.literal(true),
  accountIdentifier: wireId,
  accountName: z.string(),
  user: z.strictObject({ id: wireId, name: z.string(), email: z.string() }),
  mustChangePassword: z.boolean().describe("True while only POST /auth/password and signing out are possible."),
  hasPassword: z.boolean(),
  csrfToken: z.string().describe("For the header x-csrf-token of every request of this session."),
  expiresAt: epochMs,
  openIdConnect,
});

const signedOut = z.strictObject({ signedIn: z.literal(false), openIdConnect });

export const signedInShape = enveloped(signedIn);
export const sessionShape = enveloped(z.union([signedIn, signedOut]));
export const endedShape = enveloped(z.strictObject({ ended: z.int() }));

export const listedShape = enveloped(
  z.array(
    z.strictObject({
      id: wireId,
      current: z.boolean(),
      method,
      remoteAddress: z.string(),
      userAgent: z.string(),
      createdAt: epochMs,
      lastSeenAt: epochMs.describe("To the minute."),
      expiresAt: epochMs,
    }),
  ),
);

type Shown = {
  readonly accountId: Uuid;
  readonly person: Pick<Person, "id" | "name" | "email" | "accountName" | "mustChangePassword" | "passwordHash">;
  readonly secret: SessionSecret;
  readonly session: Pick<Session, "expiresAt"> & { readonly method?: Session["method"] };
};

type Provider = { readonly name: string } | undefined;

const providerWire = (provider: Provider) => (provider ? { name: provider.name } : null);

export const signedOutWire = (provider: Provider): z.output<typeof signedOut> => ({
  signedIn: false,
  openIdConnect: providerWire(provider),
});

export const signedInWire = (
  { accountId, person, secret, session }: Shown,
  provider: Provider,
): z.output<typeof signedIn> => ({
  signedIn: true,
  accountIdentifier: toWire(accountId),
  accountName: person.accountName,
  user: { id: toWire(person.id), name: person.name, email: person.email },
  mustChangePassword: mustChange(person, session.method ?? "PASSWORD"),
  hasPassword: person.passwordHash !== null,
  csrfToken: csrfTokenOf(secret),
  expiresAt: session.expiresAt,
  openIdConnect: providerWire(provider),
});

export const listedWire = ({ id, current, ...rest }: ListedSession) => ({
  id: toWire(id),
  current,
  method: rest.method,
  remoteAddress: rest.remoteAddress,
  userAgent: rest.userAgent,
  createdAt: rest.createdAt,
  lastSeenAt: rest.lastSeenAt,
  expiresAt: rest.expiresAt,
});
