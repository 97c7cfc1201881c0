-- 000022_service_accounts.sql · compatible: no, tokens belong to keys: an older server accepts no token any more

-- Who acts in the place of a person: pipelines, provisioning, other programs. It lives in the account, in an
-- organization or in a project, and goes with it.
create table service_accounts (
  account_id         uuid   not null references accounts (id),
  id                 uuid   not null,
  org_identifier     text,
  project_identifier text,
  identifier         text   not null,
  name               text   not null,
  email              text   not null,
  description        text   not null,
  tags               jsonb  not null,
  created_at         bigint not null,
  updated_at         bigint not null,
  primary key (account_id, id),
  unique nulls not distinct (account_id, org_identifier, project_identifier, identifier),
  foreign key (account_id, org_identifier) references organizations (account_id, identifier),
  foreign key (account_id, org_identifier, project_identifier)
    references projects (account_id, org_identifier, identifier)
);

-- A key holds tokens: of a person, or of a service account. Whoever goes takes keys and tokens along.
create table api_keys (
  account_id         uuid   not null references accounts (id),
  id                 uuid   not null,
  user_id            uuid,
  service_account_id uuid,
  parent_id          uuid   not null generated always as (coalesce(user_id, service_account_id)) stored,
  identifier         text   not null,
  name               text   not null,
  description        text   not null,
  tags               jsonb  not null,
  -- What a token gets that names no end of its own; null: none.
  default_expire_ms  bigint,
  created_at         bigint not null,
  updated_at         bigint not null,
  primary key (account_id, id),
  unique (account_id, parent_id, identifier),
  check ((user_id is null) <> (service_account_id is null)),
  foreign key (account_id, user_id) references users (account_id, id) on delete cascade,
  foreign key (account_id, service_account_id) references service_accounts (account_id, id) on delete cascade
);
create index api_keys_by_user on api_keys (account_id, user_id) where user_id is not null;
create index api_keys_by_service_account on api_keys (account_id, service_account_id) where service_account_id is not null;

-- The tokens that there are keep their text: their people get a key for them.
insert into api_keys (account_id, id, user_id, identifier, name, description, tags, created_at, updated_at)
  select u.account_id, uuidv7(), u.id, 'first_start', 'first start', '', '{}', u.created_at, u.created_at
    from users u where exists (select 1 from tokens t where t.account_id = u.account_id and t.user_id = u.id);

alter table tokens rename column expires_at to valid_to_at;
alter table tokens
  add column api_key_id       uuid,
  add column identifier       text,
  add column description      text   not null default '',
  add column tags             jsonb  not null default '{}',
  add column valid_from_at    bigint,
  -- The earlier end that a rotation or its owner has set.
  add column scheduled_end_at bigint,
  -- The token that rotations began with; itself for one that was never rotated.
  add column family_id        uuid,
  -- The token that a rotation has made in its place; null for the one that counts.
  add column replaced_by      uuid,
  add column updated_at       bigint;
update tokens t
   set api_key_id = k.id, valid_from_at = t.created_at, updated_at = t.created_at, family_id = t.id,
       identifier = case when t.id = (select f.id from tokens f where f.account_id = t.account_id and f.user_id = t.user_id
                                       order by f.created_at, f.id limit 1)
                         then 'first_start' else 'token_' || replace(t.id::text, '-', '') end
  from api_keys k where k.account_id = t.account_id and k.user_id = t.user_id;
alter table tokens
  alter column api_key_id set not null,
  alter column identifier set not null,
  alter column description drop default,
  alter column tags drop default,
  alter column valid_from_at set not null,
  alter column family_id set not null,
  alter column updated_at set not null,
  drop column user_id,
  add foreign key (account_id, api_key_id) references api_keys (account_id, id) on delete cascade,
  add unique (account_id, api_key_id, identifier);
create index tokens_by_family on tokens (account_id, family_id);
