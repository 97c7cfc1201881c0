-- The schema after all migrations. Written by `npm run db -- schema`; do not edit.

CREATE OR REPLACE FUNCTION public.audit_is_kept()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op <> 'UPDATE' and current_setting('railhead.audit_retention', true) = 'on' then
    return old;
  end if;
  raise exception 'the audit trail is not changed' using errcode = 'restrict_violation';
end $function$
;

create table accounts (
  id uuid not null,
  name text not null,
  key_check bytea not null,
  created_at bigint not null,
  root_key_id text default ''::text not null,
  constraint accounts_pkey PRIMARY KEY (id)
);

create table api_keys (
  account_id uuid not null,
  id uuid not null,
  user_id uuid,
  service_account_id uuid,
  parent_id uuid generated always as (COALESCE(user_id, service_account_id)) stored not null,
  identifier text not null,
  name text not null,
  description text not null,
  tags jsonb not null,
  default_expire_ms bigint,
  created_at bigint not null,
  updated_at bigint not null,
  constraint api_keys_pkey PRIMARY KEY (account_id, id),
  constraint api_keys_account_id_parent_id_identifier_key UNIQUE (account_id, parent_id, identifier),
  constraint api_keys_check CHECK (((user_id IS NULL) <> (service_account_id IS NULL)))
);
CREATE INDEX api_keys_by_service_account ON public.api_keys USING btree (account_id, service_account_id) WHERE (service_account_id IS NOT NULL);
CREATE INDEX api_keys_by_user ON public.api_keys USING btree (account_id, user_id) WHERE (user_id IS NOT NULL);

create table approval_instances (
  account_id uuid not null,
  id uuid not null,
  execution_id uuid not null,
  node_id uuid not null,
  status text not null,
  request json not null,
  activities json not null,
  actors uuid[] not null,
  error text,
  created_at bigint not null,
  updated_at bigint not null,
  constraint approval_instances_pkey PRIMARY KEY (account_id, id)
);
CREATE INDEX approval_instances_by_execution ON public.approval_instances USING btree (account_id, execution_id, id);
CREATE UNIQUE INDEX approval_instances_waiting ON public.approval_instances USING btree (account_id, execution_id, node_id) WHERE (status = 'WAITING'::text);

create table audit_chains (
  account_id uuid not null,
  sequence bigint not null,
  hash bytea not null,
  cut_sequence bigint default 0 not null,
  cut_hash bytea not null,
  constraint audit_chains_pkey PRIMARY KEY (account_id)
);

create table audit_entries (
  account_id uuid not null,
  id uuid not null,
  at bigint not null,
  actor_kind text not null,
  actor_id uuid,
  actor_name text not null,
  operation text not null,
  resource_type text not null,
  resource_id text not null,
  org_identifier text,
  project_identifier text,
  actor_email text,
  request_method text,
  request_path text,
  remote_address text,
  correlation_id text,
  difference json,
  outcome text default 'success'::text not null,
  code text,
  status integer,
  permission text,
  attempts integer default 1 not null,
  xid xid8 default pg_current_xact_id() not null,
  constraint audit_entries_pkey PRIMARY KEY (account_id, id)
);
CREATE INDEX audit_entries_in_order ON public.audit_entries USING btree (xid, id);
CREATE INDEX audit_entries_newest ON public.audit_entries USING btree (account_id, at DESC, id DESC);
CREATE INDEX audit_entries_refused ON public.audit_entries USING btree (account_id, at DESC, id DESC) WHERE (outcome = 'refused'::text);

create table audit_sealed (
  one boolean default true not null,
  xid xid8 not null,
  id uuid not null,
  constraint audit_sealed_pkey PRIMARY KEY (one),
  constraint audit_sealed_one_check CHECK (one)
);

create table audit_seals (
  account_id uuid not null,
  sequence bigint not null,
  entry_id uuid not null,
  content bytea not null,
  hash bytea not null,
  constraint audit_seals_pkey PRIMARY KEY (account_id, sequence)
);
CREATE UNIQUE INDEX audit_seals_of_entries ON public.audit_seals USING btree (account_id, entry_id);

create table connection_tests (
  account_id uuid not null,
  id uuid not null,
  connector_id uuid not null,
  connector_version integer not null,
  selectors text[] not null,
  created_at bigint not null,
  deadline_at bigint not null,
  ended_at bigint,
  result jsonb,
  tester_kind text,
  tester_id uuid,
  constraint connection_tests_pkey PRIMARY KEY (account_id, id),
  constraint connection_tests_check CHECK (((ended_at IS NULL) = (result IS NULL)))
);
CREATE INDEX connection_tests_due ON public.connection_tests USING btree (deadline_at) WHERE (ended_at IS NULL);
CREATE INDEX connection_tests_ended ON public.connection_tests USING btree (ended_at) WHERE (ended_at IS NOT NULL);
CREATE UNIQUE INDEX connection_tests_open ON public.connection_tests USING btree (account_id, connector_id, connector_version) WHERE (ended_at IS NULL);

create table connector_uses (
  account_id uuid not null,
  user_type text not null,
  user_id uuid not null,
  user_org_identifier text,
  user_project_identifier text,
  user_identifier text not null,
  org_identifier text,
  project_identifier text,
  identifier text not null,
  constraint connector_uses_account_id_user_type_user_id_identifier_org__key UNIQUE NULLS NOT DISTINCT (account_id, user_type, user_id, identifier, org_identifier, project_identifier)
);
CREATE INDEX connector_uses_by_connector ON public.connector_uses USING btree (account_id, identifier, org_identifier, project_identifier);

create table connectors (
  account_id uuid not null,
  id uuid not null,
  org_identifier text,
  project_identifier text,
  identifier text not null,
  name text not null,
  description text not null,
  tags jsonb not null,
  type text not null,
  spec jsonb not null,
  version integer not null,
  created_at bigint not null,
  updated_at bigint not null,
  status jsonb,
  activity_at bigint,
  author_kind text,
  author_id uuid,
  secret_ids jsonb,
  constraint connectors_pkey PRIMARY KEY (account_id, id),
  constraint connectors_account_id_org_identifier_project_identifier_ide_key UNIQUE NULLS NOT DISTINCT (account_id, org_identifier, project_identifier, identifier)
);
CREATE INDEX connectors_by_identifier ON public.connectors USING btree (account_id, identifier);
CREATE INDEX connectors_by_name ON public.connectors USING btree (account_id, org_identifier, project_identifier, name, id);

create table delegate_tokens (
  account_id uuid not null,
  id uuid not null,
  name text not null,
  secret_hash bytea not null,
  created_by uuid,
  created_at bigint not null,
  revoked_at bigint,
  deleted_at bigint,
  revoke_after bigint,
  constraint delegate_tokens_pkey PRIMARY KEY (account_id, id)
);
CREATE UNIQUE INDEX delegate_tokens_by_name ON public.delegate_tokens USING btree (account_id, name) WHERE (deleted_at IS NULL);
CREATE INDEX delegate_tokens_to_revoke ON public.delegate_tokens USING btree (revoke_after) WHERE ((revoke_after IS NOT NULL) AND (revoked_at IS NULL));

