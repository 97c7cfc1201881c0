-- 000055_selected_stages.sql · compatible: an older server runs all stages, and shows none as selected

-- The stages that an execution takes, in the order of the pipeline, and what was given for those that it leaves out; null if it takes all.
alter table executions add column selected_stages text[];
alter table executions add column expression_values json;
-- Whether the pipeline allowed it. Nothing else is known of earlier ones: the field was refused.
alter table executions add column allow_stage_executions boolean not null default false;
