/**
 * Stores executions in large numbers: copies of real runs (one that succeeded, one that failed), spread evenly over
 * time and unevenly over 200 pipelines in 20 applications. Indexes are dropped during the load and created again
 * afterwards, because the load is not measured.
 */
import { randomBytes } from "node:crypto";
import type { Client } from "pg";
import { copyIn, field } from "./copy.ts";

const PIPELINES = 200;
const APPLICATIONS = 20;
/** Executions per day; the number of days follows from it. */
const EXECUTIONS_PER_DAY = 5_000;
const DAY_MS = 86_400_000;

type Template = {
  readonly accountId: string;
  readonly status: string;
  readonly plan: string;
  readonly state: string;
  readonly triggerType: string;
  readonly triggeredBy: string;
  readonly startedBy: string | null;
  readonly tags: string;
  readonly failure: string | null;
  readonly durationMs: number;
};

type Place = { readonly projectId: string; readonly pipelineId: string };

export type Stored = {
  readonly accountId: string;
  /** The pipeline with the most executions. */
  readonly pipelineId: string;
  /** Stores executions until there are `count`. Rows that are stored later are older. */
  readonly fill: (count: number, signal: AbortSignal) => Promise<void>;
};

/** Copies the first pipeline and its project, and returns the means to store executions of the copies. */
export async function prepareStored(client: Client): Promise<Stored> {
  const templates = (await client.query(TEMPLATES)).rows as Template[];
  const places = await copyPlaces(client);
  const accountId = templates[0]?.accountId ?? "";
  const now = Date.now();
  const sequences = new Map<string, number>();
  let stored = 0;
  return {
    accountId,
    pipelineId: places[0]?.pipelineId ?? "",
    fill: async (count, signal) => {
      if (stored === 0) await client.query("truncate execution_marks, execution_timers, executions cascade");
      await withoutIndexes(client, async () => {
        while (stored < count) {
          signal.throwIfAborted();
          const upTo = Math.min(count, stored + 100_000);
          const ids: string[] = [];
          await copyIn(
            client,
            COPY_EXECUTIONS,
            executions(templates, places, now, { from: stored, upTo, ids, sequences }),
          );
          await copyIn(client, COPY_MARKS, marks(accountId, ids));
          stored = upTo;
        }
      });
      for (const table of ["executions", "execution_marks", "pipelines", "projects"])
        await client.query(`vacuum (analyze, freeze) ${table}`);
      await client.query("checkpoint").catch(() => undefined);
    },
  };
}

const TEMPLATES = `select account_id as "accountId", status, plan::text, header::text as state, trigger_type as "triggerType",
    triggered_by::text as "triggeredBy", started_by as "startedBy", tags::text, failure, (ended_at - started_at)::int as "durationMs"
  from executions where ended_at is not null order by status = 'succeeded' desc`;

const COPY_EXECUTIONS = `copy executions (account_id, id, project_id, pipeline_id, pipeline_version, run_sequence, status, plan,
  header, trigger_type, triggered_by, created_at, started_at, ended_at, started_by, tags, failure, format) from stdin`;
const COPY_MARKS = "copy execution_marks (account_id, kind, name, value, execution_id) from stdin";

async function copyPlaces(client: Client): Promise<readonly Place[]> {
  const places: Place[] = [];
  for (let n = 0; n < PIPELINES; n += 1) {
    const project = n % APPLICATIONS;
    const [projectId, pipelineId] = [uuidAt(Date.now()), uuidAt(Date.now())];
    if (n === project) await copyRow(client, "projects", { id: projectId, identifier: `p${n}`, name: `Project ${n}` });
    const ofProject = places[project]?.projectId ?? projectId;
    await copyRow(client, "pipelines", {
      id: pipelineId,
      project_id: ofProject,
      identifier: `l${n}`,
      name: `Pipeline ${n}`,
    });
    await copyRow(client, "pipeline_versions", { pipeline_id: pipelineId });
    places[n] = { projectId: ofProject, pipelineId };
  }
  return places;
}

