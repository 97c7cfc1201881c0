/**
 * Drives the engine. Whatever happens to an execution comes through here: its row is locked, the engine says what
 * follows, and the new state, its nodes, the tasks and the timers are written in the caller's transaction (invariant 2).
 */
import {
  FORMAT,
  upgrade,
  type Effect,
  type Engine,
  type Event,
  type InstanceId,
  type NodeState,
  type Plan,
  type State,
  type Transition,
} from "../../engine/index.ts";
import { toWire, type Uuid } from "../../core/ids.ts";
import type { Tx } from "../../platform/db/db.ts";
import { sendTogether } from "../../platform/db/send-together.ts";
import { problem } from "../problems.ts";
import { isInLists, isSameState, storedStates } from "../stage.ts";
import { deploymentsIn } from "../deployments/changes.ts";
import { findPlan, lockHeader, saveTransition, type RunKey } from "../store/advance.ts";
import { saveDeployments } from "../store/deployments.ts";
import { kindOf, type NodeChange } from "../node-rows.ts";
import { withChange, type RecentChange } from "../recent-changes.ts";
import { timersOf } from "../store/timers.ts";
import { isState } from "../stored.ts";
import type { SealOutputs } from "../secret-outputs/seal.ts";
import type { Wakeups } from "../wakeups.ts";
import { createLiveExecutions, type OpenNodes } from "./live-nodes.ts";
import { perform, type Caused, type PerformDeps, type Run } from "./perform.ts";
import type { Plans } from "./plans.ts";
import { throwStuck } from "./stuck.ts";

export type AdvanceDeps = PerformDeps & {
  readonly engine: Engine;
  readonly plans: Plans;
  readonly sealOutputs: SealOutputs;
  readonly wakeups: Pick<Wakeups, "wake">;
  /** Called after the commit of the end of an execution. */
  readonly onEnded: (accountId: Uuid) => void;
};

/** An execution that is ours until the transaction ends. `give` tells the engine of an event, and answers the new state. */
export type Locked = {
  readonly before: State;
  readonly give: (event: Event) => Promise<State>;
  /** Whether it cannot be advanced: any event ends it. */
  readonly isStuck?: true;
};

/** An execution that a transaction creates: what goes into the insert, and what is done beside it. */
export type Begun = {
  readonly state: State;
  readonly nodes: readonly NodeChange[];
  readonly effects: readonly Effect[];
  /** Performs the effects and what follows from them at once; answers the last state. */
  readonly perform: () => Promise<State>;
};

/** The first event. */
type Started = Omit<Extract<Event, { kind: "started" }>, "kind">;

/** An execution in a transaction. */
type Open = {
  readonly tx: Tx;
  readonly run: Run;
  readonly projectId: Uuid;
  readonly plan: Plan;
  readonly nodes: OpenNodes;
  /** All nodes of an execution that is stored in an earlier format: they become rows with the first change. */
  earlier: ReadonlyMap<InstanceId, NodeState> | undefined;
  state: State;
  revision: number;
  recent: readonly RecentChange[];
  willWake: boolean;
  willWakeProject: boolean;
};

/** A transition that is to be saved, and the nodes that are to be written. */
type Taken = {
  readonly transition: Transition;
  readonly changes: readonly NodeChange[];
  /** Whether lists show something else. */
  readonly isShown: boolean;
  readonly caused: Caused;
};

export type Advance = ReturnType<typeof makeAdvance>;

