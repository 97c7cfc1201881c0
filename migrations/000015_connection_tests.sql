-- 000015_connection_tests.sql · compatible: a new table that an older server does not know

-- A test of a connection that a delegate carries out; a task's run is its id. Kept for a while after its end, so that
-- whichever replica was asked can read what came of it.
create table connection_tests (
  account_id uuid not null references accounts (id),
  id uuid not null,
  connector_id uuid not null,
  connector_version integer not null,
  selectors text[] not null,
  created_at bigint not null,
  deadline_at bigint not null,
  ended_at bigint,
  result jsonb,
  primary key (account_id, id),
  check ((ended_at is null) = (result is null))
);
-- One at a time: who asks for another meanwhile gets the same answer.
create unique index connection_tests_open on connection_tests (account_id, connector_id, connector_version) where ended_at is null;
create index connection_tests_due on connection_tests (deadline_at) where ended_at is null;
create index connection_tests_ended on connection_tests (ended_at) where ended_at is not null;
