/** Fields that several types share. */
import { z } from "zod";

/**
 * An http or https address. It must not contain a user name or a password, because every reader of the connector sees
 * it, nor a query or a fragment, because the connection ignores them.
 */
export const webAddress = z
  .string()
  .max(2_048)
  .refine(
    (text) => {
      const url = URL.parse(text);
      const isWeb = url?.protocol === "https:" || url?.protocol === "http:";
      return isWeb && url.username === "" && url.password === "" && url.search === "" && url.hash === "";
    },
    { error: "must be an http or https address without a user name, a query or a fragment in it" },
  );

/** As `webAddress`, for connections that send credentials with the first request. */
export const secureAddress = webAddress.refine((text) => URL.parse(text)?.protocol !== "http:", {
  error: "must be an https address, because credentials are sent to it",
});

/** Tags of delegates; duplicates are removed. */
export const delegateSelectors = z
  .array(z.string().min(1).max(128))
  .max(64)
  .nullish()
  .transform((list) => [...new Set(list ?? [])]);

export const secretReference = z
  .string()
  .regex(/^(?:(?:account|org)\.)?[a-zA-Z_][0-9a-zA-Z_$-]{0,127}$/, "must name a secret: account.x, org.x or x");
