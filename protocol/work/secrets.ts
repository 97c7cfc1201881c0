/** How work names the secrets whose payloads come before it, in `secret` messages. */
import { z } from "zod";

/** Secrets that one step uses at most. */
const MAX_STEP_SECRETS = 256;
/** Further secrets that log in on its host or its cluster. */
const MAX_LOGIN_SECRETS = 4;
const MAX_SECRETS = MAX_STEP_SECRETS + MAX_LOGIN_SECRETS;

export const secretForm = z.enum(["value", "file"]);
/** The index of a secret in the `uses` of its task. */
export const nth = z
  .int()
  .min(0)
  .max(MAX_SECRETS - 1);

/** A value composed of texts and secrets. */
export const parts = z.array(z.union([z.string(), nth]));

/**
 * The secrets of a task, in the order of their `secret` messages. `value`: its text. `file`: a file with its content,
 * and the text is the path of that. `label`: for people, and for the file's name.
 */
export const secretUses = z.array(z.strictObject({ as: secretForm, label: z.string().max(256) })).max(MAX_SECRETS);
export type SecretUses = z.infer<typeof secretUses>;
