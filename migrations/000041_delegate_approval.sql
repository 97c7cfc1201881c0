-- 000041_delegate_approval.sql · compatible: an older server takes waiting and deleted delegates for enabled ones; turn approval on once all are newer

-- A deleted delegate keeps its row, for the executions that it ran. Its name is free again.
alter table delegates add column status text not null default 'ENABLED'
  check (status in ('ENABLED', 'WAITING_FOR_APPROVAL', 'DELETED'));
alter table delegates drop constraint delegates_account_id_name_key;
create unique index delegates_by_name on delegates (account_id, name) where status <> 'DELETED';
create index delegates_deleted on delegates (account_id, identity_hash) where status = 'DELETED';
