-- 000011_pipeline_lists.sql · compatible: old servers read and run, and cannot create pipelines until they are replaced

-- A deleted pipeline stays, as its executions name it; its identifier is free again.
alter table pipelines add column deleted_at bigint;
alter table pipelines drop constraint pipelines_account_id_project_id_identifier_key;
create unique index pipelines_by_identifier on pipelines (account_id, project_id, identifier) where deleted_at is null;
-- Names of the stages, in order, of the newest version; null when an older server saved it.
alter table pipelines add column stage_names text[];
create index pipelines_by_name on pipelines (account_id, project_id, name, id) where deleted_at is null;
create index pipelines_by_update on pipelines (account_id, project_id, updated_at, id) where deleted_at is null;