create table delegates (
  account_id uuid not null,
  id uuid not null,
  token_id uuid not null,
  name text not null,
  identity_hash bytea not null,
  tags text[] not null,
  host text not null,
  version text not null,
  boot_id text not null,
  slots integer not null,
  seen_at bigint not null,
  created_at bigint not null,
  declared_tags text[] default '{}'::text[] not null,
  status text default 'ENABLED'::text not null,
  unavailable text,
  capabilities text[] default '{shell/1,connection/1}'::text[] not null,
  constraint delegates_pkey PRIMARY KEY (account_id, id),
  constraint delegates_status_check CHECK ((status = ANY (ARRAY['ENABLED'::text, 'WAITING_FOR_APPROVAL'::text, 'DELETED'::text])))
) with (fillfactor=60);
CREATE UNIQUE INDEX delegates_by_name ON public.delegates USING btree (account_id, name) WHERE (status <> 'DELETED'::text);
CREATE INDEX delegates_by_token ON public.delegates USING btree (account_id, token_id);
CREATE INDEX delegates_deleted ON public.delegates USING btree (account_id, identity_hash) WHERE (status = 'DELETED'::text);

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
  constraint deployments_pkey PRIMARY KEY (account_id, id)
);
CREATE INDEX deployments_by_end ON public.deployments USING btree (account_id, project_id, ended_at, id) INCLUDE (environment, service, status, committed_at, pipeline_id) WHERE (ended_at IS NOT NULL);
CREATE INDEX deployments_by_environment ON public.deployments USING btree (account_id, project_id, environment, started_at, id);
CREATE INDEX deployments_by_execution ON public.deployments USING btree (account_id, execution_id);
CREATE INDEX deployments_by_pipeline ON public.deployments USING btree (account_id, pipeline_id);
CREATE INDEX deployments_by_service ON public.deployments USING btree (account_id, project_id, service, started_at, id);
CREATE INDEX deployments_by_target ON public.deployments USING btree (account_id, project_id, environment, service, started_at, id);

create table environment_uses (
  account_id uuid not null,
  user_type text not null,
  user_id uuid not null,
  user_org_identifier text,
  user_project_identifier text,
  user_identifier text not null,
  org_identifier text,
  project_identifier text,
  identifier text not null,
  constraint environment_uses_account_id_user_type_user_id_identifier_or_key UNIQUE NULLS NOT DISTINCT (account_id, user_type, user_id, identifier, org_identifier, project_identifier)
);
CREATE INDEX environment_uses_by_environment ON public.environment_uses USING btree (account_id, identifier, org_identifier, project_identifier);

create table environments (
  account_id uuid not null,
  id uuid not null,
  org_identifier text,
  project_identifier text,
  identifier text not null,
  name text not null,
  description text not null,
  tags jsonb not null,
  type text not null,
  color text not null,
  yaml text not null,
  version integer not null,
  created_at bigint not null,
  updated_at bigint not null,
  constraint environments_pkey PRIMARY KEY (account_id, id),
  constraint environments_account_id_org_identifier_project_identifier_i_key UNIQUE NULLS NOT DISTINCT (account_id, org_identifier, project_identifier, identifier),
  constraint environments_type_check CHECK ((type = ANY (ARRAY['Production'::text, 'PreProduction'::text])))
);

create table execution_locks (
  account_id uuid not null,
  turn bigint generated always as identity not null,
  kind text not null,
  key text not null,
  execution_id uuid not null,
  node_id uuid not null,
  holder_id uuid not null,
  around uuid[] not null,
  requested_at bigint not null,
  granted_at bigint,
  answered_at bigint,
  constraint execution_locks_pkey PRIMARY KEY (account_id, turn)
);
CREATE INDEX execution_locks_by_execution ON public.execution_locks USING btree (account_id, execution_id);
CREATE INDEX execution_locks_granted ON public.execution_locks USING btree (account_id, kind, key) WHERE (granted_at IS NOT NULL);
CREATE INDEX execution_locks_waiting ON public.execution_locks USING btree (account_id, kind, key, turn) WHERE (granted_at IS NULL);

create table execution_mark_sets (
  account_id uuid not null,
  project_id uuid not null,
  id uuid not null,
  services text[] not null,
  environments text[] not null,
  constraint execution_mark_sets_pkey PRIMARY KEY (account_id, project_id, id)
);
CREATE INDEX execution_mark_sets_by_environment ON public.execution_mark_sets USING gin (environments) WITH (fastupdate=off);
CREATE INDEX execution_mark_sets_by_service ON public.execution_mark_sets USING gin (services) WITH (fastupdate=off);

create table execution_marks (
  account_id uuid not null,
  kind text not null,
  name text not null,
  value text not null,
  execution_id uuid not null,
  constraint execution_marks_pkey PRIMARY KEY (account_id, kind, name, value, execution_id),
  constraint execution_marks_kind_check CHECK ((kind = ANY (ARRAY['service'::text, 'environment'::text, 'tag'::text])))
);
CREATE INDEX execution_marks_by_execution ON public.execution_marks USING btree (account_id, execution_id);

create table execution_nodes (
  account_id uuid not null,
  execution_id uuid not null,
  id uuid not null,
  definition_id uuid not null,
  parent_id uuid,
  path text not null,
  kind text not null,
  status text not null,
  reason json,
  attempt integer not null,
  started_at bigint,
  ended_at bigint,
  outputs json not null,
  iterations json,
  rest json not null,
  revision bigint not null,
  constraint execution_nodes_pkey PRIMARY KEY (account_id, id)
) with (fillfactor=70);
CREATE INDEX execution_nodes_by_execution ON public.execution_nodes USING btree (account_id, execution_id);

create table execution_sequences (
  account_id uuid not null,
  pipeline_id uuid not null,
  last integer not null,
  constraint execution_sequences_pkey PRIMARY KEY (account_id, pipeline_id)
);

create table execution_timers (
  account_id uuid not null,
  execution_id uuid not null,
  node_id uuid not null,
  due_at bigint not null,
  purpose text not null,
  constraint execution_timers_pkey PRIMARY KEY (account_id, execution_id, node_id, purpose)
);
CREATE INDEX execution_timers_due ON public.execution_timers USING btree (due_at);

