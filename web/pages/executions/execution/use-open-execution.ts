import { useNavigate } from "@tanstack/react-router";
import { useProjectScope } from "../../../routes/scope.ts";

/** Opens the page of an execution that was just started. */
export function useOpenExecution(): (execution: string) => void {
  const { orgIdentifier: org, projectIdentifier: project } = useProjectScope();
  const navigate = useNavigate();
  return (execution) =>
    void navigate({ to: "/projects/$org/$project/executions/$execution", params: { org, project, execution } });
}
