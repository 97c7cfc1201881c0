-- 000063_deployments.sql · compatible: what an older server deploys has no row

-- A stage that deploys a service to an environment. The row of the version that runs outlives its execution, so it refers
-- to none and has what is shown of it.
create table deployments (
  account_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  execution_id uuid not null,
  pipeline_id uuid not null,
  run_sequence integer not null,
  trigger_type text not null,
  triggered_by jsonb not null,
  service text not null,
  environment text not null,
  version text,
  commit_id text,
  committed_at bigint,
  status text not null,
  started_at bigint not null,
  ended_at bigint,
  primary key (account_id, id),
  foreign key (account_id, project_id) references projects (account_id, id),
  foreign key (account_id, pipeline_id) references pipelines (account_id, id)
);
create index deployments_by_target on deployments (account_id, project_id, environment, service, started_at, id);
create index deployments_by_environment on deployments (account_id, project_id, environment, started_at, id);
create index deployments_by_service on deployments (account_id, project_id, service, started_at, id);
create index deployments_by_execution on deployments (account_id, execution_id);
create index deployments_by_pipeline on deployments (account_id, pipeline_id);
-- The measures of a project read this index alone.
create index deployments_by_end on deployments (account_id, project_id, ended_at, id)
  include (environment, service, status, committed_at, pipeline_id) where ended_at is not null;

-- The statistics of a project read this index alone, a page of it for eighty executions.
drop index executions_by_project;
create index executions_by_project on executions (account_id, project_id, begun_at, id)
  include (pipeline_id, status, started_at, ended_at);
