-- 000008_secrets.sql · compatible: new tables only

-- What wraps the data keys of secrets. The one that every account begins with has the account's own id.
create table secret_managers (
  account_id  uuid   not null references accounts (id),
  id          uuid   not null,
  identifier  text   not null,
  name        text   not null,
  kind        text   not null check (kind in ('platform')),
  version     int    not null,
  created_at  bigint not null,
  updated_at  bigint not null,
  primary key (account_id, id),
  unique (account_id, identifier),
  unique (account_id, name)
);

-- Where a manager's secrets may be used: one row for each pair of application and environment.
create table secret_manager_scopes (
  account_id     uuid not null,
  manager_id     uuid not null,
  nth            int  not null,
  -- Null: all applications.
  application_id uuid,
  -- Either one environment or all of a kind.
  environment_id uuid,
  environments   text check (environments in ('PRODUCTION_ENVIRONMENTS', 'NON_PRODUCTION_ENVIRONMENTS')),
  primary key (account_id, manager_id, nth),
  check (num_nonnulls(environment_id, environments) = 1),
  foreign key (account_id, manager_id) references secret_managers (account_id, id) on delete cascade,
  -- An entry that names an application goes with it.
  foreign key (account_id, application_id) references projects (account_id, id) on delete cascade
);
create index secret_manager_scopes_by_application on secret_manager_scopes (account_id, application_id);

create table secrets (
  account_id         uuid    not null references accounts (id),
  id                 uuid    not null,
  org_identifier     text,
  project_identifier text,
  identifier         text    not null,
  name               text    not null,
  description        text    not null,
  tags               jsonb   not null,
  type               text    not null check (type in ('ENCRYPTED_TEXT', 'ENCRYPTED_FILE')),
  manager_id         uuid    not null,
  -- True: runs are held to the manager's scope; false: to the rows of secret_scopes, and without any no run may use it.
  inherits_scope     boolean not null,
  scoped_to_account  boolean not null,
  version            int     not null,
  created_at         bigint  not null,
  updated_at         bigint  not null,
  primary key (account_id, id),
  unique nulls not distinct (account_id, org_identifier, project_identifier, identifier),
  foreign key (account_id, manager_id) references secret_managers (account_id, id)
);
-- Secrets of the account are found by name too.
create unique index secrets_by_name on secrets (account_id, name) where org_identifier is null;
create index secrets_by_manager on secrets (account_id, manager_id);

create table secret_scopes (
  account_id     uuid not null,
  secret_id      uuid not null,
  nth            int  not null,
  application_id uuid,
  environment_id uuid,
  environments   text check (environments in ('PRODUCTION_ENVIRONMENTS', 'NON_PRODUCTION_ENVIRONMENTS')),
  primary key (account_id, secret_id, nth),
  check (num_nonnulls(environment_id, environments) = 1),
  foreign key (account_id, secret_id) references secrets (account_id, id) on delete cascade,
  foreign key (account_id, application_id) references projects (account_id, id) on delete cascade
);
create index secret_scopes_by_application on secret_scopes (account_id, application_id);

-- What a secret holds at present, sealed with a data key of its own (docs/decisions/0009).
create table secret_contents (
  account_id  uuid   not null,
  id          uuid   not null,
  secret_id   uuid   not null,
  -- Who wrapped the data key, and with which of its keys.
  manager_id  uuid   not null,
  key_id      text   not null,
  wrapped_key bytea  not null,
  size        int    not null,
  created_at  bigint not null,
  primary key (account_id, id),
  unique (account_id, secret_id),
  foreign key (account_id, secret_id) references secrets (account_id, id) on delete cascade,
  foreign key (account_id, manager_id) references secret_managers (account_id, id)
);
create index secret_contents_by_key on secret_contents (account_id, manager_id, key_id);

create table secret_chunks (
  account_id uuid  not null,
  content_id uuid  not null,
  nth        int   not null,
  sealed     bytea not null,
  primary key (account_id, content_id, nth),
  foreign key (account_id, content_id) references secret_contents (account_id, id) on delete cascade
);

insert into secret_managers (account_id, id, identifier, name, kind, version, created_at, updated_at)
  select id, id, 'platformSecretManager', 'Platform Secrets Manager', 'platform', 1, created_at, created_at from accounts;
insert into secret_manager_scopes (account_id, manager_id, nth, environments)
  select id, id, 0, 'PRODUCTION_ENVIRONMENTS' from accounts
  union all
  select id, id, 1, 'NON_PRODUCTION_ENVIRONMENTS' from accounts;
