import { useEffect } from "react";

/** Sets the title of the document: the page's own words first, because tabs show only the beginning. */
export function useTitle(...parts: readonly string[]): void {
  const title = [...parts, "Railhead"].join(" · ");
  useEffect(() => {
    document.title = title;
  }, [title]);
}
