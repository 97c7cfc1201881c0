-- 000050_mail.sql · compatible: an older server sends no mails and does not know the configuration

-- The mail server of an account.
create table smtp_configs (
  account_id      uuid not null primary key references accounts (id),
  name            text not null,
  host            text not null,
  port            integer not null,
  from_address    text,
  security        text not null check (security in ('tls', 'starttls', 'none')),
  username        text,
  password_sealed bytea,
  version         integer not null,
  created_at      bigint not null,
  updated_at      bigint not null,
  check ((username is null) = (password_sealed is null)),
  check (username is null or security <> 'none')
);

-- Mails that wait to be sent or are being sent. A row is deleted with the end of its mail.
create table outgoing_mails (
  account_id         uuid not null references accounts (id),
  id                 uuid not null,
  execution_id       uuid not null,
  node_id            uuid not null,
  org_identifier     text not null,
  project_identifier text not null,
  to_addresses       text[] not null,
  cc_addresses       text[] not null,
  to_groups          text[] not null,
  cc_groups          text[] not null,
  subject            text not null,
  body               text not null,
  fire_and_forget    boolean not null,
  -- What is wrong with the mail; then it has no recipients and no text.
  fault              text,
  created_at         bigint not null,
  deadline_at        bigint not null,
  tries              integer not null default 0,
  next_try_at        bigint not null,
  last_error         text,
  -- The try that is under way. After `claimed_until` its replica is taken to have died.
  claim_id           uuid,
  claimed_until      bigint,
  -- Whether the try has begun to send the message; from then on a lost reply means that the outcome is unknown.
  delivering         boolean not null default false,
  primary key (account_id, id),
  check ((claim_id is null) = (claimed_until is null)),
  check (claim_id is not null or not delivering)
);
-- A step waits for one mail at a time.
create unique index outgoing_mails_awaited on outgoing_mails (account_id, execution_id, node_id) where not fire_and_forget;
create index outgoing_mails_due on outgoing_mails (coalesce(claimed_until, next_try_at));
