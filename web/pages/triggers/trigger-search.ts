import { parseListSearch, type ListSearch } from "../../util/list-search.ts";

/** What the list of triggers keeps in its address. */
export type TriggersSearch = ListSearch & {
  /** The identifier of the pipeline whose triggers are shown. */
  readonly pipeline?: string;
};

type Given = Readonly<Record<string, unknown>>;

const textOf = (given: Given, name: string): object => {
  const value = given[name];
  return (typeof value === "string" || typeof value === "number") && value !== "" ? { [name]: String(value) } : {};
};

export const parseTriggersSearch = (given: Given): TriggersSearch => ({
  ...parseListSearch(given),
  ...textOf(given, "pipeline"),
});

export const parseNewTriggerSearch = (given: Given): Pick<TriggersSearch, "pipeline"> => textOf(given, "pipeline");

/** The event that is open. */
export const parseTriggerSearch = (given: Given): { readonly event?: string } => textOf(given, "event");
