-- 000043_log_times.sql · compatible: an older server inserts chunks without a time, which are shown without one

-- When the server took the chunk, in epoch milliseconds. Every line that begins in the chunk is shown with this time.
alter table log_chunks add column at bigint;
