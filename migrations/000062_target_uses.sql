-- 000062_target_uses.sql · compatible: an older server neither reads nor writes them; what it saves meanwhile is not noted

-- Which pipelines name which services and environments.
create table service_uses (
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
create index service_uses_by_service on service_uses (account_id, identifier, org_identifier, project_identifier);

create table environment_uses (
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
create index environment_uses_by_environment on environment_uses (account_id, identifier, org_identifier, project_identifier);

-- Of the newest versions, by their text; the next save reads the document instead.
create temporary table named_targets on commit drop as
select p.account_id, p.id, a.org_identifier, a.identifier as project_identifier, p.identifier, found.match[1] as field,
       found.match[2] as reference
  from pipelines p
  join projects a on a.account_id = p.account_id and a.id = p.project_id
  join pipeline_versions v on v.account_id = p.account_id and v.pipeline_id = p.id and v.version = p.version
  cross join lateral regexp_matches(v.yaml,
    '\m(serviceRef|environmentRef)["'']?[ \t]*:[ \t]*["'']?((?:account\.|org\.)?[a-zA-Z_][0-9a-zA-Z_$-]{0,127})(?=["'' \t\r\n,}\]]|$)', 'g') as found (match)
 where p.deleted_at is null;

insert into service_uses
select distinct account_id, 'PIPELINE', id, org_identifier, project_identifier, identifier,
       case when reference like 'account.%' then null else org_identifier end,
       case when reference like '%.%' then null else project_identifier end,
       regexp_replace(reference, '^(account|org)\.', '')
  from named_targets where field = 'serviceRef';

insert into environment_uses
select distinct account_id, 'PIPELINE', id, org_identifier, project_identifier, identifier,
       case when reference like 'account.%' then null else org_identifier end,
       case when reference like '%.%' then null else project_identifier end,
       regexp_replace(reference, '^(account|org)\.', '')
  from named_targets where field = 'environmentRef';
