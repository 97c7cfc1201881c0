-- 000037_principals.sql · compatible: no, a server of the former version still writes the permission snapshots

-- Executions act for principals, whose permissions are read when they are needed: no snapshot of them is stored.
alter table triggers drop column authority;
alter table pipeline_versions drop column authority;
alter table input_sets drop column authority, drop column authority_version, drop column secrets;

-- Who saved each document, or adopted it since. Null where that is unknown: a trigger does not run such a document.
alter table triggers add column author_kind text, add column author_id uuid,
  -- The service account that a trigger runs as instead of its author.
  add column run_as uuid;
alter table pipeline_versions add column author_kind text, add column author_id uuid;
alter table input_sets add column author_kind text, add column author_id uuid;

update pipeline_versions v set author_kind = 'user', author_id = v.created_by
  from users u where u.account_id = v.account_id and u.id = v.created_by;
update pipeline_versions v set author_kind = 'service_account', author_id = v.created_by
  from service_accounts s where s.account_id = v.account_id and s.id = v.created_by;
-- Of a set that was changed since, only its creator is known.
update input_sets i set author_kind = 'user', author_id = i.created_by
  from users u where u.account_id = i.account_id and u.id = i.created_by and i.version = 1;
update input_sets i set author_kind = 'service_account', author_id = i.created_by
  from service_accounts s where s.account_id = i.account_id and s.id = i.created_by and i.version = 1;

-- For the lists of what a person or a service account owns.
create index triggers_by_author on triggers (account_id, author_id) where deleted_at is null;
create index triggers_by_run_as on triggers (account_id, run_as) where deleted_at is null and run_as is not null;
create index pipeline_versions_by_author on pipeline_versions (account_id, author_id);
create index input_sets_by_author on input_sets (account_id, author_id);

-- src/pipelines/principal.ts: Principal[]. Empty for executions that ended before this migration.
alter table executions add column principals jsonb not null default '[]';

update executions e set principals = jsonb_build_array(jsonb_build_object(
         'author', jsonb_build_object('kind', 'user', 'id', e.started_by), 'authored', '{"type": "execution"}'::jsonb))
  from users u
 where u.account_id = e.account_id and u.id = e.started_by and e.trigger_type = 'MANUAL' and e.ended_at is null;
update executions e set principals = jsonb_build_array(jsonb_build_object(
         'author', jsonb_build_object('kind', 'service_account', 'id', e.started_by),
         'authored', '{"type": "execution"}'::jsonb))
  from service_accounts s
 where s.account_id = e.account_id and s.id = e.started_by and e.trigger_type = 'MANUAL' and e.ended_at is null;
-- The owners of triggers are not known yet: what they have started goes on for the author of its pipeline alone.
update executions e set principals = jsonb_build_array(jsonb_build_object(
         'author', case when v.author_id is null then 'null'::jsonb
                        else jsonb_build_object('kind', v.author_kind, 'id', v.author_id) end,
         'authored', jsonb_build_object('type', 'pipeline', 'identifier', p.identifier, 'version', v.version)))
  from pipeline_versions v
  join pipelines p on p.account_id = v.account_id and p.id = v.pipeline_id
 where v.account_id = e.account_id and v.pipeline_id = e.pipeline_id and v.version = e.pipeline_version
   and e.trigger_type <> 'MANUAL' and e.ended_at is null;
