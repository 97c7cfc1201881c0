-- 000002_delegates.sql · compatible: new tables only

create table delegate_tokens (
  account_id  uuid   not null references accounts (id),
  id          uuid   not null,
  name        text   not null,
  secret_hash bytea  not null,
  created_by  uuid,
  created_at  bigint not null,
  revoked_at  bigint,
  primary key (account_id, id),
  unique (account_id, name)
);

create table delegates (
  account_id    uuid   not null references accounts (id),
  id            uuid   not null,
  token_id      uuid   not null,
  name          text   not null,
  -- What the delegate's work folder proves: another folder is another delegate.
  identity_hash bytea  not null,
  tags          text[] not null,
  host          text   not null,
  version       text   not null,
  -- Changes with each boot of its machine; tells whether its journal can be trusted.
  boot_id       text   not null,
  slots         int    not null,
  seen_at       bigint not null,
  created_at    bigint not null,
  primary key (account_id, id),
  unique (account_id, name),
  foreign key (account_id, token_id) references delegate_tokens (account_id, id)
);
create index delegates_by_token on delegates (account_id, token_id);

-- One unit of work for a delegate. `run_id`, `node_id` and `attempt` belong to
-- whoever asked for it; delegates only hand them back.
create table tasks (
  account_id   uuid   not null references accounts (id),
  id           uuid   not null,
  run_id       uuid   not null,
  node_id      uuid   not null,
  attempt      int    not null,
  status       text   not null check (status in ('ready', 'leased', 'finished')),
  -- Counts leases. A message with another epoch changes nothing (law 3).
  epoch        int    not null,
  delegate_id  uuid,
  selectors    text[] not null,
  work         json   not null,
  cancelling   boolean not null default false,
  -- Bytes of output that are committed.
  log_offset   bigint not null default 0,
  created_at   bigint not null,
  leased_at    bigint,
  finished_at  bigint,
  primary key (account_id, id),
  unique (account_id, run_id, node_id, attempt),
  foreign key (account_id, delegate_id) references delegates (account_id, id),
  check ((status = 'ready') = (delegate_id is null) or status = 'finished')
);
create index tasks_ready on tasks (account_id, id) where status = 'ready';
create index tasks_leased on tasks (account_id, delegate_id) where status = 'leased';
