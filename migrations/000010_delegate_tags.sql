-- 000010_delegate_tags.sql · compatible: new columns with defaults; an older server does not know edited tags

-- What the delegate declared when it connected last; `tags` is what counts. A declaration that
-- differs from the last one replaces edited tags, the same one leaves them alone.
alter table delegates add column declared_tags text[] not null default '{}';
update delegates set declared_tags = tags;

-- A deleted token keeps its row, since delegates and their history refer to it; its name is free again.
alter table delegate_tokens add column deleted_at bigint;
alter table delegate_tokens drop constraint delegate_tokens_account_id_name_key;
create unique index delegate_tokens_by_name on delegate_tokens (account_id, name) where deleted_at is null;
