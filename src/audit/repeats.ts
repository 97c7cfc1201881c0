/** Counts the repeats of refused attempts by kind, for a minute each, and the different resources that they named. */
import type { Uuid } from "../core/ids.ts";
import type { RefusedAttempt } from "../core/refused.ts";
import type { AuditView } from "./difference/difference.ts";

/** The period in milliseconds in which repeats are counted together. */
export const WINDOW_MS = 60_000;
/** The number of kinds in one period: of one account, and of all accounts. */
export const KINDS_OF_ACCOUNT = 120;
const KINDS = 10_000;
/** Names of resources in one entry. Each kind has room for them, however many other kinds name. */
const SAMPLE = 20;
/** Different resources that are counted in one period: of one kind, and beyond the sample of all kinds. */
const RESOURCES_OF_KIND = 1_000;
const RESOURCES = 50_000;

/** When an attempt was refused, and the resource that it named. */
type Occurrence = { readonly at: number; readonly resource: string | undefined };
type Counted = {
  readonly first: RefusedAttempt;
  readonly since: number;
  last: number;
  repeats: number;
  /** The different resources of the first attempt and its repeats. */
  readonly resources: Set<string>;
  /** Whether the limits left out resources. */
  hasMore: boolean;
};
/** Attempts of one kind that become one entry. */
export type RefusedAttempts = {
  readonly attempt: RefusedAttempt;
  /** Time of the last one. */
  readonly at: number;
  readonly attempts: number;
  /** Undefined if the attempts named one resource. */
  readonly resources?: AuditView | undefined;
};

/** Calls `onEnded` with the repeats of each period that has some. */
export function createRepeatCounter(onEnded: (repeats: RefusedAttempts) => void) {
  const counted = new Map<string, Counted>();
  const kinds = new Map<Uuid, number>();
  let countedResources = 0;

  function addResource(entry: Counted, resource: string | undefined): void {
    if (resource === undefined || entry.resources.has(resource)) return;
    const { size } = entry.resources;
    entry.hasMore ||= size >= RESOURCES_OF_KIND || (size >= SAMPLE && countedResources >= RESOURCES);
    if (entry.hasMore) return;
    countedResources += size >= SAMPLE ? 1 : 0;
    entry.resources.add(resource);
  }

  function end(key: string, entry: Counted): void {
    const { first, last, repeats } = entry;
    counted.delete(key);
    countedResources -= Math.max(0, entry.resources.size - SAMPLE);
    const known = (kinds.get(first.accountId) ?? 0) - 1;
    if (known > 0) kinds.set(first.accountId, known);
    else kinds.delete(first.accountId);
    if (repeats > 0) onEnded({ attempt: first, at: last, attempts: repeats, resources: resourcesOf(entry) });
  }

  return {
    isFull: (): boolean => counted.size >= KINDS,
    isFullFor: (accountId: Uuid): boolean => (kinds.get(accountId) ?? 0) >= KINDS_OF_ACCOUNT || counted.size >= KINDS,
    /** Begins the period of a kind with its first attempt. */
    begin(key: string, attempt: RefusedAttempt, { at, resource }: Occurrence): void {
      const entry = { first: attempt, since: at, last: at, repeats: 0, resources: new Set<string>(), hasMore: false };
      counted.set(key, entry);
      kinds.set(attempt.accountId, (kinds.get(attempt.accountId) ?? 0) + 1);
      addResource(entry, resource);
    },
    /** Counts a repeat. Returns false without a current period. */
    add(key: string, { at, resource }: Occurrence): boolean {
      const entry = counted.get(key);
      if (!entry) return false;
      if (at - entry.since >= WINDOW_MS) {
        end(key, entry);
        return false;
      }
      entry.repeats += 1;
      entry.last = at;
      addResource(entry, resource);
      return true;
    },
    /** Ends the periods that are over; with `all` also the current ones. */
    endPeriods(now: number, all: boolean): void {
      for (const [key, entry] of counted) {
        if (all || now - entry.since >= WINDOW_MS) end(key, entry);
      }
    },
  };
}

/** Of attempts that named different resources: how many, and the first of their names. */
const resourcesOf = ({ resources, hasMore }: Counted): AuditView | undefined =>
  resources.size < 2
    ? undefined
    : {
        resources: hasMore ? `more than ${resources.size}` : resources.size,
        firstResources: [...resources].slice(0, SAMPLE),
      };
