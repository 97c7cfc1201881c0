-- 000058_changed_executions.sql · compatible: event streams of projects miss what an older server changes

-- The last transaction that has changed what lists show of the execution. It is not set with other events, so that
-- their updates touch no index.
alter table executions add column changed_xid xid8;
create index executions_by_change on executions (account_id, project_id, changed_xid) where changed_xid is not null;
