-- 000059_replayed_deliveries.sql · compatible: an older server stores no replays, and processes stored ones as events

-- The correlation id of the delivery that this one repeats; that one may have been deleted since.
alter table webhook_deliveries add column replay_of text;
