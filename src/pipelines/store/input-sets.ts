/** Input sets and overlays of a pipeline that is there; whoever asks has found it. */
import type { RemovedReference } from "../../platform/removed-reference.ts";
import { summarizeRemoval } from "../../platform/db/removed-rows.ts";
import type { Listed } from "../../access/index.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Query } from "../../platform/db/db.ts";
import { readAuthor, type AuthorColumns } from "../../identity/index.ts";
import type { InputSet, InputSetWithYaml, Kind } from "../input-sets/input-set.ts";

type Store = { readonly query: Query };

const KIND = `case when s.overlays is null then 'INPUT_SET' else 'OVERLAY_INPUT_SET' end`;

const INPUT_SET = `s.id, s.project_id as "projectId", s.pipeline_id as "pipelineId", ${KIND} as kind, s.identifier, s.name,
  s.description, s.tags, coalesce(s.overlays, '{}') as "references", s.version, s.created_by as "createdBy",
  s.created_at as "createdAt", s.updated_at as "updatedAt"`;

const WITH_YAML = `${INPUT_SET}, s.yaml, s.author_kind as "authorKind", s.author_id as "authorId"`;

type Row = Omit<InputSetWithYaml, "author"> & AuthorColumns;

const read = ({ authorKind, authorId, ...row }: Row): InputSetWithYaml => ({
  ...row,
  author: readAuthor({ authorKind, authorId }),
});

const overlaysOf = ({ kind, references }: Pick<InputSet, "kind" | "references">): readonly string[] | null =>
  kind === "OVERLAY_INPUT_SET" ? references : null;

/** False when the identifier is taken in the pipeline, by an input set or an overlay. */
export async function insertInputSet(db: Store, accountId: Uuid, set: InputSetWithYaml): Promise<boolean> {
  const rows = await db.query(
    `insert into input_sets (account_id, id, project_id, pipeline_id, identifier, name, description, tags, yaml,
                             overlays, author_kind, author_id, version, created_by, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
     on conflict (account_id, pipeline_id, identifier) do nothing returning id`,
    [
      accountId,
      set.id,
      set.projectId,
      set.pipelineId,
      set.identifier,
      set.name,
      set.description,
      JSON.stringify(set.tags),
      set.yaml,
      overlaysOf(set),
      set.author?.kind ?? null,
      set.author?.id ?? null,
      set.version,
      set.createdBy,
      set.createdAt,
      set.updatedAt,
    ],
  );
  return rows.length > 0;
}

export type SetKey = { readonly pipelineId: Uuid; readonly identifier: string };
type Replacement = Pick<
  InputSetWithYaml,
  "kind" | "name" | "description" | "tags" | "references" | "yaml" | "author"
> & {
  readonly updatedAt: number;
};

/** The set as it is now; undefined when there is none of its kind, or not at `version`. */
export async function replaceInputSet(
  db: Store,
  accountId: Uuid,
  key: SetKey,
  to: Replacement,
  version: number | undefined,
): Promise<InputSetWithYaml | undefined> {
  const rows = await db.query<Row>(
    `update input_sets s
        set name = $4, description = $5, tags = $6, yaml = $7, overlays = $8, updated_at = $9,
            author_kind = $12, author_id = $13, version = version + 1
      where account_id = $1 and pipeline_id = $2 and identifier = $3 and ${KIND} = $10
        and ($11::int is null or version = $11)
      returning ${WITH_YAML}`,
    [
      accountId,
      key.pipelineId,
      key.identifier,
      to.name,
      to.description,
      JSON.stringify(to.tags),
      to.yaml,
      overlaysOf(to),
      to.updatedAt,
      to.kind,
      version ?? null,
      to.author?.kind ?? null,
      to.author?.id ?? null,
    ],
  );
  return rows.map(read)[0];
}

/** False when there is no such set, of either kind, or not at `version`. */
export async function deleteInputSet(
  db: Store,
  accountId: Uuid,
  key: SetKey,
  version: number | undefined,
): Promise<boolean> {
  const rows = await db.query(
    `delete from input_sets where account_id = $1 and pipeline_id = $2 and identifier = $3
        and ($4::int is null or version = $4) returning id`,
    [accountId, key.pipelineId, key.identifier, version ?? null],
  );
  return rows.length > 0;
}