create table executions (
  account_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  pipeline_id uuid not null,
  pipeline_version integer not null,
  run_sequence integer not null,
  status text not null,
  plan json not null,
  header json not null,
  trigger_type text not null,
  triggered_by jsonb not null,
  input_yaml text,
  created_at bigint not null,
  started_at bigint,
  ended_at bigint,
  begun_at bigint generated always as (COALESCE(started_at, created_at)) stored not null,
  started_by uuid,
  notes text,
  tags jsonb default '{}'::jsonb not null,
  failure text,
  rerun_info jsonb,
  principals jsonb default '[]'::jsonb not null,
  stages json,
  stage_states json,
  last_node_id uuid,
  mark_set_id uuid,
  format integer default 1 not null,
  revision bigint default 0 not null,
  recent json,
  retry_root_id uuid,
  retry_parent_id uuid,
  retried_by_id uuid,
  selected_stages text[],
  expression_values json,
  allow_stage_executions boolean default false not null,
  start_event json,
  changed_xid xid8,
  constraint executions_pkey PRIMARY KEY (account_id, id),
  constraint executions_account_id_pipeline_id_run_sequence_key UNIQUE (account_id, pipeline_id, run_sequence),
  constraint executions_trigger_type_check CHECK ((trigger_type = ANY (ARRAY['MANUAL'::text, 'WEBHOOK_CUSTOM'::text])))
) with (fillfactor=60);
CREATE INDEX executions_by_begin ON public.executions USING btree (account_id, begun_at, id) INCLUDE (project_id, pipeline_id, status, trigger_type, started_by, created_at, started_at, ended_at, mark_set_id);
CREATE INDEX executions_by_change ON public.executions USING btree (account_id, project_id, changed_xid) WHERE (changed_xid IS NOT NULL);
CREATE INDEX executions_by_end ON public.executions USING btree (account_id, ended_at);
CREATE INDEX executions_by_marks ON public.executions USING btree (account_id, mark_set_id, begun_at, id);
CREATE INDEX executions_by_pipeline ON public.executions USING btree (account_id, pipeline_id, begun_at, id);
CREATE INDEX executions_by_project ON public.executions USING btree (account_id, project_id, begun_at, id) INCLUDE (pipeline_id, status, started_at, ended_at);
CREATE INDEX executions_by_retry_root ON public.executions USING btree (account_id, retry_root_id, id) WHERE (retry_root_id IS NOT NULL);
CREATE INDEX executions_by_starter ON public.executions USING btree (account_id, started_by, begun_at, id) INCLUDE (trigger_type);
CREATE INDEX executions_by_status ON public.executions USING btree (account_id, status, begun_at, id);

create table idempotency_keys (
  account_id uuid not null,
  actor_id uuid not null,
  operation text not null,
  key text not null,
  request_hash bytea not null,
  started json,
  created_at bigint not null,
  constraint idempotency_keys_pkey PRIMARY KEY (account_id, actor_id, operation, key)
);
CREATE INDEX idempotency_keys_by_age ON public.idempotency_keys USING btree (created_at);

create table identity_links_allowed (
  account_id uuid not null,
  user_id uuid not null,
  until bigint not null,
  constraint identity_links_allowed_pkey PRIMARY KEY (account_id, user_id)
);

create table input_sets (
  account_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  pipeline_id uuid not null,
  identifier text not null,
  name text not null,
  description text not null,
  tags jsonb not null,
  yaml text not null,
  overlays text[],
  version integer not null,
  created_by uuid,
  created_at bigint not null,
  updated_at bigint not null,
  author_kind text,
  author_id uuid,
  constraint input_sets_pkey PRIMARY KEY (account_id, id),
  constraint input_sets_account_id_pipeline_id_identifier_key UNIQUE (account_id, pipeline_id, identifier)
);
CREATE INDEX input_sets_by_author ON public.input_sets USING btree (account_id, author_id);
CREATE INDEX input_sets_by_project ON public.input_sets USING btree (account_id, project_id);

create table invitations (
  account_id uuid not null,
  user_id uuid not null,
  secret_hash bytea not null,
  created_by uuid not null,
  created_by_kind text not null,
  created_at bigint not null,
  expires_at bigint not null,
  constraint invitations_pkey PRIMARY KEY (account_id, user_id),
  constraint invitations_account_id_secret_hash_key UNIQUE (account_id, secret_hash)
);
CREATE INDEX invitations_by_expiry ON public.invitations USING btree (expires_at);

create table key_rotations (
  account_id uuid not null,
  id uuid not null,
  kind text not null,
  started_at bigint not null,
  finished_at bigint,
  constraint key_rotations_pkey PRIMARY KEY (account_id, id),
  constraint key_rotations_kind_check CHECK ((kind = 'data-keys'::text))
);
CREATE UNIQUE INDEX key_rotations_open ON public.key_rotations USING btree (account_id, kind) WHERE (finished_at IS NULL);

create table log_chunks (
  account_id uuid not null,
  execution_id uuid not null,
  "position" bigint not null,
  node_id uuid not null,
  node_position bigint not null,
  data bytea not null,
  at bigint,
  task integer default 1 not null,
  node_lines bigint,
  constraint log_chunks_pkey PRIMARY KEY (account_id, execution_id, "position")
);
CREATE INDEX log_chunks_by_node ON public.log_chunks USING btree (account_id, execution_id, node_id, node_position);

create table log_retentions (
  account_id uuid not null,
  until bigint not null,
  constraint log_retentions_pkey PRIMARY KEY (account_id)
);

create table log_streams (
  account_id uuid not null,
  execution_id uuid not null,
  stream_id uuid not null,
  bytes bigint not null,
  deleted_at bigint,
  lines bigint default 0 not null,
  counted bigint default 0 not null,
  open_line boolean default false not null,
  constraint log_streams_pkey PRIMARY KEY (account_id, execution_id, stream_id)
);

create table organizations (
  account_id uuid not null,
  id uuid not null,
  identifier text not null,
  name text not null,
  description text not null,
  tags jsonb not null,
  version integer not null,
  created_at bigint not null,
  updated_at bigint not null,
  constraint organizations_pkey PRIMARY KEY (account_id, id),
  constraint organizations_account_id_identifier_key UNIQUE (account_id, identifier)
);
CREATE INDEX organizations_by_name ON public.organizations USING btree (account_id, name, id);

create table outgoing_mails (
  account_id uuid not null,
  id uuid not null,
  execution_id uuid not null,
  node_id uuid not null,
  org_identifier text not null,
  project_identifier text not null,
  to_addresses text[] not null,
  cc_addresses text[] not null,
  to_groups text[] not null,
  cc_groups text[] not null,
  subject text not null,
  body text not null,
  fire_and_forget boolean not null,
  fault text,
  created_at bigint not null,
  deadline_at bigint not null,
  tries integer default 0 not null,
  next_try_at bigint not null,
  last_error text,
  claim_id uuid,
  claimed_until bigint,
  delivering boolean default false not null,
  constraint outgoing_mails_pkey PRIMARY KEY (account_id, id),
  constraint outgoing_mails_check CHECK (((claim_id IS NULL) = (claimed_until IS NULL))),
  constraint outgoing_mails_check1 CHECK (((claim_id IS NOT NULL) OR (NOT delivering)))
);
CREATE UNIQUE INDEX outgoing_mails_awaited ON public.outgoing_mails USING btree (account_id, execution_id, node_id) WHERE (NOT fire_and_forget);
CREATE INDEX outgoing_mails_due ON public.outgoing_mails USING btree (COALESCE(claimed_until, next_try_at));

create table pipeline_versions (
  account_id uuid not null,
  pipeline_id uuid not null,
  version integer not null,
  yaml text not null,
  created_by uuid,
  created_at bigint not null,
  author_kind text,
  author_id uuid,
  variables text,
  constraint pipeline_versions_pkey PRIMARY KEY (account_id, pipeline_id, version)
);
CREATE INDEX pipeline_versions_by_author ON public.pipeline_versions USING btree (account_id, author_id);

