import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { LogReader } from "../lines/log-answers.ts";
import { createFolding, type Folding } from "./folding.ts";
import { groupsOf, type Group, type Marker } from "./groups.ts";

/** More are lines of other programs that look alike. */
const MOST_MARKERS = 20_000;

export type Groups = {
  readonly markers: readonly Marker[];
  readonly folding: Folding;
  /** Undefined if the line begins no group. */
  readonly isOpen: (line: number) => boolean | undefined;
  readonly toggle: (line: number) => void;
  readonly openAround: (line: number) => void;
  readonly closeAll: () => void;
  readonly openAll: () => void;
  /** Whether a part of the log was not looked through for groups. */
  readonly hasMore: boolean;
  readonly lookFurther: () => void;
};

/** The groups of the log, of which a first part is looked through by itself; and those that the reader has closed. */
export function useGroups(reader: LogReader, totalLines: number, endOffset: number): Groups {
  const { markers, hasMore, lookFurther } = useMarkers(reader, endOffset);
  const [closed, setClosed] = useState<ReadonlySet<number>>(new Set());
  const groups = useMemo(() => new Map(groupsOf(markers).map((group) => [group.header, group])), [markers]);
  const folding = useMemo(() => createFolding(hiddenBy(groups, closed), totalLines), [groups, closed, totalLines]);
  const toggle = useCallback((line: number) => {
    setClosed((former) => {
      const next = new Set(former);
      if (!next.delete(line)) next.add(line);
      return next;
    });
  }, []);
  const openAround = (line: number): void => {
    const around = [...groups.values()].filter(({ header, to }) => header < line && line <= to && closed.has(header));
    if (around.length > 0)
      setClosed(new Set([...closed].filter((one) => around.every(({ header }) => header !== one))));
  };
  return {
    ...{ markers, folding, toggle, openAround, hasMore, lookFurther },
    isOpen: (line) => (groups.has(line) ? !closed.has(line) : undefined),
    closeAll: () => setClosed(new Set(groups.keys())),
    openAll: () => setClosed(new Set()),
  };
}

const hiddenBy = (groups: ReadonlyMap<number, Group>, closed: ReadonlySet<number>) =>
  [...closed].flatMap((line) => {
    const group = groups.get(line);
    return group === undefined ? [] : [{ from: line + 1, to: group.to }];
  });

type Markers = { readonly markers: readonly Marker[]; readonly hasMore: boolean };

function useMarkers(reader: LogReader, endOffset: number): Markers & { readonly lookFurther: () => void } {
  const [found, setFound] = useState<Markers>({ markers: [], hasMore: false });
  const state = useRef({ next: 0, isReading: false, isDue: false, markers: [] as readonly Marker[] });
  const stopped = useRef<AbortSignal>(undefined);
  useEffect(() => {
    const stop = new AbortController();
    state.current = { next: 0, isReading: false, isDue: false, markers: [] };
    stopped.current = stop.signal;
    return () => stop.abort();
  }, [reader]);
  const read = useCallback(async (): Promise<void> => {
    const own = state.current;
    const signal = stopped.current;
    own.isDue = true;
    if (own.isReading || signal === undefined) return;
    own.isReading = true;
    try {
      while (own.isDue && own.markers.length < MOST_MARKERS) {
        own.isDue = false;
        const { groups, next, more } = await reader.groups(own.next, signal);
        const last = own.markers.at(-1)?.number ?? 0;
        if (groups.length > 0) own.markers = [...own.markers, ...groups.filter(({ number }) => number > last)];
        own.next = next;
        setFound({ markers: own.markers, hasMore: more && own.markers.length < MOST_MARKERS });
      }
    } catch {
      // The log can be read without its groups; what is wrong with the log, its lines tell.
    } finally {
      own.isReading = false;
    }
  }, [reader]);
  const { hasMore } = found;
  // Of a log that grows the new part is looked through; of a long one no more than its first part.
  useEffect(() => {
    if (!hasMore && endOffset > 0) void read();
  }, [read, endOffset, hasMore]);
  return { ...found, lookFurther: () => void read() };
}
