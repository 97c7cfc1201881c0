-- 000038_retention.sql · compatible: yes

-- When the retention deleted the log of an execution, in the row of its whole log.
alter table log_streams add column deleted_at bigint;

-- Logs of executions that ended before are deleted: the sweep goes on from there.
create table log_retentions (
  account_id uuid primary key references accounts (id),
  until bigint not null
);