create table pipelines (
  account_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  identifier text not null,
  name text not null,
  description text not null,
  tags jsonb not null,
  version integer not null,
  created_by uuid,
  created_at bigint not null,
  updated_at bigint not null,
  deleted_at bigint,
  stage_names text[],
  constraint pipelines_pkey PRIMARY KEY (account_id, id)
);
CREATE UNIQUE INDEX pipelines_by_identifier ON public.pipelines USING btree (account_id, project_id, identifier) WHERE (deleted_at IS NULL);
CREATE INDEX pipelines_by_name ON public.pipelines USING btree (account_id, project_id, name, id) WHERE (deleted_at IS NULL);
CREATE INDEX pipelines_by_update ON public.pipelines USING btree (account_id, project_id, updated_at, id) WHERE (deleted_at IS NULL);

create table projects (
  account_id uuid not null,
  id uuid not null,
  org_identifier text not null,
  identifier text not null,
  name text not null,
  color text not null,
  description text not null,
  tags jsonb not null,
  version integer not null,
  created_at bigint not null,
  updated_at bigint not null,
  created_by uuid,
  constraint projects_pkey PRIMARY KEY (account_id, id),
  constraint projects_account_id_org_identifier_identifier_key UNIQUE (account_id, org_identifier, identifier)
);
CREATE INDEX projects_by_name ON public.projects USING btree (account_id, name, id);
CREATE INDEX projects_by_organization ON public.projects USING btree (account_id, org_identifier, name, id);

create unlogged table request_counts (
  account_id uuid not null,
  subject text not null,
  period bigint not null,
  used bigint not null,
  constraint request_counts_pkey PRIMARY KEY (account_id, subject, period)
);

create table resource_groups (
  account_id uuid not null,
  id uuid not null,
  org_identifier text,
  project_identifier text,
  identifier text not null,
  name text not null,
  description text not null,
  color text not null,
  tags jsonb not null,
  scope_levels text[] not null,
  included_scopes jsonb not null,
  every_resource boolean not null,
  resources jsonb not null,
  created_at bigint not null,
  updated_at bigint not null,
  constraint resource_groups_pkey PRIMARY KEY (account_id, id),
  constraint resource_groups_account_id_org_identifier_project_identifie_key UNIQUE NULLS NOT DISTINCT (account_id, org_identifier, project_identifier, identifier)
);

create table role_assignments (
  account_id uuid not null,
  id uuid not null,
  org_identifier text,
  project_identifier text,
  identifier text not null,
  principal_type text not null,
  principal_id uuid,
  principal_identifier text not null,
  principal_level text not null,
  role_identifier text not null,
  role_level text not null,
  role_id uuid,
  resource_group_identifier text not null,
  resource_group_id uuid,
  disabled boolean not null,
  created_at bigint not null,
  updated_at bigint not null,
  constraint role_assignments_pkey PRIMARY KEY (account_id, id),
  constraint role_assignments_account_id_org_identifier_project_identifi_key UNIQUE NULLS NOT DISTINCT (account_id, org_identifier, project_identifier, identifier),
  constraint role_assignments_principal_level_check CHECK ((principal_level = ANY (ARRAY['account'::text, 'organization'::text, 'project'::text]))),
  constraint role_assignments_principal_type_check CHECK ((principal_type = ANY (ARRAY['USER'::text, 'USER_GROUP'::text, 'SERVICE_ACCOUNT'::text]))),
  constraint role_assignments_role_level_check CHECK ((role_level = ANY (ARRAY['account'::text, 'organization'::text, 'project'::text])))
);
CREATE INDEX role_assignments_by_principal ON public.role_assignments USING btree (account_id, principal_id);
CREATE INDEX role_assignments_by_resource_group ON public.role_assignments USING btree (account_id, resource_group_id);
CREATE INDEX role_assignments_by_role ON public.role_assignments USING btree (account_id, role_id);
CREATE UNIQUE INDEX role_assignments_once ON public.role_assignments USING btree (account_id, org_identifier, project_identifier, principal_type, principal_id, principal_identifier, role_identifier, role_id, resource_group_identifier, resource_group_id) NULLS NOT DISTINCT;

create table roles (
  account_id uuid not null,
  id uuid not null,
  org_identifier text,
  project_identifier text,
  identifier text not null,
  name text not null,
  description text not null,
  tags jsonb not null,
  permissions text[] not null,
  scope_levels text[] not null,
  created_at bigint not null,
  updated_at bigint not null,
  constraint roles_pkey PRIMARY KEY (account_id, id),
  constraint roles_account_id_org_identifier_project_identifier_identifi_key UNIQUE NULLS NOT DISTINCT (account_id, org_identifier, project_identifier, identifier)
);

create table schema_migrations (
  number integer not null,
  name text not null,
  sha256 text not null,
  applied_at timestamp with time zone default now() not null,
  constraint schema_migrations_pkey PRIMARY KEY (number)
);

create table secret_chunks (
  account_id uuid not null,
  content_id uuid not null,
  nth integer not null,
  sealed bytea not null,
  constraint secret_chunks_pkey PRIMARY KEY (account_id, content_id, nth)
);

create table secret_contents (
  account_id uuid not null,
  id uuid not null,
  secret_id uuid not null,
  manager_id uuid not null,
  key_id text not null,
  wrapped_key bytea not null,
  size integer not null,
  created_at bigint not null,
  origin_id uuid,
  rotation_id uuid,
  constraint secret_contents_pkey PRIMARY KEY (account_id, id),
  constraint secret_contents_account_id_secret_id_key UNIQUE (account_id, secret_id)
);
CREATE INDEX secret_contents_by_key ON public.secret_contents USING btree (account_id, manager_id, key_id);

create table secret_manager_scopes (
  account_id uuid not null,
  manager_id uuid not null,
  nth integer not null,
  application_id uuid,
  environment_id uuid,
  environments text,
  constraint secret_manager_scopes_pkey PRIMARY KEY (account_id, manager_id, nth),
  constraint secret_manager_scopes_check CHECK ((num_nonnulls(environment_id, environments) = 1)),
  constraint secret_manager_scopes_environments_check CHECK ((environments = ANY (ARRAY['PRODUCTION_ENVIRONMENTS'::text, 'NON_PRODUCTION_ENVIRONMENTS'::text])))
);
CREATE INDEX secret_manager_scopes_by_application ON public.secret_manager_scopes USING btree (account_id, application_id);
CREATE INDEX secret_manager_scopes_by_environment ON public.secret_manager_scopes USING btree (account_id, environment_id);

create table secret_managers (
  account_id uuid not null,
  id uuid not null,
  identifier text not null,
  name text not null,
  kind text not null,
  version integer not null,
  created_at bigint not null,
  updated_at bigint not null,
  description text default ''::text not null,
  tags jsonb default '{}'::jsonb not null,
  spec jsonb default '{}'::jsonb not null,
  constraint secret_managers_pkey PRIMARY KEY (account_id, id),
  constraint secret_managers_account_id_identifier_key UNIQUE (account_id, identifier),
  constraint secret_managers_account_id_name_key UNIQUE (account_id, name)
);

