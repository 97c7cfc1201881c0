/** The Kubernetes cluster of a script: the delegate writes a kubeconfig for it. */
import { z } from "zod";

/** An index in the step's secrets. */
const secret = z.int().min(0).max(1023);

/** Credentials of a connector. A key may be encrypted with the passphrase. */
const clusterCredential = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("token"), token: secret }),
  z.strictObject({
    kind: z.literal("certificate"),
    certificate: secret,
    key: secret,
    passphrase: secret.nullable(),
    algorithm: z.enum(["RSA", "EC"]).nullable(),
  }),
]);

export const kubernetesTarget = z.strictObject({
  /** A DNS label, as Kubernetes requires it. */
  namespace: z.string().regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/),
  /** Null: the cluster and the identity that the delegate itself has. */
  cluster: z
    .strictObject({
      server: z.string().max(2_048),
      /** Null: the CAs of the delegate's system. */
      ca: secret.nullable(),
      credential: clusterCredential,
    })
    .nullable(),
});
/** The cluster and the namespace of a script, without the values of credentials. */
export type KubernetesTarget = z.infer<typeof kubernetesTarget>;
