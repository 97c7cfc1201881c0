-- 000049_kinds_of_work.sql · compatible: an older server sends work of any kind to any delegate; run new kinds once all are newer

-- Kind and version of the task's work, as in http/1.
alter table tasks add column capability text not null default 'shell/1';
-- What the delegate can run. Delegates that do not tell it can run these.
alter table delegates add column capabilities text[] not null default '{shell/1,connection/1}';
