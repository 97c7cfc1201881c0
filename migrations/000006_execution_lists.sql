-- 000006_execution_lists.sql · compatible: what older servers do not write has a default, and the old order still works

-- Newest first means by this moment: the start, and until then the creation. Filters on the start and cursors
-- of lists are ranges of the same index that gives the order.
alter table executions add begun_at bigint not null generated always as (coalesce(started_at, created_at)) stored;
-- The person, or the trigger, that started it; null for the system.
alter table executions add started_by uuid;
alter table executions add notes text;
-- The pipeline's tags when the run began.
alter table executions add tags jsonb not null default '{}';
-- The failure's message, once it has failed. The state has it too, but would have to be read whole.
alter table executions add failure text;
-- What this run repeats: executions/execution.ts, RerunInfo; null for the others.
alter table executions add rerun_info jsonb;

update executions e set started_by = u.id from users u
 where e.trigger_type = 'MANUAL' and u.account_id = e.account_id
   and e.triggered_by ->> 'uuid' = rtrim(translate(encode(uuid_send(u.id), 'base64'), '+/', '-_'), '=');
update executions e set started_by = d.trigger_id from webhook_deliveries d
 where d.account_id = e.account_id and d.execution_id = e.id;

drop index executions_by_pipeline;
drop index executions_by_project;
drop index executions_by_start;
-- by_pipeline begins with the same columns, and versions of a pipeline are deleted rarely.
drop index executions_by_version;
create index executions_by_begin on executions (account_id, begun_at, id);
create index executions_by_pipeline on executions (account_id, pipeline_id, begun_at, id);
create index executions_by_project on executions (account_id, project_id, begun_at, id);
create index executions_by_status on executions (account_id, status, begun_at, id);
create index executions_by_starter on executions (account_id, started_by, begun_at, id);
create index executions_by_end on executions (account_id, ended_at);

-- Services, environments and tags of a run: what lists can be filtered by. Written with the run, never changed.
create table execution_marks (
  account_id   uuid not null,
  kind         text not null check (kind in ('service', 'environment', 'tag')),
  -- The reference as in pipelines (`web`, `org.web`, `account.web`), or the tag's name.
  name         text not null,
  -- The tag's value; empty for the others.
  value        text not null,
  execution_id uuid not null,
  primary key (account_id, kind, name, value, execution_id),
  foreign key (account_id, execution_id) references executions (account_id, id)
);
create index execution_marks_by_execution on execution_marks (account_id, execution_id);