create table secret_outputs (
  account_id uuid not null,
  id uuid not null,
  execution_id uuid not null,
  name text not null,
  size integer not null,
  sealed bytea not null,
  constraint secret_outputs_pkey PRIMARY KEY (account_id, id)
);
CREATE INDEX secret_outputs_by_execution ON public.secret_outputs USING btree (account_id, execution_id);

create table secret_scopes (
  account_id uuid not null,
  secret_id uuid not null,
  nth integer not null,
  application_id uuid,
  environment_id uuid,
  environments text,
  constraint secret_scopes_pkey PRIMARY KEY (account_id, secret_id, nth),
  constraint secret_scopes_check CHECK ((num_nonnulls(environment_id, environments) = 1)),
  constraint secret_scopes_environments_check CHECK ((environments = ANY (ARRAY['PRODUCTION_ENVIRONMENTS'::text, 'NON_PRODUCTION_ENVIRONMENTS'::text])))
);
CREATE INDEX secret_scopes_by_application ON public.secret_scopes USING btree (account_id, application_id);
CREATE INDEX secret_scopes_by_environment ON public.secret_scopes USING btree (account_id, environment_id);

create table secret_uses (
  account_id uuid not null,
  user_type text not null,
  user_id uuid not null,
  user_org_identifier text,
  user_project_identifier text,
  user_identifier text not null,
  org_identifier text,
  project_identifier text,
  identifier text not null,
  constraint secret_uses_account_id_user_type_user_id_identifier_org_ide_key UNIQUE NULLS NOT DISTINCT (account_id, user_type, user_id, identifier, org_identifier, project_identifier)
);
CREATE INDEX secret_uses_by_secret ON public.secret_uses USING btree (account_id, identifier, org_identifier, project_identifier);

create table secrets (
  account_id uuid not null,
  id uuid not null,
  org_identifier text,
  project_identifier text,
  identifier text not null,
  name text not null,
  description text not null,
  tags jsonb not null,
  type text not null,
  manager_id uuid not null,
  inherits_scope boolean not null,
  scoped_to_account boolean not null,
  version integer not null,
  created_at bigint not null,
  updated_at bigint not null,
  ssh jsonb,
  constraint secrets_pkey PRIMARY KEY (account_id, id),
  constraint secrets_account_id_org_identifier_project_identifier_identi_key UNIQUE NULLS NOT DISTINCT (account_id, org_identifier, project_identifier, identifier),
  constraint secrets_ssh_check CHECK (((type = 'SSH_CREDENTIAL'::text) = (ssh IS NOT NULL))),
  constraint secrets_type_check CHECK ((type = ANY (ARRAY['ENCRYPTED_TEXT'::text, 'ENCRYPTED_FILE'::text, 'SSH_CREDENTIAL'::text])))
);
CREATE INDEX secrets_by_manager ON public.secrets USING btree (account_id, manager_id);
CREATE UNIQUE INDEX secrets_by_name ON public.secrets USING btree (account_id, name, type) WHERE (org_identifier IS NULL);

create table service_accounts (
  account_id uuid not null,
  id uuid not null,
  org_identifier text,
  project_identifier text,
  identifier text not null,
  name text not null,
  email text not null,
  description text not null,
  tags jsonb not null,
  created_at bigint not null,
  updated_at bigint not null,
  constraint service_accounts_pkey PRIMARY KEY (account_id, id),
  constraint service_accounts_account_id_org_identifier_project_identifi_key UNIQUE NULLS NOT DISTINCT (account_id, org_identifier, project_identifier, identifier)
);

create table service_uses (
  account_id uuid not null,
  user_type text not null,
  user_id uuid not null,
  user_org_identifier text,
  user_project_identifier text,
  user_identifier text not null,
  org_identifier text,
  project_identifier text,
  identifier text not null,
  constraint service_uses_account_id_user_type_user_id_identifier_org_id_key UNIQUE NULLS NOT DISTINCT (account_id, user_type, user_id, identifier, org_identifier, project_identifier)
);
CREATE INDEX service_uses_by_service ON public.service_uses USING btree (account_id, identifier, org_identifier, project_identifier);

create table services (
  account_id uuid not null,
  id uuid not null,
  org_identifier text,
  project_identifier text,
  identifier text not null,
  name text not null,
  description text not null,
  tags jsonb not null,
  yaml text not null,
  version integer not null,
  created_at bigint not null,
  updated_at bigint not null,
  constraint services_pkey PRIMARY KEY (account_id, id),
  constraint services_account_id_org_identifier_project_identifier_ident_key UNIQUE NULLS NOT DISTINCT (account_id, org_identifier, project_identifier, identifier)
);

create table sessions (
  account_id uuid not null,
  id uuid not null,
  user_id uuid not null,
  secret_hash bytea not null,
  method text not null,
  remote_address text not null,
  user_agent text not null,
  created_at bigint not null,
  last_seen_at bigint not null,
  expires_at bigint not null,
  constraint sessions_pkey PRIMARY KEY (account_id, id),
  constraint sessions_method_check CHECK ((method = ANY (ARRAY['PASSWORD'::text, 'OPENID_CONNECT'::text])))
);
CREATE INDEX sessions_by_user ON public.sessions USING btree (account_id, user_id);

create table settings (
  account_id uuid not null,
  org_identifier text,
  project_identifier text,
  identifier text not null,
  value text not null,
  allow_overrides boolean not null,
  updated_at bigint not null,
  constraint settings_account_id_org_identifier_project_identifier_ident_key UNIQUE NULLS NOT DISTINCT (account_id, org_identifier, project_identifier, identifier)
);

create table sign_in_failures (
  account_id uuid not null,
  subject text not null,
  failures integer not null,
  blocked_until bigint not null,
  last_at bigint not null,
  constraint sign_in_failures_pkey PRIMARY KEY (account_id, subject)
);

create table sign_ins_taken (
  account_id uuid not null,
  state_hash bytea not null,
  until bigint not null,
  constraint sign_ins_taken_pkey PRIMARY KEY (account_id, state_hash)
);

create table smtp_configs (
  account_id uuid not null,
  name text not null,
  host text not null,
  port integer not null,
  from_address text,
  security text not null,
  username text,
  password_sealed bytea,
  version integer not null,
  created_at bigint not null,
  updated_at bigint not null,
  constraint smtp_configs_pkey PRIMARY KEY (account_id),
  constraint smtp_configs_check CHECK (((username IS NULL) = (password_sealed IS NULL))),
  constraint smtp_configs_check1 CHECK (((username IS NULL) OR (security <> 'none'::text))),
  constraint smtp_configs_security_check CHECK ((security = ANY (ARRAY['tls'::text, 'starttls'::text, 'none'::text])))
);

