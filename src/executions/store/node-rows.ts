/** Parts of statements that read and write nodes. */
export const NODE_COLUMNS = `n.id, n.definition_id as definition, n.parent_id as parent, n.path, n.status, n.reason,
  n.started_at as "startedAt", n.ended_at as "endedAt", n.outputs, n.iterations, n.rest`;

/** The rows of the execution `e` that meet a condition on `n` as one value of JSON. */
export const nodesAsJson = (condition: string): string =>
  `(select json_agg(json_build_object('id', n.id, 'definition', n.definition_id, 'parent', n.parent_id, 'path', n.path,
      'status', n.status, 'reason', n.reason, 'startedAt', n.started_at, 'endedAt', n.ended_at, 'outputs', n.outputs,
      'iterations', n.iterations, 'rest', n.rest))
      from execution_nodes n where n.account_id = e.account_id and n.execution_id = e.id and ${condition})`;

export const NODES_AS_JSON = nodesAsJson("true");

/** `$nodes` and `$revision` stand for parameters; `$1` and `$2` are account and execution. */
export const upsertNodes = ($nodes: string, $revision: string): string =>
  `insert into execution_nodes as n (account_id, execution_id, id, definition_id, parent_id, path, kind, status, reason, attempt,
                                started_at, ended_at, outputs, iterations, rest, revision)
   select $1, $2, s.id, s.definition_id, s.parent_id, s.path, s.kind, s.status, s.reason::json, s.attempt,
          s.started_at, s.ended_at, s.outputs::json, s.iterations::json, s.rest::json, ${$revision}
     from json_to_recordset(${$nodes}::json) as s (id uuid, definition_id uuid, parent_id uuid, path text, kind text, status text,
          reason text, attempt int, started_at bigint, ended_at bigint, outputs text, iterations text, rest text)
   on conflict (account_id, id) do update set status = excluded.status, reason = excluded.reason, attempt = excluded.attempt,
     started_at = excluded.started_at, ended_at = excluded.ended_at, outputs = excluded.outputs,
     iterations = coalesce(excluded.iterations, n.iterations), rest = excluded.rest, revision = excluded.revision`;
