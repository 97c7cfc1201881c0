/** Type ContainerRegistry: a registry that is read without a password. Its spec, as spec.md has it. */
import { z } from "zod";

const registryUrl = z
  .string()
  .max(2_048)
  .refine(
    (text) => {
      const url = URL.parse(text);
      return (
        url !== null &&
        (url.protocol === "https:" || url.protocol === "http:") &&
        url.username === "" &&
        url.password === ""
      );
    },
    { error: "must be an http or https address without a user name in it" },
  );

/** `z.never()` marks what the wider language has and Railhead does not run yet. */
export const registrySpec = z.strictObject({
  registryUrl,
  providerType: z.enum(["PublicHosted"]),
  auth: z.strictObject({ type: z.enum(["Anonymous"]), spec: z.never().optional() }),
  delegateSelectors: z
    .array(z.string().min(1).max(128))
    .max(64)
    .nullish()
    .transform((list) => [...new Set(list ?? [])]),
  executeOnDelegate: z.never().optional(),
  ignoreTestConnection: z.never().optional(),
  proxy: z.never().optional(),
});

export type RegistrySpec = {
  readonly registryUrl: string;
  readonly providerType: "PublicHosted";
  readonly auth: { readonly type: "Anonymous" };
  readonly delegateSelectors: readonly string[];
};
