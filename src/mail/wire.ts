/** Maps SMTP configurations to their public shape and back. */
import { z } from "zod";
import { fromWire, toWire, type Uuid } from "../core/ids.ts";
import { displayName } from "../platform/document/fields.ts";
import { wireId } from "../platform/http/response/shapes.ts";
import { isAddress } from "../core/mail-address.ts";
import { senderOf, type NewSmtpConfig, type SmtpConfig } from "./config/smtp-config.ts";

/** A text; clients send an empty one for none. */
const text = z
  .string()
  .max(254)
  .nullish()
  .transform((given) => given || null);
const flag = z
  .boolean()
  .nullish()
  .transform((given) => given ?? false);
/** Clients of this API family send a list of texts, too. */
const password = z
  .union([z.string(), z.array(z.string()).max(1_024)])
  .nullish()
  .transform((given) => (Array.isArray(given) ? given.join("") : given) || null)
  .refine((given) => given === null || given.length <= 1_024, { error: "must have at most 1024 characters" })
  .refine((given) => given === null || !/\p{Cc}/u.test(given), { error: "must not contain control characters" });
const username = text.refine((given) => given === null || !/\p{Cc}/u.test(given), {
  error: "must not contain control characters",
});
const HOST = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*)$/;

const valueShape = z.strictObject({
  host: z.string().min(1).max(253).regex(HOST, "must be a host name or an IP address, without a port"),
  port: z.int().min(1).max(65_535),
  fromAddress: text.refine((given) => given === null || isAddress(given), {
    error: "must be an e-mail address, without a display name",
  }),
  useSSL: flag,
  startTLS: flag,
  username,
  password,
});

/** The body that creates or replaces a configuration. */
export const configBody = z.strictObject({
  uuid: z.string().max(64).nullish(),
  name: displayName,
  value: valueShape.superRefine((value, context) => {
    const fault = (field: keyof typeof value, message: string): void =>
      context.addIssue({ code: "custom", path: [field], message });
    if (value.useSSL && value.startTLS) fault("startTLS", "cannot be true together with useSSL");
    if (value.username === null && value.password !== null) fault("username", "is needed with a password");
    // A password would be readable on the network.
    if (value.username !== null && !value.useSSL && !value.startTLS)
      fault("username", "needs useSSL or startTLS, which protect the password");
    if (senderOf(value) === undefined) fault("fromAddress", "is needed, since username is no e-mail address");
  }),
});

export const readConfig = ({ name, value }: z.output<typeof configBody>): NewSmtpConfig => {
  const { useSSL, startTLS, ...rest } = value;
  return { name, ...rest, security: useSSL ? "tls" : startTLS ? "starttls" : "none" };
};

/** Null without an id; an id that is none names no configuration. */
export const idOf = (given: string | null | undefined): Uuid | null => (given ? (fromWire(given) ?? NIL) : null);

/** An id that no row has. */
const NIL = "00000000-0000-0000-0000-000000000000" as Uuid;

export const configShape = z.strictObject({
  uuid: wireId.describe("The id of the account, which has at most one configuration."),
  accountId: wireId,
  name: z.string(),
  value: z.strictObject({
    host: z.string(),
    port: z.int(),
    fromAddress: z.string().nullable(),
    useSSL: z.boolean(),
    startTLS: z.boolean(),
    username: z.string().nullable(),
    password: z.null().describe("Never answered."),
  }),
});

export const configResponse = (accountId: Uuid, config: SmtpConfig): z.output<typeof configShape> => ({
  uuid: toWire(accountId),
  accountId: toWire(accountId),
  name: config.name,
  value: {
    host: config.host,
    port: config.port,
    fromAddress: config.fromAddress,
    useSSL: config.security === "tls",
    startTLS: config.security === "starttls",
    username: config.username,
    password: null,
  },
});
