import { useEffect, useRef, useState } from "react";
import { countUpTo, neighbourHit, type LogSearch } from "./log-search.ts";

type Places = {
  /** The first line in sight. */
  readonly topLine: () => number;
  readonly goTo: (line: number) => void;
  /** The address names lines: they are shown first, not a hit. */
  readonly hasSpan: boolean;
};

/** Which hit is shown, and what is said about all of them. */
export function useHits(search: LogSearch, { topLine, goTo, hasSpan }: Places) {
  const [shown, setShown] = useState<{ readonly search: LogSearch; readonly line: number }>();
  const current = shown?.search === search ? shown.line : undefined;
  const hits = search.hits();
  const goToHit = (index: number): void => {
    const line = hits[index];
    if (line === undefined) return;
    setShown({ search, line });
    goTo(line);
  };
  const goToNeighbour = (direction: 1 | -1): void =>
    goToHit(neighbourHit(hits, current ?? topLine() - (direction === 1 ? 1 : 0), direction));
  const staysAt = useRef(hasSpan);
  const hasHits = hits.length > 0;
  // A new search shows its first hit as soon as there is one.
  useEffect(() => {
    if (!hasHits) return;
    if (!staysAt.current) goToNeighbour(1);
    staysAt.current = false;
  }, [search, hasHits]);
  return { current, goToNeighbour, text: describe(search, current) };
}

function describe(search: LogSearch, current: number | undefined): string {
  if (search.error() !== undefined) return "The search failed";
  const hits = search.hits();
  const count = `${hits.length.toLocaleString("en-GB")}${search.isCut() ? "+" : ""}`;
  const place = current === undefined ? "" : `${countUpTo(hits, current).toLocaleString("en-GB")} of `;
  if (search.isSearching() && search.progress() < 1)
    return `${place}${count} (${Math.floor(search.progress() * 100)} %)`;
  return hits.length === 0 ? (search.isSearching() ? "Searching" : "No lines") : `${place}${count}`;
}
