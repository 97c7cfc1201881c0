-- 000053_execution_locks.sql · compatible: an older server runs no execution with locks

-- One row for each node that waits for a lock, or waited for it and whose holder has not ended. `kind`: `step` for a step of the type
-- Queue, `stage` for a stage that waits for its infrastructure; their keys are apart. `turn` is the order of the requests. `around`: the
-- node and all nodes around it. `answered_at`: the execution has been told of the grant.
create table execution_locks (
  account_id   uuid not null,
  turn         bigint generated always as identity,
  kind         text not null,
  key          text not null,
  execution_id uuid not null,
  node_id      uuid not null,
  holder_id    uuid not null,
  around       uuid[] not null,
  requested_at bigint not null,
  granted_at   bigint,
  answered_at  bigint,
  primary key (account_id, turn),
  foreign key (account_id, execution_id) references executions (account_id, id) on delete cascade
);
create index execution_locks_by_execution on execution_locks (account_id, execution_id);
create index execution_locks_waiting on execution_locks (account_id, kind, key, turn) where granted_at is null;
create index execution_locks_granted on execution_locks (account_id, kind, key) where granted_at is not null;
