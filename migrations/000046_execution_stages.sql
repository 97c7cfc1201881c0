-- 000046_execution_stages.sql · compatible: what an older server writes lacks the columns, and is completed when it is read

-- What lists show of a run's stages (src/executions/stage.ts), so that no list reads a plan, a state or a payload: the
-- stages as the plan has them, written once, and their states, written with each state. json, as the plan: values of
-- variables may hold \u0000. Both are null for runs of an older server and for quarantined ones. Filling them here would
-- parse every plan while no server runs; instead the first read of such a run parses its plan and saves them.
alter table executions add column stages json, add column stage_states json;

-- The greatest id of a node. By it the run of a node is found without looking into the plans of the others.
alter table executions add column last_node_id uuid;
