-- 000061_invitations.sql · compatible: an older server makes no invitations, and does not accept those of a newer one

-- A link with which a user without a password chooses one. It ends when its row is deleted, or at `expires_at`.
create table invitations (
  account_id uuid not null,
  user_id uuid not null,
  -- SHA-256 of 256 random bits.
  secret_hash bytea not null,
  -- The user or service account that made it.
  created_by uuid not null,
  created_by_kind text not null,
  created_at bigint not null,
  expires_at bigint not null,
  primary key (account_id, user_id),
  unique (account_id, secret_hash),
  foreign key (account_id, user_id) references users (account_id, id) on delete cascade
);
create index invitations_by_expiry on invitations (expires_at);
