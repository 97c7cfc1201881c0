-- 000024_sessions.sql · compatible: new tables only

-- Who is signed in, where. The cookie's secret exists as a hash only.
create table sessions (
  account_id     uuid   not null,
  id             uuid   not null,
  user_id        uuid   not null,
  secret_hash    bytea  not null,
  method         text   not null check (method in ('PASSWORD', 'OPENID_CONNECT')),
  remote_address text   not null,
  user_agent     text   not null,
  created_at     bigint not null,
  -- Written now and then, not with every request.
  last_seen_at   bigint not null,
  -- The end that no activity puts off.
  expires_at     bigint not null,
  primary key (account_id, id),
  foreign key (account_id, user_id) references users (account_id, id) on delete cascade
);
create index sessions_by_user on sessions (account_id, user_id);

-- Failed attempts to sign in by whom they count against: a person from an address, an address, a person from anywhere,
-- a browser that is known. The subject is a hash: the table lists no people and no addresses.
create table sign_in_failures (
  account_id    uuid   not null references accounts (id),
  subject       text   not null,
  failures      int    not null,
  -- No attempt is looked at before.
  blocked_until bigint not null,
  last_at       bigint not null,
  primary key (account_id, subject)
);
