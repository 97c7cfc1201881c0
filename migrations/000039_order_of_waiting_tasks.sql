-- 000039_order_of_waiting_tasks.sql · compatible: an older server leases by id, and what it makes comes before the rest

-- What the first task of an execution queues up behind: a pipeline. Null for every later task, which goes first.
alter table tasks add column queue_id uuid;
-- The place in the order: epoch milliseconds, later for each task that waits in the same queue.
alter table tasks add column turn bigint not null default 0;

drop index tasks_ready;
create index tasks_ready on tasks (account_id, (queue_id is null) desc, turn, id) where status = 'ready';
create index tasks_queued on tasks (account_id, queue_id, turn) where status = 'ready';