export function makeAdvance(deps: AdvanceDeps) {
  const live = createLiveExecutions();

  /** Lays a transition over the execution; undefined when the event changes nothing. */
  function take(open: Open, event: Event): Taken | undefined {
    const transition = deps.engine.step(open.plan, { state: open.state, nodes: open.nodes }, event);
    if (transition.state === open.state) return undefined;
    const changes = changesOf(open, transition.changed);
    const isShown = changesLists(open, transition.state, changes);
    open.nodes.change(transition.changed);
    open.earlier = undefined;
    open.state = transition.state;
    open.revision += 1;
    open.recent = withChange(
      open.recent,
      open.revision,
      changes.map(({ node }) => node.id),
    );
    if (!open.willWake) {
      open.willWake = true;
      open.tx.afterCommit(() => {
        open.nodes.committed(open.revision, open.state);
        deps.wakeups.wake(open.run.id);
        if (open.state.endedAt !== null) deps.onEnded(open.run.accountId);
      });
    }
    if (isShown && !open.willWakeProject) {
      open.willWakeProject = true;
      open.tx.afterCommit(() => deps.wakeups.wake(open.projectId));
    }
    return { transition, changes, isShown, caused: { effects: transition.effects, nodes: open.nodes } };
  }

  /** Gives events, and those that follow from them at once. */
  async function follow(open: Open, events: readonly Event[]): Promise<State> {
    const queue = [...events];
    for (let event = queue.shift(); event; event = queue.shift()) {
      const taken = take(open, event);
      if (!taken) continue;
      const [, following] = await sendTogether(
        () => save(open, taken),
        () => perform(deps, open.tx, open.run, taken.caused),
      );
      queue.push(...following);
    }
    return open.state;
  }

  /** Throws what is not the execution's own fault as it is, and the rest as Stuck. */
  async function give(open: () => Promise<Open>, run: RunKey, event: Event): Promise<State> {
    try {
      const opened = await open();
      return await follow(opened, [await deps.sealOutputs(opened.tx, opened, event)]);
    } catch (error) {
      return throwStuck(run, error);
    }
  }

  return {
    /**
     * Locks an execution; undefined when there is none. Throws `execution.newer_format` for one that a later version
     * runs, and Stuck for one that cannot be read.
     */
    async lock(tx: Tx, run: RunKey): Promise<Locked | undefined> {
      const stored = await lockHeader(tx, run);
      if (!stored) return undefined;
      const { projectId, format, revision, recent, header } = stored;
      if (format > FORMAT) throw problem("execution.newer_format", [toWire(run.id)]);
      const opened = { tx, run, projectId, revision, recent: recent ?? [], ...NO_WAKEUPS };
      if (format < FORMAT) {
        const { plan, state, nodes } = await upgraded(tx, run, header);
        const open: Open = { ...opened, plan, state, earlier: nodes, nodes: live.create(run.id, nodes) };
        return { before: state, give: (event) => give(async () => open, run, event) };
      }
      if (!isState(header)) return throwStuck(run, new Error("its stored state cannot be read"));
      let open: Open | undefined;
      const load = async (): Promise<Open> => {
        if (open) return open;
        const [plan, nodes] = await sendTogether(
          () => deps.plans.of(tx, run),
          () => live.open(tx, run, stored),
        );
        return (open = { ...opened, plan, nodes, state: header, earlier: undefined });
      };
      return { before: header, give: (event) => give(load, run, event) };
    },
    /** The first event of an execution that the transaction creates. */
    begin(tx: Tx, { projectId, ...run }: Run & { readonly projectId: Uuid }, plan: Plan, started: Started): Begun {
      const state = deps.engine.initialState(plan);
      const nodes = live.create(run.id);
      const opened = { tx, run, projectId, revision: 0, recent: [], ...NO_WAKEUPS };
      const open: Open = { ...opened, plan, nodes, state, earlier: undefined };
      const taken = take(open, { kind: "started", ...started });
      if (!taken) throw new Error("a new execution does not start");
      const { changes, transition } = taken;
      const performAll = async (): Promise<State> => follow(open, await perform(deps, tx, run, taken.caused));
      return { state: open.state, nodes: changes, effects: transition.effects, perform: performAll };
    },
    /** An execution that begins later, with an event of its own. */
    queue(plan: Plan): Begun {
      const state = deps.engine.initialState(plan);
      return { state, nodes: [], effects: [], perform: async () => state };
    },
    forget: live.forget,
  };
}

const NO_WAKEUPS = { willWake: false, willWakeProject: false } as const;

function changesLists({ plan, state: before }: Open, state: State, changes: readonly NodeChange[]): boolean {
  if (state.status !== before.status || state.failure !== before.failure) return true;
  return changes.some(({ node, before: known }) => isInLists(plan, node.id) && !(known && isSameState(known, node)));
}

/** What is to be written of a transition: of an execution of an earlier format all nodes. */
function changesOf({ plan, nodes, earlier }: Open, changed: ReadonlyMap<InstanceId, NodeState>): NodeChange[] {
  const written = earlier ? new Map([...earlier, ...changed]) : changed;
  return [...written.values()].map((node) => ({
    node,
    before: earlier ? undefined : nodes.get(node.id),
    kind: kindOf(plan, node),
  }));
}

async function save(
  { tx, run, plan, nodes, state, revision, recent }: Open,
  { transition, changes, isShown }: Taken,
): Promise<void> {
  const deployments = deploymentsIn(plan, nodes.get, changes);
  await sendTogether(
    () =>
      saveTransition(tx, run, {
        ...{ state, revision, recent },
        nodes: changes,
        timers: timersOf(transition.effects),
        stageStates: isShown ? storedStates(state, nodes, plan) : undefined,
      }),
    () => saveDeployments(tx, run, deployments),
  );
}

/** Reads an execution of an earlier format. Throws Stuck for one that is damaged. */
async function upgraded(tx: Tx, run: RunKey, state: unknown): Promise<ReturnType<typeof upgrade>> {
  const found = await findPlan(tx, run);
  try {
    return upgrade({ plan: found?.plan, state });
  } catch (error) {
    return throwStuck(run, error);
  }
}
