-- 000052_approval_instances.sql · compatible: an older server runs no execution with approvals

-- One row for each attempt of a step that waits, or waited, for approval. Who acted is in `actors`, in the order of the activities.
create table approval_instances (
  account_id   uuid not null,
  id           uuid not null,
  execution_id uuid not null,
  node_id      uuid not null,
  status       text not null,
  request      json not null,
  activities   json not null,
  actors       uuid[] not null,
  error        text,
  created_at   bigint not null,
  updated_at   bigint not null,
  primary key (account_id, id),
  foreign key (account_id, execution_id) references executions (account_id, id) on delete cascade
);
create index approval_instances_by_execution on approval_instances (account_id, execution_id, id);
create unique index approval_instances_waiting on approval_instances (account_id, execution_id, node_id) where status = 'WAITING';