create table tasks (
  account_id uuid not null,
  id uuid not null,
  run_id uuid not null,
  node_id uuid not null,
  attempt integer not null,
  status text not null,
  epoch integer not null,
  delegate_id uuid,
  selectors text[] not null,
  work json not null,
  cancelling boolean default false not null,
  log_offset bigint default 0 not null,
  created_at bigint not null,
  leased_at bigint,
  finished_at bigint,
  queue_id uuid,
  turn bigint default 0 not null,
  returns integer default 0 not null,
  capability text default 'shell/1'::text not null,
  constraint tasks_pkey PRIMARY KEY (account_id, id),
  constraint tasks_account_id_run_id_node_id_attempt_key UNIQUE (account_id, run_id, node_id, attempt),
  constraint tasks_check CHECK ((((status = 'ready'::text) = (delegate_id IS NULL)) OR (status = 'finished'::text))),
  constraint tasks_status_check CHECK ((status = ANY (ARRAY['ready'::text, 'leased'::text, 'finished'::text])))
) with (fillfactor=80);
CREATE INDEX tasks_leased ON public.tasks USING btree (account_id, delegate_id) WHERE (status = 'leased'::text);
CREATE INDEX tasks_queued ON public.tasks USING btree (account_id, queue_id, turn) WHERE (status = 'ready'::text);
CREATE INDEX tasks_ready ON public.tasks USING btree (account_id, ((queue_id IS NULL)) DESC, turn, id) WHERE (status = 'ready'::text);

create table tokens (
  account_id uuid not null,
  id uuid not null,
  name text not null,
  secret_hash bytea not null,
  valid_to_at bigint,
  created_at bigint not null,
  api_key_id uuid not null,
  identifier text not null,
  description text not null,
  tags jsonb not null,
  valid_from_at bigint not null,
  scheduled_end_at bigint,
  family_id uuid not null,
  replaced_by uuid,
  updated_at bigint not null,
  constraint tokens_pkey PRIMARY KEY (account_id, id),
  constraint tokens_account_id_api_key_id_identifier_key UNIQUE (account_id, api_key_id, identifier)
);
CREATE INDEX tokens_by_family ON public.tokens USING btree (account_id, family_id);

create table triggers (
  account_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  pipeline_id uuid not null,
  identifier text not null,
  name text not null,
  description text not null,
  tags jsonb not null,
  enabled boolean not null,
  yaml text not null,
  token_hash bytea,
  token_sealed bytea,
  version integer not null,
  created_at bigint not null,
  updated_at bigint not null,
  deleted_at bigint,
  author_kind text,
  author_id uuid,
  run_as uuid,
  constraint triggers_pkey PRIMARY KEY (account_id, id),
  constraint triggers_account_id_token_hash_key UNIQUE (account_id, token_hash),
  constraint triggers_token_of_live CHECK ((num_nulls(token_hash, token_sealed) =
CASE
    WHEN (deleted_at IS NULL) THEN 0
    ELSE 2
END))
);
CREATE INDEX triggers_by_author ON public.triggers USING btree (account_id, author_id) WHERE (deleted_at IS NULL);
CREATE UNIQUE INDEX triggers_by_identifier ON public.triggers USING btree (account_id, pipeline_id, identifier) WHERE (deleted_at IS NULL);
CREATE INDEX triggers_by_pipeline ON public.triggers USING btree (account_id, pipeline_id);
CREATE INDEX triggers_by_project ON public.triggers USING btree (account_id, project_id);
CREATE INDEX triggers_by_run_as ON public.triggers USING btree (account_id, run_as) WHERE ((deleted_at IS NULL) AND (run_as IS NOT NULL));

create table user_group_members (
  account_id uuid not null,
  group_id uuid not null,
  user_id uuid not null,
  created_at bigint not null,
  constraint user_group_members_pkey PRIMARY KEY (account_id, group_id, user_id)
);
CREATE INDEX user_group_members_by_user ON public.user_group_members USING btree (account_id, user_id);

create table user_groups (
  account_id uuid not null,
  id uuid not null,
  org_identifier text,
  project_identifier text,
  identifier text not null,
  name text not null,
  description text not null,
  tags jsonb not null,
  externally_managed boolean not null,
  external_id text,
  version integer not null,
  created_at bigint not null,
  updated_at bigint not null,
  constraint user_groups_pkey PRIMARY KEY (account_id, id),
  constraint user_groups_account_id_org_identifier_project_identifier_id_key UNIQUE NULLS NOT DISTINCT (account_id, org_identifier, project_identifier, identifier)
);
CREATE INDEX user_groups_by_name ON public.user_groups USING btree (account_id, name, id);
CREATE UNIQUE INDEX user_groups_by_provided_name ON public.user_groups USING btree (account_id, lower((name COLLATE pg_c_utf8))) WHERE (externally_managed AND (org_identifier IS NULL) AND (project_identifier IS NULL));

create table user_identities (
  account_id uuid not null,
  id uuid not null,
  user_id uuid not null,
  issuer text not null,
  subject text not null,
  linked_at bigint not null,
  last_used_at bigint,
  constraint user_identities_pkey PRIMARY KEY (account_id, id),
  constraint user_identities_account_id_issuer_subject_key UNIQUE (account_id, issuer, subject)
);
CREATE INDEX user_identities_by_user ON public.user_identities USING btree (account_id, user_id);

create table users (
  account_id uuid not null,
  id uuid not null,
  name text not null,
  email text not null,
  password_hash text not null,
  must_change_password boolean not null,
  role text default '_account_viewer'::text not null,
  created_at bigint not null,
  given_name text default ''::text not null,
  family_name text default ''::text not null,
  display_name text,
  user_name text,
  user_key text,
  external_id text,
  active boolean default true not null,
  email_verified boolean default false not null,
  managed_externally boolean default false not null,
  directory jsonb default '{}'::jsonb not null,
  updated_at bigint default 0 not null,
  version integer default 1 not null,
  deleted_at bigint,
  constraint users_pkey PRIMARY KEY (account_id, id),
  constraint users_role_check CHECK ((role = ANY (ARRAY['_account_admin'::text, '_account_viewer'::text])))
);
CREATE UNIQUE INDEX users_by_email ON public.users USING btree (account_id, email) WHERE (deleted_at IS NULL);
CREATE INDEX users_by_external_id ON public.users USING btree (account_id, external_id) WHERE (external_id IS NOT NULL);
CREATE INDEX users_by_name ON public.users USING btree (account_id, name);
CREATE UNIQUE INDEX users_by_user_name ON public.users USING btree (account_id, COALESCE(user_key, email)) WHERE (deleted_at IS NULL);

create table webhook_deliveries (
  account_id uuid not null,
  id uuid not null,
  correlation_id text not null,
  trigger_id uuid not null,
  headers jsonb not null,
  payload text not null,
  received_at bigint not null,
  processed_at bigint,
  status text,
  message text not null,
  execution_id uuid,
  replay_of text,
  constraint webhook_deliveries_pkey PRIMARY KEY (account_id, id),
  constraint webhook_deliveries_account_id_correlation_id_key UNIQUE (account_id, correlation_id)
);
CREATE INDEX webhook_deliveries_by_execution ON public.webhook_deliveries USING btree (account_id, execution_id);
CREATE INDEX webhook_deliveries_by_trigger ON public.webhook_deliveries USING btree (account_id, trigger_id, id);
CREATE INDEX webhook_deliveries_waiting ON public.webhook_deliveries USING btree (account_id, id) WHERE (processed_at IS NULL);

