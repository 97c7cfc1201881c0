/** Work of kind `shell`: a step that runs a Bash script, on the delegate's machine or on a target. */
import { z } from "zod";
import { kubernetesTarget } from "./kubernetes.ts";
import { nth, parts, secretUses } from "./secrets.ts";

/**
 * The host that a step runs on, and the login there. The credentials are indexes in the step's secrets. The patterns
 * exclude values that a program could read as an option.
 */
const shellTarget = z.strictObject({
  host: z.string().regex(/^[A-Za-z0-9_:][A-Za-z0-9_.:-]{0,252}$/),
  port: z.int().min(1).max(65_535),
  userName: z
    .string()
    .max(128)
    .regex(/^[A-Za-z0-9_](?:[A-Za-z0-9_.@\\-]*[A-Za-z0-9_.@-])?$/),
  /** Null: the login's home directory. */
  workingDirectory: z
    .string()
    .regex(/^[^\0\r\n]{1,4096}$/)
    .nullable(),
  auth: z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("password"), password: nth }),
    z.strictObject({ kind: z.literal("key"), key: nth, passphrase: nth.nullable() }),
  ]),
});
/** The host of a remote step and the login there, without the values of credentials. */
export type ShellTarget = z.infer<typeof shellTarget>;

const version1 = z.strictObject({
  kind: z.literal("shell"),
  version: z.literal(1),
  /** Bash source. Values reach it through `env` only, never pasted into the text. */
  script: z.string(),
  env: z.array(z.strictObject({ name: z.string(), value: z.string() })),
  /** Output variables to read when the script has ended: `name` is ours, `variable` the script's. */
  outputs: z.array(z.strictObject({ name: z.string(), variable: z.string() })),
  /** `env`: variables that contain secrets. */
  secrets: z.strictObject({ uses: secretUses, env: z.array(z.strictObject({ name: z.string(), parts })) }).optional(),
  /**
   * Without a target the step runs on the delegate's machine. Environment and outputs belong to the script on the
   * target.
   */
  target: shellTarget.optional(),
});

const version2 = version1.extend({
  version: z.literal(2),
  /** The script gets a kubeconfig for it. Absent with a target, whose machine has its own. */
  kubernetes: kubernetesTarget.optional(),
});

/** Version 2 added `kubernetes`. Work without it is version 1, which all delegates run. */
export const shellTask = z.discriminatedUnion("version", [version1, version2]);
/** A step that runs a Bash script, on the delegate's machine or on a target. */
export type ShellTask = Omit<z.infer<typeof version2>, "version"> & { version: 1 | 2 };
