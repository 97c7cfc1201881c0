-- 000060_log_lines.sql · compatible: what an older server appends is counted when its lines are read

-- Line feeds in the log of the node before the chunk. Null if it was not counted: its line feeds are counted the first
-- time that lines of the log are read. Counting them here would read all logs while no server runs.
alter table log_chunks add column node_lines bigint;

-- Of the log of a node: the line feeds in its first `counted` bytes, and whether the log ends inside a line. A log is
-- counted if `counted` equals `bytes`. An older server adds to `bytes` alone.
alter table log_streams
  add column lines bigint not null default 0,
  add column counted bigint not null default 0,
  add column open_line boolean not null default false;
