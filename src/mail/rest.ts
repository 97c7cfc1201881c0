/** Routes of the account's SMTP configuration. */
import { z } from "zod";
import { ok } from "../platform/http/response/answers.ts";
import { envelopeOf } from "../platform/http/request/bodies.ts";
import { ifMatch } from "../platform/http/request/if-match.ts";
import { route, type Route } from "../platform/http/routes.ts";
import { enveloped } from "../platform/http/response/shapes.ts";
import { isAddress } from "../core/mail-address.ts";
import type { CreateSmtpConfig } from "./config/create.ts";
import type { DeleteSmtpConfig } from "./config/delete.ts";
import type { GetSmtpConfig } from "./config/get.ts";
import type { TestSmtpConfig } from "./config/test-config.ts";
import type { UpdateSmtpConfig } from "./config/update.ts";
import { MAX_RECIPIENTS, MAX_SUBJECT } from "./limits.ts";
import { configBody, configResponse, configShape, idOf, readConfig } from "./wire.ts";

type Operations = {
  readonly create: CreateSmtpConfig;
  readonly update: UpdateSmtpConfig;
  readonly delete: DeleteSmtpConfig;
  readonly get: GetSmtpConfig;
  readonly test: TestSmtpConfig;
};

const PATH = "/ng/api/smtpConfig";
const EXAMPLE = {
  name: "Mail server",
  value: {
    host: "192.0.2.25",
    port: 587,
    fromAddress: "railhead@example.com",
    useSSL: false,
    startTLS: true,
    username: "railhead@example.com",
    password: "correct horse",
  },
};
const query = z.object({});

export const mailRoutes = (operations: Operations): readonly Route[] => [
  route({
    method: "GET",
    path: PATH,
    operation: "smtp-config.get",
    access: { permission: "core_setting_view" },
    query,
    doc: {
      summary: "Read the account's SMTP configuration; null if there is none",
      answer: enveloped(configShape.nullable()),
      etag: true,
    },
    handle: async (call) => {
      const config = await operations.get(call.actor);
      return ok(call, config ? configResponse(call.accountId, config) : null, config?.version);
    },
  }),
  ...writingRoutes(operations),
  testRoute(operations),
];

const writingRoutes = (operations: Operations): readonly Route[] => [
  route({
    method: "POST",
    path: PATH,
    operation: "smtp-config.create",
    access: { permission: "core_setting_edit" },
    query,
    doc: {
      summary: "Create the account's SMTP configuration",
      description: "An account has at most one.",
      body: { schema: configBody, example: EXAMPLE },
      answer: enveloped(configShape),
      etag: true,
    },
    handle: async (call) => {
      const config = await operations.create(call.actor, readConfig(envelopeOf(call, configBody)));
      return ok(call, configResponse(call.accountId, config), config.version);
    },
  }),
  route({
    method: "PUT",
    path: PATH,
    operation: "smtp-config.update",
    access: { permission: "core_setting_edit" },
    query,
    doc: {
      summary: "Replace the account's SMTP configuration",
      description: "Without a password the stored one stays, if host, port, security and username stay.",
      body: { schema: configBody, example: { ...EXAMPLE, name: "Our mail server" } },
      answer: enveloped(configShape),
      etag: true,
      ifMatch: true,
    },
    handle: async (call) => {
      const body = envelopeOf(call, configBody);
      const write = { id: idOf(body.uuid), version: ifMatch(call) };
      const config = await operations.update(call.actor, readConfig(body), write);
      return ok(call, configResponse(call.accountId, config), config.version);
    },
  }),
  route({
    method: "DELETE",
    path: `${PATH}/:smtpConfigId`,
    operation: "smtp-config.delete",
    access: { permission: "core_setting_edit" },
    query,
    doc: { summary: "Delete the account's SMTP configuration", answer: enveloped(z.literal(true)), ifMatch: true },
    handle: async (call) => {
      await operations.delete(call.actor, { id: idOf(call.params["smtpConfigId"]), version: ifMatch(call) });
      return ok(call, true);
    },
  }),
];

/** One address, or several with commas between them. */
const addresses = z
  .string({ error: "is required" })
  .min(1, "is required")
  .max(16_384)
  .transform((text) => text.split(",").map((one) => one.trim()))
  .refine((list) => list.every(isAddress), { error: "must be e-mail addresses with commas between them" })
  .refine((list) => list.length <= MAX_RECIPIENTS, { error: `takes at most ${MAX_RECIPIENTS} addresses` });

const testQuery = z.object({
  identifier: z.string().max(64).optional(),
  to: addresses,
  subject: z
    .string()
    .max(MAX_SUBJECT)
    .regex(/^\P{Cc}*$/u, "must not contain line breaks")
    .default("Test mail from Railhead"),
  body: z.string().max(4_096).default("The SMTP configuration works."),
});

const testRoute = ({ test }: Operations): Route =>
  route({
    method: "POST",
    path: `${PATH}/validate-connectivity`,
    operation: "smtp-config.test",
    access: { permission: "core_setting_edit" },
    account: "accountId",
    query: testQuery,
    doc: {
      summary: "Send a test mail with the account's SMTP configuration",
      queryExample: { to: "ada@example.com" },
      answer: enveloped(
        z.strictObject({
          valid: z.boolean().describe("Whether the mail server accepted the mail."),
          errorMessage: z.string().nullable(),
        }),
      ),
    },
    handle: async (call) => {
      const { identifier, ...mail } = call.query;
      const { fault } = await test(call.actor, idOf(identifier), mail);
      return ok(call, { valid: fault === null, errorMessage: fault });
    },
  });
