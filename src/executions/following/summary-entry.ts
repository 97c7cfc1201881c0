/** The summary of a followed execution in JSON; of its stages only those that have changed are sent. */
import type { Plan } from "../../engine/index.ts";
import { isInLists, stageIdsOf, stagesOf, stageStatesOf, type Stage } from "../stage.ts";
import { executionSummary } from "../wire/rest.ts";
import { NO_REASONS, type Reading } from "./reading.ts";

export function createSummaryEntry() {
  const layout = new Map<string, { readonly at: number; readonly json: string }>();
  let [changedAt, others] = [0, ""];
  let known: { readonly plan: Plan; readonly stages: readonly Stage[] } | undefined;
  let state: unknown;

  return {
    /** Returns whether it has changed. */
    update(reading: Reading, at: number): boolean {
      const { execution, changed, touched } = reading;
      const { plan } = execution;
      const isShown = (id: string): boolean => isInLists(plan, id);
      if (known?.plan === plan && state === execution.state && !changed.values().some(isShown))
        if (!touched.values().some(isShown)) return false;
      if (known?.plan !== plan) known = { plan, stages: stagesOf(plan) };
      state = execution.state;
      const { layoutNodeMap, ...rest } = summaryOf(reading, known.stages);
      const json = JSON.stringify(rest);
      let isChanged = json !== others;
      for (const [id, node] of Object.entries(layoutNodeMap)) {
        const entry = { at, json: JSON.stringify(node) };
        if (layout.get(id)?.json === entry.json) continue;
        layout.set(id, entry);
        isChanged = true;
      }
      if (isChanged) [changedAt, others] = [at, json];
      return isChanged;
    },
    /** Undefined if it is the same. */
    since: (since: number): string | undefined => {
      if (changedAt <= since) return undefined;
      const changed = [...layout].filter(([, { at }]) => at > since).map(([id, { json }]) => [id, json] as const);
      return `${others.slice(0, -1)},"layoutNodeMap":${objectOf(changed)}}`;
    },
  };
}

function summaryOf({ execution, extras, canRetry }: Reading, stages: readonly Stage[]) {
  const { plan, state, nodes } = execution;
  const stageStates = stageStatesOf(state, nodes, stageIdsOf(plan));
  return executionSummary({ ...execution, stages, stageStates, canRetry }, { ...extras, serviceReasons: NO_REASONS });
}

/** An object whose values are JSON. The keys are ids, which need no escapes. */
export const objectOf = (members: readonly (readonly [id: string, json: string])[]): string =>
  `{${members.map(([id, json]) => `"${id}":${json}`).join(",")}}`;
