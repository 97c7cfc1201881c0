import { languageSections } from "../../src/pipelines/index.ts";
import { between, type Generator, markdownTable } from "../lib/generated.ts";

type Field = ReturnType<typeof languageSections>[number]["fields"][number];

const row = ({ name, value, isRequired, description }: Field): readonly string[] => [
  `\`${name}\`${isRequired ? " *" : ""}`,
  value,
  description,
];

/** All fields of pipelines, in Markdown, from the schemas that check them. */
export const fieldsPage = (): string =>
  languageSections()
    .map(({ title, fields }) => `## ${title}\n\n${markdownTable(["field", "value", "meaning"], fields.map(row))}`)
    .join("\n\n");

export const language: Generator = {
  file: "docs/reference/pipeline-fields.md",
  make: (current) => between("fields", current, fieldsPage()),
};
