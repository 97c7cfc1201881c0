-- 000048_execution_mark_sets.sql · compatible: a run that an older server starts has no set until a list completes it

-- The services and environments of a project's runs, once for each combination: many runs have one set. A list looks for the sets that
-- its filters match, and then for runs with one of them. The id is a hash of the content.
create table execution_mark_sets (
  account_id   uuid not null references accounts (id),
  project_id   uuid not null,
  id           uuid not null,
  services     text[] not null,
  environments text[] not null,
  primary key (account_id, project_id, id),
  foreign key (account_id, project_id) references projects (account_id, id) on delete cascade
);
-- Filters compare these indexes, not the arrays. Without `fastupdate` a search never reads a list of pending entries.
create index execution_mark_sets_by_service on execution_mark_sets using gin (services) with (fastupdate = off);
create index execution_mark_sets_by_environment on execution_mark_sets using gin (environments) with (fastupdate = off);
alter table executions add column mark_set_id uuid;

create temporary table found on commit drop as
  select e.account_id, e.project_id, e.id as execution_id,
         coalesce(array_agg(m.name) filter (where m.kind = 'service'), '{}') as services,
         coalesce(array_agg(m.name) filter (where m.kind = 'environment'), '{}') as environments
    from executions e left join execution_marks m on m.account_id = e.account_id and m.execution_id = e.id
   group by e.account_id, e.project_id, e.id;
insert into execution_mark_sets (account_id, project_id, id, services, environments)
  select distinct account_id, project_id, md5(services::text || environments::text)::uuid, services, environments from found;
update executions e set mark_set_id = md5(f.services::text || f.environments::text)::uuid
  from found f where f.account_id = e.account_id and f.execution_id = e.id;

-- With all columns that filters compare: a filter that matches little reads this index and no execution.
drop index executions_by_begin;
create index executions_by_begin on executions (account_id, begun_at, id)
  include (project_id, pipeline_id, status, trigger_type, started_by, created_at, started_at, ended_at, mark_set_id);
create index executions_by_marks on executions (account_id, mark_set_id, begun_at, id);
drop index executions_by_starter;
create index executions_by_starter on executions (account_id, started_by, begun_at, id) include (trigger_type);
