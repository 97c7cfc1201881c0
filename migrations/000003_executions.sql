-- 000003_executions.sql · compatible: new tables only

create table executions (
  account_id       uuid   not null,
  -- A UUIDv7: newest first is `order by id desc`.
  id               uuid   not null,
  project_id       uuid   not null,
  pipeline_id      uuid   not null,
  pipeline_version int    not null,
  run_sequence     int    not null,
  status           text   not null,
  -- engine/model.ts: Plan (never changes) and State (changed only by engine/step.ts). json, not jsonb:
  -- payloads may hold \u0000, and nothing is ever searched in them.
  plan             json   not null,
  state            json   not null,
  trigger_type     text   not null check (trigger_type in ('MANUAL', 'WEBHOOK_CUSTOM')),
  triggered_by     jsonb  not null,
  input_yaml       text,
  created_at       bigint not null,
  started_at       bigint,
  ended_at         bigint,
  primary key (account_id, id),
  unique (account_id, pipeline_id, run_sequence),
  foreign key (account_id, project_id) references projects (account_id, id),
  foreign key (account_id, pipeline_id, pipeline_version)
    references pipeline_versions (account_id, pipeline_id, version)
);
create index executions_by_pipeline on executions (account_id, pipeline_id, id desc);
create index executions_by_project on executions (account_id, project_id, id desc);
create index executions_by_version on executions (account_id, pipeline_id, pipeline_version);
create index executions_by_start on executions (account_id, started_at);

create table execution_sequences (
  account_id  uuid not null,
  pipeline_id uuid not null,
  last        int  not null,
  primary key (account_id, pipeline_id),
  foreign key (account_id, pipeline_id) references pipelines (account_id, id)
);

create table execution_timers (
  account_id   uuid   not null,
  execution_id uuid   not null,
  node_id      uuid   not null,
  attempt      int    not null,
  due_at       bigint not null,
  primary key (account_id, execution_id, node_id, attempt),
  foreign key (account_id, execution_id) references executions (account_id, id)
);
create index execution_timers_due on execution_timers (due_at);

-- Bytes per log: one row for the whole execution (stream_id = execution_id) and one for each node.
create table log_streams (
  account_id   uuid   not null,
  execution_id uuid   not null,
  stream_id    uuid   not null,
  bytes        bigint not null,
  primary key (account_id, execution_id, stream_id),
  foreign key (account_id, execution_id) references executions (account_id, id)
);

create table log_chunks (
  account_id    uuid   not null,
  execution_id  uuid   not null,
  -- Where the chunk begins in the log of the whole execution …
  position      bigint not null,
  node_id       uuid   not null,
  -- … and in the log of its node.
  node_position bigint not null,
  data          bytea  not null,
  primary key (account_id, execution_id, position),
  foreign key (account_id, execution_id) references executions (account_id, id)
);
create index log_chunks_by_node on log_chunks (account_id, execution_id, node_id, node_position);
