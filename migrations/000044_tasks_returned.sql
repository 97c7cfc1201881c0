-- 000044_tasks_returned.sql · compatible: yes

-- How often a delegate has given the task back before it started.
alter table tasks add column returns integer not null default 0;
-- Why the delegate takes no tasks now, after its name; null while it does.
alter table delegates add column unavailable text;
