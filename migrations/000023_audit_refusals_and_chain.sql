-- 000023_audit_refusals_and_chain.sql · compatible: an older server records changes only, and seals nothing

-- What became of the attempt: `success`, or `refused` with the problem's code, its HTTP status and the permission that
-- was missing. One entry stands for several refused attempts of the same kind.
alter table audit_entries
  add column outcome text not null default 'success',
  add column code text,
  add column status int,
  add column permission text,
  add column attempts int not null default 1,
  -- The transaction that wrote the entry: it tells when no earlier one can come any more.
  add column xid xid8 not null default pg_current_xact_id();
create index audit_entries_in_order on audit_entries (xid, id);
create index audit_entries_refused on audit_entries (account_id, at desc, id desc) where outcome = 'refused';

-- The chain: each seal holds the hash of its entry and, with the seal before it, of all entries up to here.
create table audit_seals (
  account_id uuid   not null references accounts (id),
  sequence   bigint not null,
  entry_id   uuid   not null,
  content    bytea  not null,
  hash       bytea  not null,
  primary key (account_id, sequence)
);
create unique index audit_seals_of_entries on audit_seals (account_id, entry_id);

-- Where the chain of an account ends, and where it begins since the retention cut off what was before.
create table audit_chains (
  account_id   uuid   not null references accounts (id),
  sequence     bigint not null,
  hash         bytea  not null,
  cut_sequence bigint not null default 0,
  cut_hash     bytea  not null,
  primary key (account_id)
);

-- How far the entries of all accounts are sealed, in the order of their transactions; one row, which is the sealers' lock.
create table audit_sealed (
  one boolean primary key default true check (one),
  xid xid8 not null,
  id  uuid not null
);
insert into audit_sealed (xid, id) values ('0', '00000000-0000-0000-0000-000000000000');

-- Nothing of the trail is changed; only the retention takes its oldest part away, and says so in its own transaction.
create function audit_is_kept() returns trigger language plpgsql as $$
begin
  if tg_op <> 'UPDATE' and current_setting('railhead.audit_retention', true) = 'on' then
    return old;
  end if;
  raise exception 'the audit trail is not changed' using errcode = 'restrict_violation';
end $$;
create trigger audit_entries_kept before update or delete on audit_entries
  for each row execute function audit_is_kept();
create trigger audit_entries_not_emptied before truncate on audit_entries
  for each statement execute function audit_is_kept();
create trigger audit_seals_kept before update or delete on audit_seals
  for each row execute function audit_is_kept();
create trigger audit_seals_not_emptied before truncate on audit_seals
  for each statement execute function audit_is_kept();
