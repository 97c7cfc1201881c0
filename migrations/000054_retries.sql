-- 000054_retries.sql · compatible: an older server neither retries nor shows retries

-- An execution that retries another one names it, and the first of the row; the other one names its retry, and has at most one. None of
-- them is a foreign key: the retention may delete any of them.
alter table executions add column retry_root_id uuid;
alter table executions add column retry_parent_id uuid;
alter table executions add column retried_by_id uuid;
create index executions_by_retry_root on executions (account_id, retry_root_id, id) where retry_root_id is not null;
