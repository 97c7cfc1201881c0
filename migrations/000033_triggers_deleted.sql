-- 000033_triggers_deleted.sql · compatible: old servers find no webhook that is gone, and cannot create triggers until they are replaced

-- A deleted trigger stays as the name of what was delivered to it; its token is gone, and its identifier is free.
alter table triggers add column deleted_at bigint;
alter table triggers alter column token_hash drop not null;
alter table triggers alter column token_sealed drop not null;
alter table triggers add constraint triggers_token_of_live check (
  num_nulls(token_hash, token_sealed) = case when deleted_at is null then 0 else 2 end
);
alter table triggers drop constraint triggers_account_id_pipeline_id_identifier_key;
create unique index triggers_by_identifier on triggers (account_id, pipeline_id, identifier) where deleted_at is null;
create index triggers_by_pipeline on triggers (account_id, pipeline_id);

-- Lists show the last delivery of each.
drop index webhook_deliveries_by_trigger;
create index webhook_deliveries_by_trigger on webhook_deliveries (account_id, trigger_id, id);
