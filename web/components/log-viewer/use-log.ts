import { useEffect, useState, useSyncExternalStore } from "react";
import type { LineRange, LogReader } from "./lines/log-answers.ts";
import { createLogReader, type LogName } from "./lines/log-reader.ts";
import { createLineStore, type LineStore } from "./lines/line-store.ts";
import { createLogSearch, type LogSearch } from "./search/log-search.ts";

export type OpenLog = { readonly reader: LogReader; readonly store: LineStore };

/** The log while the component is shown. The component has one log for its life: another one is another component. */
export function useLog(name: LogName, first: LineRange): OpenLog | undefined {
  const [log, setLog] = useState<OpenLog>();
  const [ofName] = useState(name);
  const [range] = useState(first);
  useEffect(() => {
    const reader = createLogReader(ofName);
    const store = createLineStore(reader.lines);
    store.open(range);
    setLog({ reader, store });
    return store.stop;
  }, [ofName, range]);
  return log;
}

/** Renders again with each answer. */
export const useRevision = (source: Pick<LineStore, "subscribe" | "revision">): number =>
  useSyncExternalStore(source.subscribe, source.revision);

const NO_SEARCH = createLogSearch(() => Promise.reject(new Error("There is no text.")), "");

/** The search for the text; goes on when the log has grown. */
export function useSearch({ reader, store }: OpenLog, text: string): LogSearch {
  const [search, setSearch] = useState(NO_SEARCH);
  useEffect(() => {
    if (text === "") return setSearch(NO_SEARCH);
    const started = createLogSearch(reader.search, text);
    setSearch(started);
    started.run();
    return started.stop;
  }, [reader, text]);
  const endOffset = store.size()?.endOffset;
  useEffect(() => {
    if (search !== NO_SEARCH) search.run();
  }, [search, endOffset]);
  useRevision(search);
  return search;
}
