-- 000007_environments.sql · compatible: new tables only

-- Environments and services: what pipelines name. They live in an account, an organization or a project;
-- a foreign key with a null in it is not checked, so each holds where it applies.
create table environments (
  account_id         uuid   not null references accounts (id),
  id                 uuid   not null,
  org_identifier     text,
  project_identifier text,
  identifier         text   not null,
  name               text   not null,
  description        text   not null,
  tags               jsonb  not null,
  type               text   not null check (type in ('Production', 'PreProduction')),
  color              text   not null,
  yaml               text   not null,
  version            int    not null,
  created_at         bigint not null,
  updated_at         bigint not null,
  primary key (account_id, id),
  unique nulls not distinct (account_id, org_identifier, project_identifier, identifier),
  foreign key (account_id, org_identifier) references organizations (account_id, identifier),
  foreign key (account_id, org_identifier, project_identifier)
    references projects (account_id, org_identifier, identifier)
);

create table services (
  account_id         uuid   not null references accounts (id),
  id                 uuid   not null,
  org_identifier     text,
  project_identifier text,
  identifier         text   not null,
  name               text   not null,
  description        text   not null,
  tags               jsonb  not null,
  yaml               text   not null,
  version            int    not null,
  created_at         bigint not null,
  updated_at         bigint not null,
  primary key (account_id, id),
  unique nulls not distinct (account_id, org_identifier, project_identifier, identifier),
  foreign key (account_id, org_identifier) references organizations (account_id, identifier),
  foreign key (account_id, org_identifier, project_identifier)
    references projects (account_id, org_identifier, identifier)
);
