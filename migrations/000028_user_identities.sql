-- 000028_user_identities.sql · compatible: new tables only

-- Whom an identity provider means: by its issuer and its subject, which do not change hands as an e-mail address does.
create table user_identities (
  account_id   uuid   not null,
  id           uuid   not null,
  user_id      uuid   not null,
  issuer       text   not null,
  subject      text   not null,
  linked_at    bigint not null,
  last_used_at bigint,
  primary key (account_id, id),
  unique (account_id, issuer, subject),
  foreign key (account_id, user_id) references users (account_id, id) on delete cascade
);
create index user_identities_by_user on user_identities (account_id, user_id);

-- Whom an administrator lets be linked once by a verified e-mail address, until when.
create table identity_links_allowed (
  account_id uuid   not null,
  user_id    uuid   not null,
  until      bigint not null,
  primary key (account_id, user_id),
  foreign key (account_id, user_id) references users (account_id, id) on delete cascade
);

-- Answers of the provider that were taken: each counts once, on whichever replica. Kept as long as one could be repeated.
create table sign_ins_taken (
  account_id uuid   not null references accounts (id),
  state_hash bytea  not null,
  until      bigint not null,
  primary key (account_id, state_hash)
);
