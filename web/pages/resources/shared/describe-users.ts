import { visibleText } from "../../../util/visible-text.ts";

const NOUNS = { PIPELINE: "pipeline", CONNECTOR: "connector", SECRET: "secret" } as const;

type Users = {
  readonly content: readonly { readonly type: keyof typeof NOUNS; readonly identifier: string }[];
  readonly totalItems: number;
  readonly hidden: number;
};

/** pipeline 'deploy', connector 'registry', and 3 more */
export function describeUsers({ content, totalItems, hidden }: Users): string {
  const named = content.map(({ type, identifier }) => `${NOUNS[type]} '${visibleText(identifier)}'`);
  const others = totalItems - content.length + hidden;
  if (others === 0) return named.join(", ");
  return named.length === 0 ? `${others} that you may not see` : `${named.join(", ")}, and ${others} more`;
}
