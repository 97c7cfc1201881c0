import { messageOf } from "../../api/api-error.ts";
import { Link } from "../../ui/link.tsx";
import { Name } from "../../ui/name.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Table, type Column } from "../../ui/table.tsx";
import type { Range } from "./home-search.ts";
import { Measure, MEASURES, useMeasures } from "./measures.tsx";

export type ListedProject = { readonly orgIdentifier: string; readonly identifier: string; readonly name: string };

type MeasuresTableProps = { readonly projects: readonly ListedProject[]; readonly range: Range };

/** The four measures of delivery of each project. */
export function MeasuresTable({ projects, range }: MeasuresTableProps) {
  const columns: readonly Column<ListedProject>[] = [
    {
      key: "project",
      header: "Project",
      isTitle: true,
      cell: ({ orgIdentifier, identifier, name }) => (
        <Link
          look="quiet"
          to="/projects/$org/$project"
          params={{ org: orgIdentifier, project: identifier }}
          search={range === 30 ? {} : { days: range }}
        >
          <Name>{name}</Name>
        </Link>
      ),
    },
    ...MEASURES.map(({ key, label }) => ({
      key,
      header: label,
      cell: (project: ListedProject) => <MeasureCell project={project} range={range} measure={key} />,
    })),
  ];
  return (
    <Table
      label="Measures of delivery"
      columns={columns}
      rows={projects}
      rowKey={({ orgIdentifier, identifier }) => `${orgIdentifier}/${identifier}`}
    />
  );
}

type MeasureCellProps = { readonly project: ListedProject; readonly range: Range; readonly measure: string };

/** The cells of a row share one request. */
function MeasureCell({ project, range, measure }: MeasureCellProps) {
  const scope = { orgIdentifier: project.orgIdentifier, projectIdentifier: project.identifier };
  const { data, error } = useMeasures(scope, range);
  if (error !== null) return measure === MEASURES[0]?.key ? messageOf(error) : null;
  if (data === undefined) return <Skeleton width="60%" />;
  const found = MEASURES.find(({ key }) => key === measure);
  return found ? <Measure {...found.describe(data)} /> : null;
}
