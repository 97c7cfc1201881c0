-- 000051_execution_nodes.sql · compatible: no, an older server reads, starts and advances no execution until it is replaced; it damages none

-- The nodes of executions that were reached, one row for each instance; before, all of them were in one JSON that was rewritten with each
-- event. `iterations` and `outputs` may be large; `iterations` is written when it changes. The revision is that of the execution at the
-- last change; it has no index, so that an update changes no index and its old version is removed with the next one on the page.
create table execution_nodes (
  account_id    uuid not null,
  execution_id  uuid not null,
  id            uuid not null,
  definition_id uuid not null,
  parent_id     uuid,
  path          text not null,
  kind          text not null,
  status        text not null,
  reason        json,
  attempt       integer not null,
  started_at    bigint,
  ended_at      bigint,
  outputs       json not null,
  iterations    json,
  rest          json not null,
  revision      bigint not null,
  primary key (account_id, id),
  foreign key (account_id, execution_id) references executions (account_id, id)
) with (fillfactor = 70);
create index execution_nodes_by_execution on execution_nodes (account_id, execution_id);

-- Of format 1 the header is the whole state with its nodes. The column has another name than before, so that the statements of an older
-- server fail: it would take a header without nodes for a damaged state, and end the execution.
alter table executions rename column state to header;
alter table executions add column format integer not null default 1;
alter table executions add column revision bigint not null default 0;
-- The nodes of the latest revisions, so that another replica reads these alone.
alter table executions add column recent json;

-- A node has at most one timer for each purpose.
alter table execution_timers add column purpose text not null default 'timeout';
alter table execution_timers alter column purpose drop default;
alter table execution_timers drop constraint execution_timers_pkey;
alter table execution_timers drop column attempt;
alter table execution_timers add primary key (account_id, execution_id, node_id, purpose);

-- The number of the task that wrote the chunk, among those of its node.
alter table log_chunks add column task integer not null default 1;
