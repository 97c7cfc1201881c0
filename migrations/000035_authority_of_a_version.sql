-- 000035_authority_of_a_version.sql · compatible: yes

-- What a server of the former version saves from now on says nothing of its author, who is taken to hold nothing: a trigger
-- runs it once it is saved again. Null stays for what was there before.
alter table pipeline_versions alter column authority set default '[]';
alter table input_sets
  alter column authority set default '[]',
  -- Of which version of the set the authority is; such a server replaces the set and leaves it.
  add column authority_version integer;
update input_sets set authority_version = version;
