-- 000057_queued_starts.sql · compatible: an older server queues no execution, and leaves queued ones to others

-- Of an execution that waits for its start because of a limit: what it takes over from another one.
alter table executions add column start_event json;