/** Inserts a copy of the table's first row with these columns changed. */
async function copyRow(client: Client, table: string, changes: Readonly<Record<string, string>>): Promise<void> {
  await client.query(
    `insert into ${table} select (jsonb_populate_record(null::${table}, to_jsonb(t) || $1)).* from (select * from ${table} limit 1) t`,
    [JSON.stringify(changes)],
  );
}

type Part = {
  readonly from: number;
  readonly upTo: number;
  /** Receives the ids of the rows. */
  readonly ids: string[];
  readonly sequences: Map<string, number>;
};

function* executions(
  templates: readonly Template[],
  places: readonly Place[],
  now: number,
  part: Part,
): Iterable<string> {
  const rows = templates.map(
    (t) =>
      [
        t,
        [t.plan, t.state, t.triggerType, t.triggeredBy].map(field).join("\t"),
        [t.startedBy, t.tags, t.failure, "2"].map(field).join("\t"),
      ] as const,
  );
  for (let n = part.from; n < part.upTo; n += 1) {
    // One in twenty executions did not succeed.
    const [template, middle, end] =
      rows[n % 20 === 19 ? 1 + (Math.floor(n / 20) % (rows.length - 1)) : 0] ?? rows[0] ?? [];
    // Multiples of the golden ratio are even over 0 to 1; the cube favours the first pipelines.
    const place = places[Math.floor(((n * 0.6180339887) % 1) ** 3 * PIPELINES)];
    if (!template || !place) throw new Error("no execution has ended that could be copied");
    const at = now - Math.round((n * DAY_MS) / EXECUTIONS_PER_DAY) - 60_000;
    const id = uuidAt(at);
    part.ids.push(id);
    const sequence = (part.sequences.get(place.pipelineId) ?? 0) + 1;
    part.sequences.set(place.pipelineId, sequence);
    const start = [template.accountId, id, place.projectId, place.pipelineId, 1, sequence, template.status].join("\t");
    yield `${start}\t${middle}\t${at}\t${at}\t${at + template.durationMs}\t${end}\n`;
  }
}

function* marks(accountId: string, ids: readonly string[]): Iterable<string> {
  for (const id of ids) {
    yield `${accountId}\tservice\tbench\t\t${id}\n`;
    yield `${accountId}\tenvironment\tbench\t\t${id}\n`;
  }
}

function uuidAt(ms: number): string {
  const hex = ms.toString(16).padStart(12, "0") + randomBytes(10).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
}

/** Drops foreign keys and indexes of the two tables, runs `work`, and creates them again. */
async function withoutIndexes(client: Client, work: () => Promise<void>): Promise<void> {
  const tables = "('executions'::regclass, 'execution_marks'::regclass)";
  const constraints = (
    await client.query(
      `select conrelid::regclass::text as t, conname as name, pg_get_constraintdef(oid) as def, contype = 'f' as "isForeign"
       from pg_constraint where contype in ('f', 'u', 'p') and (conrelid in ${tables} or confrelid in ${tables})
      order by contype = 'f' desc`,
    )
  ).rows as { t: string; name: string; def: string }[];
  const indexes = (
    await client.query(
      `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as def from pg_index i
      where indrelid in ${tables} and not exists (select from pg_constraint where conindid = indexrelid and contype in ('u', 'p'))`,
    )
  ).rows as { name: string; def: string }[];
  for (const { t, name } of constraints) await client.query(`alter table ${t} drop constraint ${name}`);
  for (const { name } of indexes) await client.query(`drop index ${name}`);
  await work();
  await client.query("set maintenance_work_mem = '256MB'");
  for (const { def } of indexes) await client.query(def);
  for (const { t, name, def } of constraints.toReversed())
    await client.query(`alter table ${t} add constraint ${name} ${def}`);
}
