/**
 * What rollbacks owe, told from the events alone and not from what the engine notes: a stage or group is undone if steps
 * of it have run since it was last undone, and not twice.
 */
import type { Effect, InstanceId, NodeState, Plan } from "../model.ts";
import type { Execution } from "./plans.ts";

/** When steps of a stage or group were last begun, and when it was last undone. Numbers of events. */
type Past = {
  /** A task of it was enqueued. */
  worked: number;
  /** Any step of it has changed. */
  moved: number;
  undone: number;
};

/** A stage or group of all tries: its path without them. */
const TRIES = /@\d+/g;
const placeOf = ({ path }: NodeState): string => path.replaceAll(TRIES, "");

export class UndoWatch {
  readonly plan: Plan;
  private readonly past = new Map<string, Past>();
  private readonly undoing = new Set<InstanceId>();
  private event = 0;

  constructor(plan: Plan) {
    this.plan = plan;
  }

  /** Takes what earlier executions have run, in the order of its times. */
  reuse(nodes: ReadonlyMap<InstanceId, NodeState>): void {
    const steps = [...nodes.values()].filter((node) => this.kindOf(node) === "step" && node.attempts.length > 0);
    for (const step of steps.toSorted((a, b) => (a.attempts[0]?.startedAt ?? 0) - (b.attempts[0]?.startedAt ?? 0))) {
      this.event += 1;
      this.note(nodes, step, step.tasks > 0);
    }
    this.event += 1;
  }

  see(before: Execution, after: Execution, effects: readonly Effect[]): void {
    this.event += 1;
    const { nodes } = after;
    const changed = [...nodes.values()].filter((node) => before.nodes.get(node.id) !== node && !node.isReused);
    const worked = new Set(effects.flatMap((one) => (one.kind === "enqueueTask" ? [one.node] : [])));
    for (const node of changed)
      if (this.kindOf(node) === "step" && node.attempts.length > 0) this.note(nodes, node, worked.has(node.id));
    for (const node of changed) if (this.isRollback(node) && hasEnded(node)) this.undo(nodes, node);
    // Last: what undoes a stage may begin and end in one event.
    for (const node of changed) this.checkRollback(before.nodes.get(node.id), node, nodes);
  }

  private readonly kindOf = ({ definition }: NodeState): string | undefined => this.plan.nodes[definition]?.kind;

  private isRollback({ definition }: NodeState): boolean {
    const node = this.plan.nodes[definition];
    return node?.kind === "group" && node.role === "rollbackSteps";
  }

  /** Whether something undoes it. */
  private isUndoable({ definition }: NodeState): boolean {
    const node = this.plan.nodes[definition];
    return (node?.kind === "stage" || node?.kind === "group") && node.rollback !== undefined;
  }

  private pastOf(place: string): Past {
    const known = this.past.get(place) ?? { worked: -1, moved: -1, undone: -1 };
    this.past.set(place, known);
    return known;
  }

  /** A step has changed, or has begun a task: so has all that is around it, but what it undoes. */
  private note(nodes: ReadonlyMap<InstanceId, NodeState>, step: NodeState, hasWorked: boolean): void {
    let undone: string | undefined;
    for (let at: NodeState | undefined = step; at; at = at.parent === null ? undefined : nodes.get(at.parent)) {
      if (this.isRollback(at)) {
        undone = this.undoneBy(nodes, at);
        if (hasWorked && !this.undoing.has(at.id)) {
          this.checkTwice(nodes, at);
          this.undo(nodes, at);
        }
        continue;
      }
      const place = placeOf(at);
      if (!this.isUndoable(at) || place === undone) continue;
      const past = this.pastOf(place);
      past.moved = this.event;
      if (hasWorked) past.worked = this.event;
    }
  }

  /** The place of what rollback steps undo. */
  private undoneBy(nodes: ReadonlyMap<InstanceId, NodeState>, steps: NodeState): string {
    const label = /\/rollbackSteps\((.*)\)(?:\[\d+\])?$/.exec(steps.path)?.[1];
    const parent = nodes.get(steps.parent ?? "");
    if (!parent) throw new Error(`${steps.path} has no parent`);
    return label === undefined ? placeOf(parent) : label.replaceAll(TRIES, "");
  }

  private undo(nodes: ReadonlyMap<InstanceId, NodeState>, steps: NodeState): void {
    this.undoing.add(steps.id);
    this.pastOf(this.undoneBy(nodes, steps)).undone = this.event;
  }

  private checkTwice(nodes: ReadonlyMap<InstanceId, NodeState>, steps: NodeState): void {
    const place = this.undoneBy(nodes, steps);
    const undone = this.lastUndone(place);
    const { moved } = this.pastOf(place);
    holds(moved >= 0, `${place} is undone, and nothing of it has run: ${steps.path}`);
    holds(moved >= undone, `${place} is undone twice: ${steps.path}`);
  }

  /** When it, or what is around it, was last undone. */
  private lastUndone(place: string): number {
    const all = [...this.past].filter(([other]) => place === other || place.startsWith(`${other}/`));
    return all.reduce((last, [, { undone }]) => Math.max(last, undone), -1);
  }

  private checkRollback(
    before: NodeState | undefined,
    node: NodeState,
    nodes: ReadonlyMap<InstanceId, NodeState>,
  ): void {
    if (node.progress?.phase === "rollback" && before?.progress?.phase !== "rollback") this.checkListed(node, nodes);
    const isOver = node.endedAt !== null && before?.endedAt === null && before.stopping === null;
    if (isOver && node.status === "failed" && node.progress?.phase === "main" && asksToUndo(node))
      holds(!this.isDue(node), `${node.path} is not undone`);
  }

  /** A pipeline undoes all stages below it that are due. */
  private checkListed({ path, progress }: NodeState, nodes: ReadonlyMap<InstanceId, NodeState>): void {
    if (!progress?.undo) return;
    const listed = new Set(progress.undo.map((id) => nodes.get(id)?.path.replaceAll(TRIES, "")));
    for (const stage of nodes.values())
      if (this.kindOf(stage) === "stage" && placeOf(stage).startsWith(`${path.replaceAll(TRIES, "")}/`))
        holds(listed.has(placeOf(stage)) || !this.isDue(stage), `${stage.path} is not undone by ${path}`);
  }

  private isDue(node: NodeState): boolean {
    const place = placeOf(node);
    const worked = this.past.get(place)?.worked ?? -1;
    // A task that this event has begun has not ended: it is one of a try that follows the rollback.
    return this.isUndoable(node) && worked > this.lastUndone(place) && worked < this.event;
  }
}

/** Rollback steps that were stopped have undone what they have begun to undo; `note` sees that. */
const hasEnded = ({ status, endedAt }: NodeState): boolean =>
  endedAt !== null && status !== "aborted" && status !== "expired";

/** A failure below asks the node to undo itself. */
function asksToUndo({ id, progress }: NodeState): boolean {
  const recovery = progress?.failed?.recovery;
  if (recovery?.target !== id) return false;
  return recovery.action.type === "StageRollback" || recovery.action.type === "StepGroupRollback";
}

function holds(isTrue: boolean, message: string): void {
  if (!isTrue) throw new Error(message);
}
