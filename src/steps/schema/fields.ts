import { z } from "zod";
import { ENTITY_IDENTIFIER, isReserved, NAME, VARIABLE_NAME } from "../../core/identifier.ts";
import { parseDuration, parseInterval } from "../../engine/index.ts";
import { isMarker, readMarker } from "./marker.ts";

/** A field that the wider language has and this version does not run: refused by its name. */
export const later = z.never().optional();

/** What the language reference says of the values of a schema that its type does not tell. */
export const valueForms = z.registry<{ readonly form: string }>();

const formed = <T extends z.ZodType>(schema: T, form: string): T => {
  valueForms.add(schema, { form });
  return schema;
};

/** Several of them, to be spread into the shape of an object. */
export function allLater<K extends string>(...names: readonly K[]): { readonly [key in K]: typeof later } {
  return Object.fromEntries(names.map((name) => [name, later])) as { readonly [key in K]: typeof later };
}

// Identifiers and variable names become keys of what expressions see.
export const HOST_WORDS: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

type Refuse = (value: string) => string | undefined;

/** A string with one rule, which answers the fault as a sentence. */
const ruled = (refuse: Refuse) =>
  z.string().superRefine((value, context) => {
    const fault = isMarker(value) ? "A runtime input is not allowed here" : refuse(value);
    if (fault !== undefined) context.addIssue({ code: "custom", message: fault });
  });

export const identifier = ruled((value) => {
  if (isReserved(value) || HOST_WORDS.has(value)) return `'${value}' is a reserved word and cannot be an identifier`;
  if (ENTITY_IDENTIFIER.test(value)) return undefined;
  return "An identifier has letters, digits and _, begins with a letter or _, and has at most 128 characters";
});

export const name = ruled((value) =>
  NAME.test(value) ? undefined : "A name has letters, digits, spaces, - _ and ., and has 1 to 128 characters",
);

export const variableName = ruled((value) => {
  if (HOST_WORDS.has(value)) return `'${value}' is a reserved word and cannot be the name of a variable`;
  if (VARIABLE_NAME.test(value)) return undefined;
  return "A variable name has letters, digits and _ . $ -, begins with a letter or _, and has at most 128 characters";
});

/** A name that Bash can use for a variable. */
export const shellName = ruled((value) => {
  if (HOST_WORDS.has(value)) return `'${value}' is a reserved word and cannot be the name of a variable`;
  if (/^[a-zA-Z_][0-9a-zA-Z_]{0,127}$/.test(value)) return undefined;
  return "A name for Bash has letters, digits and _, begins with a letter or _, and has at most 128 characters";
});

/** Text as it is; empty values are commonly left out after the colon. */
export const description = z.string().nullish();

export const tags = z.record(z.string(), z.string()).nullish();

/** Whether runtime inputs may still stand in a document: as saved they may, as run there are none left. */
export type Phase = "saved" | "merged";

function checkMarker(value: string, context: z.RefinementCtx): void {
  const read = readMarker(value);
  if ("fault" in read) context.addIssue({ code: "custom", message: read.fault });
}

/**
 * Text that may be a runtime input; the expressions in it are checked elsewhere. `form`: what is said of a number or
 * another value that is no text.
 */
export const text = (phase: Phase, form?: string) =>
  z.string({ error: ({ input }) => (input === undefined ? undefined : form) }).superRefine((value, context) => {
    if (phase === "saved" && isMarker(value)) checkMarker(value, context);
  });

/** Tags of delegates, all of which must match. */
export const delegateSelectors = (phase: Phase) => {
  const selector = text(phase)
    .min(1)
    .max(128)
    .refine(
      (value) => (phase === "saved" && isMarker(value)) || !value.includes("<+"),
      "Expressions in delegateSelectors are not supported yet",
    );
  const input = z.string().superRefine((value, context) => {
    if (phase === "saved" && isMarker(value)) checkMarker(value, context);
    else context.addIssue({ code: "custom", message: "Expected a list of strings, got text" });
  });
  return formed(z.union([z.array(selector).max(64), input]), "list of text").nullish();
};

const TIMEOUT = "A timeout is written like 10m, 90s or 1h 30m (units w d h m s), at most 53w";
const INTERVAL = "A time is written like 10s, 5m or 1h 30m (units w d h m s), at most 53w";

/** How long a step may run; nothing and empty text stand for the default. */
export const timeout = (phase: Phase) =>
  formed(
    text(phase, TIMEOUT).superRefine((value, context) => {
      const fault = value === "" || (phase === "saved" && isMarker(value)) ? undefined : timeoutFault(value);
      if (fault !== undefined) context.addIssue({ code: "custom", message: fault });
    }),
    "time, at least `10s`; may hold expressions",
  ).nullish();

/** A pause, or a time that people are given. */
export const interval = (phase: Phase) =>
  formed(
    text(phase, INTERVAL).refine((value) => isOpen(value, phase) || parseInterval(value) !== undefined, {
      error: INTERVAL,
    }),
    "time",
  );

