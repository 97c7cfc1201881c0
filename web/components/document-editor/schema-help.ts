import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
} from "@codemirror/autocomplete";
import type { Extension } from "@codemirror/state";
import { EditorView, hoverTooltip } from "@codemirror/view";
import { describeKey, suggestKeys, suggestValues, type Schema, type Suggestion } from "./schema-lookup.ts";
import { placeAt } from "./yaml-place.ts";

/** Completion and help on hover from the schema, which may arrive later than the editor. */
export function schemaHelp(getSchema: () => Schema | undefined): Extension {
  return [
    autocompletion({ override: [(context) => complete(getSchema(), context)], icons: false }),
    hoverTooltip((view, position) => help(getSchema(), view, position)),
    helpTheme,
  ];
}

const BEFORE_VALUE = /^[\s-]*[^\s#][^:#]*:\s+/;
const BEFORE_KEY = /^[\s-]*/;

function complete(schema: Schema | undefined, context: CompletionContext): CompletionResult | null {
  if (schema === undefined) return null;
  const line = context.state.doc.lineAt(context.pos);
  const before = line.text.slice(0, context.pos - line.from);
  const value = BEFORE_VALUE.exec(before)?.[0];
  const start = value ?? BEFORE_KEY.exec(before)?.[0] ?? "";
  const word = before.slice(start.length);
  // A line that begins with a space offers its keys when asked only.
  if (word === "" && value === undefined && !context.explicit) return null;
  const place = placeAt(context.state.doc.toString(), line.number - 1, start.length);
  if (place === undefined) return null;
  const options =
    value === undefined
      ? suggestKeys(schema, place).map((one) => keyCompletion(one, start.length))
      : suggestValues(schema, place).map(({ text, description }) => ({ label: text, info: description }));
  return options.length === 0 ? null : { from: line.from + start.length, options, validFor: /^[\w.-]*$/ };
}

function keyCompletion({ text, description, isRequired, holds }: Suggestion, indent: number): Completion {
  const next = `\n${" ".repeat(indent + 2)}`;
  const after = holds === "mapping" ? `:${next}` : holds === "list" ? `:${next}- ` : ": ";
  return {
    label: text,
    apply: `${text}${after}`,
    ...(description === "" ? {} : { info: description }),
    ...(isRequired ? { detail: "required", boost: 1 } : {}),
  };
}

function help(schema: Schema | undefined, view: EditorView, position: number) {
  if (schema === undefined) return null;
  const line = view.state.doc.lineAt(position);
  const start = BEFORE_KEY.exec(line.text)?.[0].length ?? 0;
  const place = placeAt(view.state.doc.toString(), line.number - 1, start);
  if (place?.key === undefined || position - line.from > start + place.key.length) return null;
  const text = describeKey(schema, place);
  if (text === undefined || text === "") return null;
  const { key } = place;
  return {
    pos: line.from + start,
    end: line.from + start + key.length,
    above: true,
    create: () => {
      const dom = document.createElement("div");
      dom.className = "cm-key-help";
      const name = document.createElement("strong");
      name.textContent = key;
      const words = document.createElement("span");
      words.textContent = text;
      dom.append(name, words);
      return { dom };
    },
  };
}

const helpTheme = EditorView.theme({
  ".cm-key-help": {
    display: "flex",
    flexDirection: "column",
    padding: "var(--space-2) var(--space-3)",
    fontFamily: "var(--font-sans)",
  },
  ".cm-completionInfo": { maxWidth: "18rem", fontFamily: "var(--font-sans)" },
  ".cm-tooltip-autocomplete > ul": { fontFamily: "var(--font-mono)", maxHeight: "14rem" },
  ".cm-completionDetail": { color: "var(--color-text-muted)", fontStyle: "normal" },
});
