/** Type ContainerRegistry: its spec as spec.md and reference section 4.2 have it. */
import { z } from "zod";
import { delegateSelectors, secretReference, webAddress } from "./fields.ts";
import { connectorType } from "./type.ts";

const PROVIDERS = ["PublicHosted", "Harbor", "Quay", "Other"] as const;

const anonymous = z.strictObject({ type: z.literal("Anonymous"), spec: z.strictObject({}).nullish() });
const usernamePassword = z.strictObject({
  type: z.literal("UsernamePassword"),
  spec: z
    .strictObject({
      username: z.string().min(1).max(256).nullish(),
      usernameRef: secretReference.nullish(),
      passwordRef: secretReference,
    })
    .refine(({ username, usernameRef }) => (username ?? null) === null || (usernameRef ?? null) === null, {
      error: "takes username or usernameRef, not both",
    })
    .refine(({ username, usernameRef }) => (username ?? usernameRef ?? null) !== null, {
      error: "needs username or usernameRef",
    }),
});

const schema = z
  .strictObject({
    registryUrl: webAddress,
    providerType: z.enum(PROVIDERS),
    auth: z.discriminatedUnion("type", [anonymous, usernamePassword], {
      error: "must have the type Anonymous or UsernamePassword",
    }),
    delegateSelectors,
    executeOnDelegate: z.boolean().nullish(),
    ignoreTestConnection: z.boolean().nullish(),
    proxy: z.never().optional(),
  })
  .transform(({ auth, executeOnDelegate, ignoreTestConnection, proxy: _, ...spec }): RegistrySpec => ({
    ...spec,
    auth:
      auth.type === "Anonymous"
        ? { type: "Anonymous" }
        : {
            type: "UsernamePassword",
            spec: {
              username: auth.spec.username ?? null,
              usernameRef: auth.spec.usernameRef ?? null,
              passwordRef: auth.spec.passwordRef,
            },
          },
    // Kept where they say something: the others look as spec.md has them.
    ...(executeOnDelegate === false ? { executeOnDelegate } : {}),
    ...(ignoreTestConnection === true ? { ignoreTestConnection } : {}),
  }));

type RegistrySpec = {
  readonly registryUrl: string;
  readonly providerType: (typeof PROVIDERS)[number];
  readonly auth:
    | { readonly type: "Anonymous" }
    | {
        readonly type: "UsernamePassword";
        readonly spec: {
          readonly username: string | null;
          readonly usernameRef: string | null;
          readonly passwordRef: string;
        };
      };
  readonly delegateSelectors: readonly string[];
  readonly executeOnDelegate?: false;
  readonly ignoreTestConnection?: true;
};

const shape = z.strictObject({
  registryUrl: z.url(),
  providerType: z.enum(PROVIDERS),
  auth: z.discriminatedUnion("type", [
    z.strictObject({ type: z.literal("Anonymous") }),
    z.strictObject({
      type: z.literal("UsernamePassword"),
      spec: z.strictObject({
        username: z.string().nullable(),
        usernameRef: z.string().nullable(),
        passwordRef: z.string(),
      }),
    }),
  ]),
  delegateSelectors: z.array(z.string()),
  executeOnDelegate: z.literal(false).optional().describe("Left out where it is true."),
  ignoreTestConnection: z.literal(true).optional().describe("Left out where it is false."),
});

export const containerRegistry = connectorType<RegistrySpec>({
  name: "ContainerRegistry",
  category: "ARTIFACTORY",
  schema,
  shape,
  // By hand: what is kept is not by itself what is shown.
  wire: (spec) => ({
    registryUrl: spec.registryUrl,
    providerType: spec.providerType,
    auth: spec.auth,
    delegateSelectors: spec.delegateSelectors,
    ...(spec.executeOnDelegate === false ? { executeOnDelegate: false } : {}),
    ...(spec.ignoreTestConnection ? { ignoreTestConnection: true } : {}),
  }),
  secrets: ({ auth }) => {
    if (auth.type === "Anonymous") return [];
    const at = (field: string, reference: string) => ({ path: ["auth", "spec", field], reference });
    const { usernameRef, passwordRef } = auth.spec;
    return [...(usernameRef === null ? [] : [at("usernameRef", usernameRef)]), at("passwordRef", passwordRef)];
  },
  origin: (spec) => ({
    selectors: spec.delegateSelectors,
    onDelegate: spec.executeOnDelegate !== false,
    untested: spec.ignoreTestConnection === true,
  }),
});
