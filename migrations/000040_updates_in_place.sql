-- 000040_updates_in_place.sql · compatible: storage parameters only

-- Room on each page for the next version of a row: an update that changes no indexed column then touches no index (HOT).
-- The state of an execution changes with every step, its status and times mostly once, at its end.
alter table executions set (fillfactor = 60);
alter table tasks set (fillfactor = 80);
alter table delegates set (fillfactor = 60);
