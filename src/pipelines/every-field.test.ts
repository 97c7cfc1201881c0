/**
 * No field of the language is accepted and ignored: with another value, or without it, a document has another plan,
 * another record or a refusal. The fields are those of the schemas.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { stepModules } from "../steps/table.ts";
import { fieldsIn, type LanguageField } from "./document/language-fields.ts";
import { pipelineSchema } from "./document/schema.ts";
import { stageTypes } from "./document/stage.ts";
import { stepSchema, stepGroupSchema } from "./document/step.ts";
import { effectOf } from "./testing/effect.ts";
import { type Fields, PLACES, specDocument, SPECS } from "./testing/field-samples.ts";

/** Fields that change neither plan nor record, with the reason: by name, or by place and name. */
const SHOWN_ONLY: { readonly [field: string]: string } = {
  description: "a text for people, which the YAML and expressions show",
  "variables[].description": "a text for people, which the YAML shows",
  "spec.serviceConfig.serviceDefinition.spec.variables[].description": "a text for people, which the YAML shows",
  tags: "labels for people, which the YAML and expressions show",
  "flowControl.barriers[].name": "a name for people, which the YAML shows",
};

/** Texts of which every other value is refused, with the reason. */
const FIXED: { readonly [field: string]: string } = {
  orgIdentifier: "the organization of the request",
  projectIdentifier: "the project of the request",
  "flowControl.barriers[].identifier": "a Barrier step of the sample names it",
  barrierRef: "the only barrier of the sample",
};

type Place = {
  readonly name: string;
  readonly fields: readonly LanguageField[];
  readonly samples: readonly Fields[];
  readonly documentOf: (fields: Fields) => Fields;
};

const placeOf = (name: string, fields: readonly LanguageField[]): Place => ({
  name,
  fields,
  samples: PLACES[name]?.samples ?? [],
  documentOf: PLACES[name]?.documentOf ?? ((given) => given),
});

/** An action after an action has the same fields. */
const NESTED = ["onRetryFailure", "onTimeout"];
const LISTS = ["steps", "rollbackSteps"];

const places: readonly Place[] = [
  placeOf("pipeline", fieldsIn(pipelineSchema("saved"), { stop: ["stages"] })),
  ...stageTypes("saved").map(({ type, schema }) =>
    placeOf(`stage ${type}`, fieldsIn(schema, { stop: [...NESTED, ...LISTS] })),
  ),
  placeOf("step", fieldsIn(stepSchema("saved"), { stop: [...NESTED, "spec"] })),
  placeOf("stepGroup", fieldsIn(stepGroupSchema("saved"), { stop: [...NESTED, ...LISTS] })),
  ...stepModules.map(({ type, schema }) => ({
    name: type,
    fields: fieldsIn(schema("saved"), {}),
    samples: SPECS[type] ?? [],
    documentOf: (spec: Fields) => specDocument(type, spec),
  })),
];

for (const place of places)
  test(`every field of ${place.name} has an effect`, async () => {
    const wrong: string[] = [];
    for (const field of place.fields) wrong.push(...[await faultOf(place, field)].flatMap((fault) => fault ?? []));
    assert.deepEqual(wrong, [], wrong.join("\n"));
  });

async function faultOf({ name, samples, documentOf }: Place, field: LanguageField): Promise<string | undefined> {
  const found = samples.flatMap((sample) => {
    const path = pathIn(sample, field.name);
    return path ? [{ sample, path }] : [];
  });
  if (found.length === 0) return `${name}: ${field.name} is in no sample: add it to testing/field-samples.ts`;
  let hasEffect = SHOWN_ONLY[field.name] !== undefined;
  for (const { sample, path } of hasEffect ? [] : found) {
    const before = await effectOf(documentOf(sample));
    assert.ok("text" in before, `a sample of ${name} is refused: ${JSON.stringify(before)}`);
    const value = valueAt(sample, path);
    const others = othersOf(value, field).map((other) => effectOf(documentOf(put(sample, path, other))));
    const effects = await Promise.all(others);
    const isDifferent = effects.some((effect) => "text" in effect && effect.text !== before.text);
    const isChecked = effects.slice(1).every((effect) => "refusal" in effect);
    const mayBeChecked = FIXED[field.name] !== undefined || typeof value !== "string" || hasWords(field);
    hasEffect ||= isDifferent || (isChecked && mayBeChecked);
  }
  return hasEffect ? undefined : `${name}: ${field.name} is accepted and has no effect`;
}

const hasWords = ({ value }: LanguageField): boolean => value.includes("`");

/** The keys that lead to a field in a sample: the first item of each list, and for NAME any key that the author chose. */
function pathIn(sample: Fields, name: string): readonly string[] | undefined {
  const path: string[] = [];
  let value: unknown = sample;
  for (const part of name.replaceAll("[]", ".0").split(".")) {
    if (typeof value !== "object" || value === null) return undefined;
    const key = part === "NAME" ? Object.keys(value)[0] : part;
    if (key === undefined || !Object.hasOwn(value, key)) return undefined;
    path.push(key);
    value = (value as Fields)[key];
  }
  return path;
}

const valueAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((at, key) => (at as Fields)[key], value);

/** A copy with another value; undefined is left out of the document. */
function put(value: unknown, [key = "", ...rest]: readonly string[], to: unknown): Fields {
  const copy: Record<string, unknown> | unknown[] = Array.isArray(value)
    ? [...(value as unknown[])]
    : { ...(value as Fields) };
  const fields = copy as Record<string, unknown>;
  fields[key] = rest.length > 0 ? put(fields[key], rest, to) : to;
  return fields;
}

/** Without the field, and other values, of which some may be refused. */
function othersOf(value: unknown, { value: form }: LanguageField): readonly unknown[] {
  const words = [...form.matchAll(/`([^`]+)`/g)].map(([, word]) => word);
  return [undefined, ...variantsOf(value), ...words].filter((other) => other !== value);
}

function variantsOf(value: unknown): readonly unknown[] {
  if (typeof value === "boolean") return [!value];
  if (typeof value === "number") return [value + 1, value - 1];
  if (typeof value === "string") return [`2${value}`, `${value}2`, value.replace(/\d/, "3"), "UTC"];
  return [Array.isArray(value) ? [...(value as unknown[]), ...(value as unknown[])] : {}];
}