const OTHER = `select from input_sets o join pipelines p on p.account_id = o.account_id and p.id = o.pipeline_id
   where o.account_id = $1 and o.project_id = $2 and o.pipeline_id <> $3 and p.deleted_at is null`;

/** Of two that take a name away at once the second one sees what the first has done. */
const lockNames = async (db: Store, projectId: Uuid): Promise<void> => {
  const text = `select pg_advisory_xact_lock(hashtextextended('railhead.input_set_names ' || $1::text, 0))`;
  await db.query(text, [projectId]);
};

type OfProject = { readonly projectId: Uuid; readonly pipelineId: Uuid };

/** Whether an input set of another pipeline of the project, which is there, has this identifier. */
export async function isNameOfAnother(
  db: Store,
  accountId: Uuid,
  { projectId, pipelineId, identifier }: OfProject & SetKey,
): Promise<boolean> {
  await lockNames(db, projectId);
  const rows = await db.query(`${OTHER} and o.identifier = $4 limit 1`, [accountId, projectId, pipelineId, identifier]);
  return rows.length > 0;
}

/** The identifiers of input sets that no other pipeline of the project, of those that are there, has as well. */
export async function findNamesOnlyOf(db: Store, accountId: Uuid, of: OfProject): Promise<readonly string[]> {
  await lockNames(db, of.projectId);
  const rows = await db.query<{ identifier: string }>(
    `select s.identifier from input_sets s
      where s.account_id = $1 and s.project_id = $2 and s.pipeline_id = $3
        and not exists (${OTHER} and o.identifier = s.identifier)`,
    [accountId, of.projectId, of.pipelineId],
  );
  return rows.map(({ identifier }) => identifier);
}

/** With `hold` nobody else changes it until the transaction ends. */
export async function findInputSet(
  db: Store,
  accountId: Uuid,
  key: SetKey,
  kind: Kind | undefined,
  hold?: "hold",
): Promise<InputSetWithYaml | undefined> {
  const rows = await db.query<Row>(
    `select ${WITH_YAML} from input_sets s
      where account_id = $1 and pipeline_id = $2 and identifier = $3 and ($4::text is null or ${KIND} = $4)
      ${hold ? "for no key update" : ""}`,
    [accountId, key.pipelineId, key.identifier, kind ?? null],
  );
  return rows.map(read)[0];
}

/** Which of these are input sets of the pipeline. They cannot go until the transaction has ended. */
export async function lockInputSets(
  db: Store,
  accountId: Uuid,
  pipelineId: Uuid,
  identifiers: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await db.query<{ identifier: string }>(
    `select identifier from input_sets
      where account_id = $1 and pipeline_id = $2 and identifier = any ($3) and overlays is null
      order by identifier for key share`,
    [accountId, pipelineId, identifiers],
  );
  return new Set(rows.map(({ identifier }) => identifier));
}

/** An overlay that lists the input set, the first by its identifier. */
export async function findOverlayOf(db: Store, accountId: Uuid, key: SetKey): Promise<string | undefined> {
  const rows = await db.query<{ identifier: string }>(
    `select identifier from input_sets where account_id = $1 and pipeline_id = $2 and $3 = any (overlays)
      order by identifier limit 1`,
    [accountId, key.pipelineId, key.identifier],
  );
  return rows[0]?.identifier;
}

export type SetFilter = {
  readonly kind?: Kind | undefined;
  /** A part of the name or of the identifier, in any case. */
  readonly searchTerm?: string | undefined;
  readonly shown?: Listed;
};

const WHERE = `s.account_id = $1 and s.pipeline_id = $2 and ($3::text is null or ${KIND} = $3)
  and ($4::text is null or strpos(lower(s.name), lower($4)) > 0 or strpos(lower(s.identifier), lower($4)) > 0)
  and ($5::text[] is null or s.identifier = any ($5))`;

