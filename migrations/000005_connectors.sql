-- 000005_connectors.sql · compatible: an older server neither reads nor writes what is new, and its inserts fill in the defaults

alter table connectors
  add column status jsonb,
  add column activity_at bigint;
update connectors set activity_at = updated_at;

-- The lists of a scope, in their order.
create index connectors_by_name on connectors (account_id, org_identifier, project_identifier, name, id);

-- Which pipelines name which connectors, so that one in use is not deleted by mistake. A pipeline saved before
-- this table existed enters it with its next change. The connector need not exist.
create table connector_uses (
  account_id uuid not null references accounts (id),
  user_type text not null,
  user_id uuid not null,
  user_org_identifier text,
  user_project_identifier text,
  user_identifier text not null,
  org_identifier text,
  project_identifier text,
  identifier text not null,
  unique nulls not distinct (account_id, user_type, user_id, identifier, org_identifier, project_identifier)
);
create index connector_uses_by_connector on connector_uses (account_id, identifier, org_identifier, project_identifier);
-- For reading one by its key: the unique constraint has the scope, often null, in front.
create index connectors_by_identifier on connectors (account_id, identifier);
