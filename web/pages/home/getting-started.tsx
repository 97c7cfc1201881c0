import { useQuery } from "@tanstack/react-query";
import { dataQuery } from "../../api/client.ts";
import { environmentList, executionList, pipelineList, serviceList } from "../../api/operations.gen.ts";
import type { Scope } from "../../api/permissions.ts";
import { projectPath } from "../../api/recent-project.ts";
import { Card } from "../../ui/card.tsx";
import { Icon } from "../../ui/icon.tsx";
import { PathLink } from "../../ui/link.tsx";
import styles from "./home.module.css";

/** What to do in a new project, with what is done already. It disappears with the first execution. */
export function GettingStarted({ scope }: { readonly scope: Required<Scope> }) {
  const query = { ...scope, size: 1 };
  const executions = useQuery(dataQuery(executionList, { query: { ...scope, size: 1 } }));
  const hasRun = executions.data === undefined || executions.data.content.length > 0;
  const pipelines = useQuery({ ...dataQuery(pipelineList, { query }), enabled: !hasRun });
  const environments = useQuery({ ...dataQuery(environmentList, { query }), enabled: !hasRun });
  const services = useQuery({ ...dataQuery(serviceList, { query }), enabled: !hasRun });
  if (hasRun || pipelines.data === undefined || environments.data === undefined || services.data === undefined)
    return null;
  const base = projectPath({ org: scope.orgIdentifier, project: scope.projectIdentifier });
  const steps = [
    { done: services.data.totalItems > 0, path: "services", text: "Name the service that you deliver" },
    {
      done: environments.data.totalItems > 0,
      path: "environments",
      text: "Name the environment to which it is deployed",
    },
    { done: pipelines.data.totalElements > 0, path: "pipelines", text: "Write the first pipeline" },
    { done: false, path: "pipelines", text: "Run it" },
  ];
  return (
    <Card title="Getting started" description="A first deployment in four steps.">
      <ol className={styles.steps}>
        {steps.map(({ done, path, text }) => (
          <li key={text} className={styles.step}>
            <Icon name={done ? "check-circle" : "chevron-right"} label={done ? "Done" : "To do"} />
            {done ? <span className={styles.done}>{text}</span> : <PathLink path={`${base}/${path}`}>{text}</PathLink>}
          </li>
        ))}
      </ol>
    </Card>
  );
}