/** A number of things. Runtime inputs give it as text. */
export const wholeNumber = (phase: Phase, min: number, max: number) =>
  formed(
    z.union([z.number(), text(phase)]).refine((value) => isOpen(value, phase) || isWithin(value, min, max), {
      error: `Expected a whole number from ${min} to ${max}`,
    }),
    `${min} to ${max}`,
  );

const isOpen = (value: unknown, phase: Phase): boolean => phase === "saved" && isMarker(value);

function isWithin(value: number | string, min: number, max: number): boolean {
  const number = typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : value;
  return Number.isInteger(number) && Number(number) >= min && Number(number) <= max;
}

function timeoutFault(value: string): string | undefined {
  if (value.includes("<+") && !isMarker(value)) return undefined;
  if (parseDuration(value) !== undefined) return undefined;
  if (/^\d+ms$/.test(value)) return `Milliseconds are not allowed in a timeout: '${value}'`;
  if (/^[1-9]s$/.test(value)) return `A timeout is at least 10s, not '${value}'`;
  return TIMEOUT;
}

/** A list of things with names, none of which is given twice. The second and later ones are at fault. */
export const namedList = <T extends z.ZodType<{ readonly name: string }>>(item: T) =>
  z.array(item).superRefine((list, context) => {
    const seen = new Set<string>();
    for (const [index, { name }] of list.entries()) {
      const message = `The variable name '${name}' is given twice`;
      if (seen.has(name)) context.addIssue({ code: "custom", path: [index, "name"], message });
      seen.add(name);
    }
  });

/** Items of one parallel list. */
export const MAX_PARALLEL = 256;
export const TOO_MANY_PARALLEL = `A parallel list has at most ${MAX_PARALLEL} items (limit parallelItems)`;

/** A map that has exactly one of these fields. */
export function oneOfFields(shape: { readonly [field: string]: z.ZodType }): z.ZodType {
  const names = Object.keys(shape).filter((field) => shape[field] !== later);
  if (names.length === 1) return z.strictObject(shape);
  const open = Object.fromEntries(Object.entries(shape).map(([field, schema]) => [field, schema.optional()]));
  return z.strictObject(open).superRefine((given, context) => {
    if (names.filter((field) => given[field] !== undefined).length === 1) return;
    context.addIssue({ code: "custom", message: `Expected exactly one of ${names.join(", ")}` });
  });
}

/** One of several words, which a runtime input may give. */
export const oneOfWords = (phase: Phase, words: readonly string[]) =>
  formed(
    text(phase).superRefine((value, context) => {
      if (isOpen(value, phase) || words.includes(value)) return;
      const message = `Unknown value '${value.slice(0, 80).toWellFormed()}'. Allowed: ${words.join(", ")}`;
      context.addIssue({ code: "custom", message });
    }),
    words.map((word) => `\`${word}\``).join(", "),
  );

/** One of the values that we run; others of the wider language are refused by name, the rest with the list. */
export function choice<const T extends string>(
  what: string,
  ours: readonly [T, ...T[]],
  isLater: (value: string) => boolean,
) {
  return z.enum(ours, {
    error: ({ input }) => {
      if (typeof input !== "string") return undefined;
      if (isMarker(input)) return "A runtime input is not allowed here";
      if (isLater(input)) return `${what} '${input}' is not supported yet`;
      return `Unknown ${what.toLowerCase()} '${input.slice(0, 80).toWellFormed()}'. Allowed: ${ours.join(", ")}`;
    },
  });
}

export const oneOf = (words: string): ((value: string) => boolean) => {
  const known = new Set(words.split(/\s+/));
  return (value) => known.has(value);
};

/** Fields that no type has yet; `spec` belongs to the type. */
const unsupportedIn = (forms: readonly z.ZodObject[]): readonly string[] =>
  Object.keys(forms[0]?.shape ?? {}).filter(
    (name) => name !== "spec" && forms.every(({ shape }) => shape[name] === later),
  );

/**
 * An object with one form for each `type`: the type, and the fields that
 * replace it, are judged first, so that another type is one fault and not
 * one for each field that differs. Fields that no type has yet are told with it.
 */
export const typed = <T extends z.ZodObject>(
  type: z.ZodType<string>,
  forms: readonly T[],
  replacements: { readonly [field: string]: typeof later } = {},
) => {
  let outline = z.looseObject({ type, ...replacements });
  // With a right type the strict form says it, beside all else that is wrong in there.
  for (const name of unsupportedIn(forms).filter((one) => !Object.hasOwn(replacements, one)))
    outline = outline.refine(
      (value) => isMissing(value, name) || type.safeParse((value as { type?: unknown }).type).success,
      { path: [name], error: `'${name}' is not supported yet`, when: ({ value }) => isObject(value) },
    );
  const form = z.discriminatedUnion("type", forms as unknown as readonly [z.core.$ZodTypeDiscriminable]);
  return outline.pipe(form as unknown as z.ZodType<z.output<T>, { type: string }>);
};

const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isMissing = (value: unknown, name: string): boolean => !isObject(value) || !Object.hasOwn(value, name);
