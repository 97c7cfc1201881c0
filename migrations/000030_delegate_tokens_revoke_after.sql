-- 000030_delegate_tokens_revoke_after.sql · compatible: an older server lets such a token live until a newer one has looked

-- When the token ends by itself; null for one that is revoked by hand alone.
alter table delegate_tokens add column revoke_after bigint;
create index delegate_tokens_to_revoke on delegate_tokens (revoke_after)
  where revoke_after is not null and revoked_at is null;
