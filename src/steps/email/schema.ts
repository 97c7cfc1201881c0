import { z } from "zod";
import { isAddress } from "../../core/mail-address.ts";
import { referred } from "../../core/reference.ts";
import { type Phase, text } from "../schema/fields.ts";

/** Addresses and user groups of a mail. */
const MAX_RECIPIENTS = 256;
const MAX_SUBJECT = 998;
const MAX_BODY = 256 * 1024;

/** Any place stands for the one that a plain reference leads to. */
const ANYWHERE = { orgIdentifier: "o", projectIdentifier: "p" };

const isOpen = (value: string): boolean => value.includes("<+");

/** Addresses of a text are separated by commas or semicolons. */
export const addressesIn = (value: string): readonly string[] =>
  value
    .split(/[,;]/)
    .map((one) => one.trim())
    .filter((one) => one !== "");

const address = (phase: Phase) =>
  text(phase).superRefine((value, context) => {
    const wrong = isOpen(value) ? undefined : addressesIn(value).find((one) => !isAddress(one));
    if (wrong === undefined) return;
    context.addIssue({ code: "custom", message: `'${wrong.slice(0, 64).toWellFormed()}' is not an e-mail address` });
  });

const addresses = (phase: Phase) => z.union([z.array(address(phase)).max(MAX_RECIPIENTS), address(phase)]);

const groups = (phase: Phase) =>
  z
    .array(
      text(phase).refine((value) => isOpen(value) || referred(value, ANYWHERE) !== undefined, {
        error: "A reference is written like account.name, org.name or name",
      }),
    )
    .max(MAX_RECIPIENTS);

const form = (phase: Phase) =>
  z.strictObject({
    subject: text(phase)
      .max(MAX_SUBJECT)
      .refine((value) => !/[\p{Cc}\u2028\u2029]/u.test(value), { error: "A subject has no line breaks" })
      .describe("May hold expressions"),
    to: addresses(phase).nullish().describe("Addresses, as a list or separated by commas; may hold expressions"),
    toUserGroups: groups(phase).nullish().describe("Groups whose members get it"),
    cc: addresses(phase).nullish().describe("Further addresses"),
    ccUserGroups: groups(phase).nullish().describe("Further groups"),
    body: text(phase).max(MAX_BODY).nullish().describe("Text, or HTML if it begins with a tag; may hold expressions"),
    fireAndForget: z.boolean().nullish().describe("`true`: the step does not wait until the mail is sent"),
  });

export const email = (phase: Phase) =>
  form(phase).refine(({ to, toUserGroups }) => listOf(to).length + (toUserGroups ?? []).length > 0, {
    error: "Expected at least one of to and toUserGroups",
  });

export type EmailSpec = z.output<ReturnType<typeof email>>;

/** The texts of a field of addresses. */
export const listOf = (value: string | readonly string[] | null | undefined): readonly string[] =>
  typeof value === "string" ? [value].filter((one) => one.trim() !== "") : (value ?? []);
