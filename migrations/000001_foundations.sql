-- 000001_foundations.sql · compatible: the first schema
--
-- Times are epoch milliseconds (bigint, `*_at`): that is what every interface speaks.
-- Every table carries account_id, and every key that serves a request begins with it.

create table accounts (
  id          uuid   primary key,
  name        text   not null,
  -- A known text sealed with the root key: a server with another key refuses to start.
  key_check   bytea  not null,
  created_at  bigint not null
);

create table users (
  account_id    uuid   not null references accounts (id),
  id            uuid   not null,
  name          text   not null,
  email         text   not null,
  password_hash text   not null,
  -- The one-time password of the first start has to be changed at the first login.
  must_change_password boolean not null,
  role          text   not null check (role in ('_account_admin', '_account_viewer')),
  created_at    bigint not null,
  primary key (account_id, id)
);
create unique index users_by_email on users (account_id, lower(email));
create index users_by_name on users (account_id, name);

-- Personal access tokens. The secret part exists as a hash only.
create table tokens (
  account_id  uuid   not null,
  id          uuid   not null,
  user_id     uuid   not null,
  name        text   not null,
  secret_hash bytea  not null,
  expires_at  bigint,
  created_at  bigint not null,
  primary key (account_id, id),
  foreign key (account_id, user_id) references users (account_id, id)
);
create index tokens_by_user on tokens (account_id, user_id);

create table audit_entries (
  account_id     uuid   not null references accounts (id),
  id             uuid   not null,
  at             bigint not null,
  actor_kind     text   not null,
  actor_id       uuid,
  actor_name     text   not null,
  operation      text   not null,
  resource_type  text   not null,
  resource_id    text   not null,
  org_identifier     text,
  project_identifier text,
  primary key (account_id, id)
);

create table organizations (
  account_id  uuid   not null references accounts (id),
  id          uuid   not null,
  identifier  text   not null,
  name        text   not null,
  description text   not null,
  tags        jsonb  not null,
  version     int    not null,
  created_at  bigint not null,
  updated_at  bigint not null,
  primary key (account_id, id),
  unique (account_id, identifier)
);

create table projects (
  account_id     uuid   not null,
  id             uuid   not null,
  org_identifier text   not null,
  identifier     text   not null,
  name           text   not null,
  color          text   not null,
  description    text   not null,
  tags           jsonb  not null,
  version        int    not null,
  created_at     bigint not null,
  updated_at     bigint not null,
  primary key (account_id, id),
  unique (account_id, org_identifier, identifier),
  foreign key (account_id, org_identifier) references organizations (account_id, identifier)
);

create table connectors (
  account_id         uuid   not null references accounts (id),
  id                 uuid   not null,
  org_identifier     text,
  project_identifier text,
  identifier         text   not null,
  name               text   not null,
  description        text   not null,
  tags               jsonb  not null,
  type               text   not null,
  spec               jsonb  not null,
  version            int    not null,
  created_at         bigint not null,
  updated_at         bigint not null,
  primary key (account_id, id),
  unique nulls not distinct (account_id, org_identifier, project_identifier, identifier)
);

create table pipelines (
  account_id  uuid   not null,
  id          uuid   not null,
  project_id  uuid   not null,
  identifier  text   not null,
  name        text   not null,
  description text   not null,
  tags        jsonb  not null,
  -- The newest row of pipeline_versions.
  version     int    not null,
  created_by  uuid,
  created_at  bigint not null,
  updated_at  bigint not null,
  primary key (account_id, id),
  unique (account_id, project_id, identifier),
  foreign key (account_id, project_id) references projects (account_id, id)
);

-- The YAML as it was sent, once per saved version; a run names the version that it runs.
create table pipeline_versions (
  account_id  uuid   not null,
  pipeline_id uuid   not null,
  version     int    not null,
  yaml        text   not null,
  created_by  uuid,
  created_at  bigint not null,
  primary key (account_id, pipeline_id, version),
  foreign key (account_id, pipeline_id) references pipelines (account_id, id)
);