alter table api_keys add constraint api_keys_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);
alter table api_keys add constraint api_keys_account_id_service_account_id_fkey FOREIGN KEY (account_id, service_account_id) REFERENCES service_accounts(account_id, id) ON DELETE CASCADE;
alter table api_keys add constraint api_keys_account_id_user_id_fkey FOREIGN KEY (account_id, user_id) REFERENCES users(account_id, id) ON DELETE CASCADE;

alter table approval_instances add constraint approval_instances_account_id_execution_id_fkey FOREIGN KEY (account_id, execution_id) REFERENCES executions(account_id, id) ON DELETE CASCADE;

alter table audit_chains add constraint audit_chains_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);

alter table audit_entries add constraint audit_entries_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);

alter table audit_seals add constraint audit_seals_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);

alter table connection_tests add constraint connection_tests_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);

alter table connector_uses add constraint connector_uses_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);

alter table connectors add constraint connectors_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);
alter table connectors add constraint connectors_account_id_org_identifier_fkey FOREIGN KEY (account_id, org_identifier) REFERENCES organizations(account_id, identifier);
alter table connectors add constraint connectors_account_id_org_identifier_project_identifier_fkey FOREIGN KEY (account_id, org_identifier, project_identifier) REFERENCES projects(account_id, org_identifier, identifier);

alter table delegate_tokens add constraint delegate_tokens_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);

alter table delegates add constraint delegates_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);
alter table delegates add constraint delegates_account_id_token_id_fkey FOREIGN KEY (account_id, token_id) REFERENCES delegate_tokens(account_id, id);

alter table deployments add constraint deployments_account_id_pipeline_id_fkey FOREIGN KEY (account_id, pipeline_id) REFERENCES pipelines(account_id, id);
alter table deployments add constraint deployments_account_id_project_id_fkey FOREIGN KEY (account_id, project_id) REFERENCES projects(account_id, id);

alter table environment_uses add constraint environment_uses_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);

alter table environments add constraint environments_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);
alter table environments add constraint environments_account_id_org_identifier_fkey FOREIGN KEY (account_id, org_identifier) REFERENCES organizations(account_id, identifier);
alter table environments add constraint environments_account_id_org_identifier_project_identifier_fkey FOREIGN KEY (account_id, org_identifier, project_identifier) REFERENCES projects(account_id, org_identifier, identifier);

alter table execution_locks add constraint execution_locks_account_id_execution_id_fkey FOREIGN KEY (account_id, execution_id) REFERENCES executions(account_id, id) ON DELETE CASCADE;

alter table execution_mark_sets add constraint execution_mark_sets_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);
alter table execution_mark_sets add constraint execution_mark_sets_account_id_project_id_fkey FOREIGN KEY (account_id, project_id) REFERENCES projects(account_id, id) ON DELETE CASCADE;

alter table execution_marks add constraint execution_marks_account_id_execution_id_fkey FOREIGN KEY (account_id, execution_id) REFERENCES executions(account_id, id);

alter table execution_nodes add constraint execution_nodes_account_id_execution_id_fkey FOREIGN KEY (account_id, execution_id) REFERENCES executions(account_id, id);

alter table execution_sequences add constraint execution_sequences_account_id_pipeline_id_fkey FOREIGN KEY (account_id, pipeline_id) REFERENCES pipelines(account_id, id);

alter table execution_timers add constraint execution_timers_account_id_execution_id_fkey FOREIGN KEY (account_id, execution_id) REFERENCES executions(account_id, id);

alter table executions add constraint executions_account_id_pipeline_id_pipeline_version_fkey FOREIGN KEY (account_id, pipeline_id, pipeline_version) REFERENCES pipeline_versions(account_id, pipeline_id, version);
alter table executions add constraint executions_account_id_project_id_fkey FOREIGN KEY (account_id, project_id) REFERENCES projects(account_id, id);

alter table idempotency_keys add constraint idempotency_keys_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);

alter table identity_links_allowed add constraint identity_links_allowed_account_id_user_id_fkey FOREIGN KEY (account_id, user_id) REFERENCES users(account_id, id) ON DELETE CASCADE;

alter table input_sets add constraint input_sets_account_id_pipeline_id_fkey FOREIGN KEY (account_id, pipeline_id) REFERENCES pipelines(account_id, id);
alter table input_sets add constraint input_sets_account_id_project_id_fkey FOREIGN KEY (account_id, project_id) REFERENCES projects(account_id, id);

alter table invitations add constraint invitations_account_id_user_id_fkey FOREIGN KEY (account_id, user_id) REFERENCES users(account_id, id) ON DELETE CASCADE;

alter table key_rotations add constraint key_rotations_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);

alter table log_chunks add constraint log_chunks_account_id_execution_id_fkey FOREIGN KEY (account_id, execution_id) REFERENCES executions(account_id, id);

alter table log_retentions add constraint log_retentions_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);

alter table log_streams add constraint log_streams_account_id_execution_id_fkey FOREIGN KEY (account_id, execution_id) REFERENCES executions(account_id, id);

alter table organizations add constraint organizations_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);

alter table outgoing_mails add constraint outgoing_mails_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);

alter table pipeline_versions add constraint pipeline_versions_account_id_pipeline_id_fkey FOREIGN KEY (account_id, pipeline_id) REFERENCES pipelines(account_id, id);

alter table pipelines add constraint pipelines_account_id_project_id_fkey FOREIGN KEY (account_id, project_id) REFERENCES projects(account_id, id);

alter table projects add constraint projects_account_id_org_identifier_fkey FOREIGN KEY (account_id, org_identifier) REFERENCES organizations(account_id, identifier);

alter table resource_groups add constraint resource_groups_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);
alter table resource_groups add constraint resource_groups_account_id_org_identifier_fkey FOREIGN KEY (account_id, org_identifier) REFERENCES organizations(account_id, identifier);
alter table resource_groups add constraint resource_groups_account_id_org_identifier_project_identifi_fkey FOREIGN KEY (account_id, org_identifier, project_identifier) REFERENCES projects(account_id, org_identifier, identifier);

alter table role_assignments add constraint role_assignments_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);
alter table role_assignments add constraint role_assignments_account_id_org_identifier_fkey FOREIGN KEY (account_id, org_identifier) REFERENCES organizations(account_id, identifier);
alter table role_assignments add constraint role_assignments_account_id_org_identifier_project_identif_fkey FOREIGN KEY (account_id, org_identifier, project_identifier) REFERENCES projects(account_id, org_identifier, identifier);
alter table role_assignments add constraint role_assignments_account_id_resource_group_id_fkey FOREIGN KEY (account_id, resource_group_id) REFERENCES resource_groups(account_id, id);
alter table role_assignments add constraint role_assignments_account_id_role_id_fkey FOREIGN KEY (account_id, role_id) REFERENCES roles(account_id, id);

alter table roles add constraint roles_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);
alter table roles add constraint roles_account_id_org_identifier_fkey FOREIGN KEY (account_id, org_identifier) REFERENCES organizations(account_id, identifier);
alter table roles add constraint roles_account_id_org_identifier_project_identifier_fkey FOREIGN KEY (account_id, org_identifier, project_identifier) REFERENCES projects(account_id, org_identifier, identifier);

