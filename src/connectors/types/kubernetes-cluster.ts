/** The connector type K8sCluster and its spec. */
import { z } from "zod";
import { Unreached } from "../../platform/outgoing/unreached.ts";
import type { OutgoingResponse, TlsIdentity } from "../../platform/outgoing/get.ts";
import {
  parseCertificates,
  parseClientKey,
  parseToken,
  type AccessText,
  type ClusterAccess,
} from "./cluster-access.ts";
import { delegateSelectors, secretReference, secureAddress } from "./fields.ts";
import { connectorType, type Fault, type SecretReference, type TestTools } from "./type.ts";

const CREDENTIAL_TYPES = ["ManualConfig", "InheritFromDelegate"];
const AUTH_TYPES = ["ServiceAccount", "ClientKeyCert"];
const KEY_ALGORITHMS = ["RSA", "EC"] as const;

const optionalReference = secretReference.nullish().transform((reference) => reference ?? null);

const serviceAccount = z.strictObject({
  type: z.literal("ServiceAccount"),
  spec: z.strictObject({ serviceAccountTokenRef: secretReference, caCertRef: optionalReference }),
});
const clientKeyCert = z.strictObject({
  type: z.literal("ClientKeyCert"),
  spec: z.strictObject({
    clientCertRef: secretReference,
    clientKeyRef: secretReference,
    clientKeyPassphraseRef: optionalReference,
    clientKeyAlgo: z
      .enum(KEY_ALGORITHMS)
      .nullish()
      .transform((algorithm) => algorithm ?? null),
    caCertRef: optionalReference,
  }),
});
const manualConfig = z.strictObject({
  type: z.literal("ManualConfig"),
  spec: z.strictObject({
    masterUrl: secureAddress,
    auth: z.discriminatedUnion("type", [serviceAccount, clientKeyCert], {
      error: "must have the type ServiceAccount or ClientKeyCert",
    }),
  }),
});
const inheritFromDelegate = z.strictObject({
  type: z.literal("InheritFromDelegate"),
  spec: z.strictObject({}).nullish(),
});

const schema = z
  .strictObject({
    credential: z.discriminatedUnion("type", [manualConfig, inheritFromDelegate], {
      error: "must have the type ManualConfig or InheritFromDelegate",
    }),
    delegateSelectors,
    executeOnDelegate: z.literal(true, "must be true: clusters are tested from a delegate").nullish(),
    ignoreTestConnection: z.boolean().nullish(),
    proxy: z.never().optional(),
  })
  .refine(({ credential, delegateSelectors: { length } }) => credential.type === "ManualConfig" || length > 0, {
    path: ["delegateSelectors"],
    error: "must name the delegates whose identity is used",
  })
  .transform(({ credential, delegateSelectors: selectors, ignoreTestConnection }): ClusterSpec => ({
    credential: credential.type === "ManualConfig" ? credential : { type: "InheritFromDelegate" },
    delegateSelectors: selectors,
    ...(ignoreTestConnection === true ? { ignoreTestConnection } : {}),
  }));

type ClusterAuth = z.output<typeof manualConfig>["spec"]["auth"];
type ClusterSpec = {
  readonly credential: z.output<typeof manualConfig> | { readonly type: "InheritFromDelegate" };
  readonly delegateSelectors: readonly string[];
  readonly ignoreTestConnection?: true;
};

/** A part of the stored specs that use the identity of a delegate. */
export const INHERITING_SPEC = { credential: { type: "InheritFromDelegate" } };

const reference = z.string();
const maybeReference = z.string().nullable();
const shape = z.strictObject({
  credential: z.discriminatedUnion("type", [
    z.strictObject({ type: z.literal("InheritFromDelegate") }),
    z.strictObject({
      type: z.literal("ManualConfig"),
      spec: z.strictObject({
        masterUrl: z.url(),
        auth: z.discriminatedUnion("type", [
          z.strictObject({
            type: z.literal("ServiceAccount"),
            spec: z.strictObject({ serviceAccountTokenRef: reference, caCertRef: maybeReference }),
          }),
          z.strictObject({
            type: z.literal("ClientKeyCert"),
            spec: z.strictObject({
              clientCertRef: reference,
              clientKeyRef: reference,
              clientKeyPassphraseRef: maybeReference,
              clientKeyAlgo: z.enum(KEY_ALGORITHMS).nullable(),
              caCertRef: maybeReference,
            }),
          }),
        ]),
      }),
    }),
  ]),
  delegateSelectors: z.array(z.string()),
  ignoreTestConnection: z.literal(true).optional().describe("Left out where it is false."),
});

export const kubernetesCluster = connectorType<ClusterSpec>({
  name: "K8sCluster",
  aliases: ["KubernetesCluster"],
  category: "CLOUD_PROVIDER",
  schema,
  shape,
  fieldValues: {
    "credential.type": CREDENTIAL_TYPES,
    "credential.spec.auth.type": AUTH_TYPES,
    "credential.spec.auth.spec.clientKeyAlgo": KEY_ALGORITHMS,
  },
  wire: ({ credential, delegateSelectors: selectors, ignoreTestConnection }) => ({
    credential,
    delegateSelectors: selectors,
    ...(ignoreTestConnection ? { ignoreTestConnection: true } : {}),
  }),
  secrets: ({ credential }) => (credential.type === "ManualConfig" ? secretsOf(credential.spec.auth) : []),
  origin: (spec) => ({
    selectors: spec.delegateSelectors,
    onDelegate: true,
    untested: spec.ignoreTestConnection === true,
  }),
  test,
});

