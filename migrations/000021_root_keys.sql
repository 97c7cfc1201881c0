-- 000021_root_keys.sql · compatible: an older server goes on with the key that it has; rotate once all are newer

-- The id of the root key under which an account's values are sealed; empty until a server has named it.
alter table accounts add column root_key_id text not null default '';