const valuesOf = (accountId: Uuid, pipelineId: Uuid, { kind, searchTerm, shown }: SetFilter): unknown[] => [
  accountId,
  pipelineId,
  kind ?? null,
  searchTerm ?? null,
  shown ?? null,
];

/** By identifier. */
export const listInputSets = (
  db: Store,
  accountId: Uuid,
  pipelineId: Uuid,
  filter: SetFilter,
  page: { readonly limit: number; readonly offset: number },
): Promise<InputSet[]> =>
  db.query<InputSet>(`select ${INPUT_SET} from input_sets s where ${WHERE} order by s.identifier limit $6 offset $7`, [
    ...valuesOf(accountId, pipelineId, filter),
    page.limit,
    page.offset,
  ]);

export async function countInputSets(db: Store, accountId: Uuid, pipelineId: Uuid, filter: SetFilter): Promise<number> {
  const rows = await db.query<{ total: number }>(
    `select count(*) as total from input_sets s where ${WHERE}`,
    valuesOf(accountId, pipelineId, filter),
  );
  return rows[0]?.total ?? 0;
}

/** What is named, at most `limit` of it by identifier, and what the overlays among it list: one picture of one moment. */
export async function findNamed(
  db: Store,
  accountId: Uuid,
  pipelineId: Uuid,
  identifiers: readonly string[],
  limit: number,
): Promise<readonly InputSetWithYaml[]> {
  const rows = await db.query<Row>(
    `select ${WITH_YAML} from input_sets s
      where s.account_id = $1 and s.pipeline_id = $2
        and (s.identifier = any ($3) or s.identifier in (
          select unnest(o.overlays) from input_sets o
           where o.account_id = $1 and o.pipeline_id = $2 and o.identifier = any ($3)))
      order by s.identifier limit $4`,
    [accountId, pipelineId, identifiers, limit],
  );
  return rows.map(read);
}

/** Bytes of the documents of these sets, and of those that the overlays among them list. */
export async function sizeOfSets(
  db: Store,
  accountId: Uuid,
  pipelineId: Uuid,
  identifiers: readonly string[],
): Promise<number> {
  const rows = await db.query<{ bytes: number }>(
    `select coalesce(sum(octet_length(s.yaml)), 0)::int as bytes from input_sets s
      where s.account_id = $1 and s.pipeline_id = $2
        and (s.identifier = any ($3) or s.identifier in (
          select unnest(o.overlays) from input_sets o
           where o.account_id = $1 and o.pipeline_id = $2 and o.identifier = any ($3)))`,
    [accountId, pipelineId, identifiers],
  );
  return rows[0]?.bytes ?? 0;
}

export type SetVersion = Pick<InputSet, "id" | "identifier" | "version">;

/** The input sets that these overlays list. */
export const findListed = (
  db: Store,
  accountId: Uuid,
  pipelineId: Uuid,
  identifiers: readonly string[],
): Promise<SetVersion[]> =>
  db.query<SetVersion>(
    `select id, identifier, version from input_sets
      where account_id = $1 and pipeline_id = $2 and identifier = any ($3) and overlays is null`,
    [accountId, pipelineId, identifiers],
  );

/** The documents of these sets, those of them that are there still at their version. */
export const findDocuments = (
  db: Store,
  accountId: Uuid,
  sets: readonly SetVersion[],
): Promise<Pick<InputSetWithYaml, "id" | "yaml">[]> =>
  db.query(
    `select s.id, s.yaml from input_sets s
       join unnest($2::uuid[], $3::int[]) as wanted (id, version) on wanted.id = s.id and wanted.version = s.version
      where s.account_id = $1`,
    [accountId, sets.map(({ id }) => id), sets.map(({ version }) => version)],
  );

/** All input sets of a project. */
export const deleteInputSetsOf = (db: Store, accountId: Uuid, projectId: Uuid): Promise<readonly RemovedReference[]> =>
  summarizeRemoval(db, {
    type: "INPUT_SET",
    text: "delete from input_sets where account_id = $1 and project_id = $2 returning identifier as what",
    values: [accountId, projectId],
  });