alter table secret_chunks add constraint secret_chunks_account_id_content_id_fkey FOREIGN KEY (account_id, content_id) REFERENCES secret_contents(account_id, id) ON DELETE CASCADE;

alter table secret_contents add constraint secret_contents_account_id_manager_id_fkey FOREIGN KEY (account_id, manager_id) REFERENCES secret_managers(account_id, id);
alter table secret_contents add constraint secret_contents_account_id_secret_id_fkey FOREIGN KEY (account_id, secret_id) REFERENCES secrets(account_id, id) ON DELETE CASCADE;

alter table secret_manager_scopes add constraint secret_manager_scopes_account_id_application_id_fkey FOREIGN KEY (account_id, application_id) REFERENCES projects(account_id, id) ON DELETE CASCADE;
alter table secret_manager_scopes add constraint secret_manager_scopes_account_id_environment_id_fkey FOREIGN KEY (account_id, environment_id) REFERENCES environments(account_id, id) ON DELETE CASCADE;
alter table secret_manager_scopes add constraint secret_manager_scopes_account_id_manager_id_fkey FOREIGN KEY (account_id, manager_id) REFERENCES secret_managers(account_id, id) ON DELETE CASCADE;

alter table secret_managers add constraint secret_managers_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);

alter table secret_outputs add constraint secret_outputs_account_id_execution_id_fkey FOREIGN KEY (account_id, execution_id) REFERENCES executions(account_id, id) ON DELETE CASCADE;

alter table secret_scopes add constraint secret_scopes_account_id_application_id_fkey FOREIGN KEY (account_id, application_id) REFERENCES projects(account_id, id) ON DELETE CASCADE;
alter table secret_scopes add constraint secret_scopes_account_id_environment_id_fkey FOREIGN KEY (account_id, environment_id) REFERENCES environments(account_id, id) ON DELETE CASCADE;
alter table secret_scopes add constraint secret_scopes_account_id_secret_id_fkey FOREIGN KEY (account_id, secret_id) REFERENCES secrets(account_id, id) ON DELETE CASCADE;

alter table secret_uses add constraint secret_uses_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);

alter table secrets add constraint secrets_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);
alter table secrets add constraint secrets_account_id_manager_id_fkey FOREIGN KEY (account_id, manager_id) REFERENCES secret_managers(account_id, id);
alter table secrets add constraint secrets_account_id_org_identifier_fkey FOREIGN KEY (account_id, org_identifier) REFERENCES organizations(account_id, identifier);
alter table secrets add constraint secrets_account_id_org_identifier_project_identifier_fkey FOREIGN KEY (account_id, org_identifier, project_identifier) REFERENCES projects(account_id, org_identifier, identifier);

alter table service_accounts add constraint service_accounts_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);
alter table service_accounts add constraint service_accounts_account_id_org_identifier_fkey FOREIGN KEY (account_id, org_identifier) REFERENCES organizations(account_id, identifier);
alter table service_accounts add constraint service_accounts_account_id_org_identifier_project_identif_fkey FOREIGN KEY (account_id, org_identifier, project_identifier) REFERENCES projects(account_id, org_identifier, identifier);

alter table service_uses add constraint service_uses_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);

alter table services add constraint services_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);
alter table services add constraint services_account_id_org_identifier_fkey FOREIGN KEY (account_id, org_identifier) REFERENCES organizations(account_id, identifier);
alter table services add constraint services_account_id_org_identifier_project_identifier_fkey FOREIGN KEY (account_id, org_identifier, project_identifier) REFERENCES projects(account_id, org_identifier, identifier);

alter table sessions add constraint sessions_account_id_user_id_fkey FOREIGN KEY (account_id, user_id) REFERENCES users(account_id, id) ON DELETE CASCADE;

alter table settings add constraint settings_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);
alter table settings add constraint settings_account_id_org_identifier_fkey FOREIGN KEY (account_id, org_identifier) REFERENCES organizations(account_id, identifier);
alter table settings add constraint settings_account_id_org_identifier_project_identifier_fkey FOREIGN KEY (account_id, org_identifier, project_identifier) REFERENCES projects(account_id, org_identifier, identifier);

alter table sign_in_failures add constraint sign_in_failures_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);

alter table sign_ins_taken add constraint sign_ins_taken_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);

alter table smtp_configs add constraint smtp_configs_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);

alter table tasks add constraint tasks_account_id_delegate_id_fkey FOREIGN KEY (account_id, delegate_id) REFERENCES delegates(account_id, id);
alter table tasks add constraint tasks_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);

alter table tokens add constraint tokens_account_id_api_key_id_fkey FOREIGN KEY (account_id, api_key_id) REFERENCES api_keys(account_id, id) ON DELETE CASCADE;

alter table triggers add constraint triggers_account_id_pipeline_id_fkey FOREIGN KEY (account_id, pipeline_id) REFERENCES pipelines(account_id, id);
alter table triggers add constraint triggers_account_id_project_id_fkey FOREIGN KEY (account_id, project_id) REFERENCES projects(account_id, id);

alter table user_group_members add constraint user_group_members_account_id_group_id_fkey FOREIGN KEY (account_id, group_id) REFERENCES user_groups(account_id, id) ON DELETE CASCADE;
alter table user_group_members add constraint user_group_members_account_id_user_id_fkey FOREIGN KEY (account_id, user_id) REFERENCES users(account_id, id) ON DELETE CASCADE;

alter table user_groups add constraint user_groups_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);
alter table user_groups add constraint user_groups_account_id_org_identifier_fkey FOREIGN KEY (account_id, org_identifier) REFERENCES organizations(account_id, identifier);
alter table user_groups add constraint user_groups_account_id_org_identifier_project_identifier_fkey FOREIGN KEY (account_id, org_identifier, project_identifier) REFERENCES projects(account_id, org_identifier, identifier);

alter table user_identities add constraint user_identities_account_id_user_id_fkey FOREIGN KEY (account_id, user_id) REFERENCES users(account_id, id) ON DELETE CASCADE;

alter table users add constraint users_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id);

alter table webhook_deliveries add constraint webhook_deliveries_account_id_execution_id_fkey FOREIGN KEY (account_id, execution_id) REFERENCES executions(account_id, id);
alter table webhook_deliveries add constraint webhook_deliveries_account_id_trigger_id_fkey FOREIGN KEY (account_id, trigger_id) REFERENCES triggers(account_id, id);

CREATE TRIGGER audit_entries_kept BEFORE DELETE OR UPDATE ON public.audit_entries FOR EACH ROW EXECUTE FUNCTION audit_is_kept();

CREATE TRIGGER audit_entries_not_emptied BEFORE TRUNCATE ON public.audit_entries FOR EACH STATEMENT EXECUTE FUNCTION audit_is_kept();

CREATE TRIGGER audit_seals_kept BEFORE DELETE OR UPDATE ON public.audit_seals FOR EACH ROW EXECUTE FUNCTION audit_is_kept();

CREATE TRIGGER audit_seals_not_emptied BEFORE TRUNCATE ON public.audit_seals FOR EACH STATEMENT EXECUTE FUNCTION audit_is_kept();