const secretsOf = (auth: ClusterAuth): readonly SecretReference[] =>
  Object.entries(auth.spec).flatMap(([field, value]) =>
    field.endsWith("Ref") && value !== null
      ? [{ path: ["credential", "spec", "auth", "spec", field], reference: value }]
      : [],
  );

/** The role of a secret in the access to a cluster. */
export type ClusterRole = "ca" | "token" | "certificate" | "key" | "passphrase";

const ROLES: Readonly<Record<string, ClusterRole>> = {
  caCertRef: "ca",
  serviceAccountTokenRef: "token",
  clientCertRef: "certificate",
  clientKeyRef: "key",
  clientKeyPassphraseRef: "passphrase",
};

/** The access of a step; undefined for the identity of its delegate. */
export type StepCluster = {
  readonly server: string;
  /** Of the client's key; null if it is not given. */
  readonly algorithm: (typeof KEY_ALGORITHMS)[number] | null;
  readonly secrets: readonly { readonly role: ClusterRole; readonly reference: string }[];
};

/** Returns the access of the steps of a stored connector; undefined if they have the identity of their delegate. */
export function stepClusterOf({
  type,
  spec,
}: {
  readonly type: string;
  readonly spec: unknown;
}): StepCluster | undefined {
  if (type !== kubernetesCluster.name) throw new Error(`a connector of the type ${type} is no cluster`);
  const { credential } = spec as ClusterSpec;
  if (credential.type === "InheritFromDelegate") return undefined;
  const { masterUrl, auth } = credential.spec;
  const secrets = secretsOf(auth).flatMap(({ path, reference: named }) => {
    const role = ROLES[path.at(-1) ?? ""];
    return role ? [{ role, reference: named }] : [];
  });
  const algorithm = auth.type === "ClientKeyCert" ? auth.spec.clientKeyAlgo : null;
  return { server: masterUrl, algorithm, secrets };
}

/**
 * Tests access to the API server: its version, and the list of API versions, which every authenticated user may read.
 * The answers depend on no further permission, and the test creates nothing.
 */
async function test(spec: ClusterSpec, tools: TestTools): Promise<Fault | undefined> {
  const { server, ca, credential } = resolveAccess(spec, tools);
  const base = server.replace(/\/+$/, "");
  const request =
    credential.kind === "token"
      ? { headers: { authorization: `Bearer ${credential.token}` }, tls: { ca } satisfies TlsIdentity }
      : { headers: {}, tls: { ca, cert: credential.certificate, key: credential.key } satisfies TlsIdentity };
  const version = await tools.getDirectly(`${base}/version`, request);
  // A cluster may hide its version from users.
  const wrong =
    version.status === 403 ? undefined : faultIn(version, ({ gitVersion }) => typeof gitVersion === "string");
  return wrong ?? faultIn(await tools.getDirectly(`${base}/api`, request), ({ kind }) => kind === "APIVersions");
}

/** Throws Unreached for credentials that cannot be used. */
function resolveAccess({ credential }: ClusterSpec, { secret, ownCluster }: TestTools): ClusterAccess {
  if (credential.type === "InheritFromDelegate") {
    const own = ownCluster();
    if (own) return own;
    throw new Unreached(
      "No identity",
      "The delegate has no identity in a cluster: it runs in no pod, and has no variable KUBECONFIG.",
    );
  }
  const { masterUrl, auth } = credential.spec;
  const read = (name: string): AccessText => ({ source: `The secret [${name}]`, text: secret(name) });
  const { caCertRef } = auth.spec;
  const ca = caCertRef === null ? undefined : parseCertificates(read(caCertRef));
  if (auth.type === "ServiceAccount") {
    const token = parseToken(read(auth.spec.serviceAccountTokenRef));
    return { server: masterUrl, ca, credential: { kind: "token", token } };
  }
  const { clientCertRef, clientKeyRef, clientKeyPassphraseRef, clientKeyAlgo } = auth.spec;
  const key = parseClientKey({
    certificate: read(clientCertRef),
    key: read(clientKeyRef),
    passphrase: clientKeyPassphraseRef === null ? undefined : secret(clientKeyPassphraseRef),
    algorithm: clientKeyAlgo ?? undefined,
  });
  return { server: masterUrl, ca, credential: key };
}

type Answer = Readonly<Record<string, unknown>>;

/** The fault of an answer; undefined if `isExpected` accepts its JSON object. */
function faultIn(got: OutgoingResponse, isExpected: (answer: Answer) => boolean): Fault | undefined {
  const { status, body, url } = got;
  const { host } = new URL(url);
  const answer = parseAnswer(body);
  const isAnonymous = status === 403 && String(answer["message"]).includes('User "system:anonymous"');
  if (status === 401 || isAnonymous) return fault("Authentication", `${host} does not accept the credentials.`, status);
  if (status === 403)
    return fault("Permission", `${host} does not let this user read which APIs it has (system:discovery).`, status);
  if (status === 200 && isExpected(answer)) return undefined;
  if (status >= 300 && status < 400)
    return fault("Redirect", `${host} redirects to another address; name that in masterUrl.`, status);
  if (status >= 500 || status === 429) return fault("Cluster failure", `${host} answered ${status}.`, status);
  const why = status === 200 ? "it answers with something else" : `it answered ${status}`;
  return fault("Not a cluster", `There is no Kubernetes API server at ${url}: ${why}.`, status);
}

function parseAnswer(body: string): Answer {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? (value as Answer) : {};
  } catch {
    return {};
  }
}

const fault = (reason: string, message: string, code: number): Fault => ({ reason, message, code });
