import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { addressOf } from "../../../api/address.ts";
import { ApiError, messageOf } from "../../../api/api-error.ts";
import { send } from "../../../api/client.ts";
import { operation as describeOperation } from "../../../api/operation.ts";
import { currentSession } from "../../../api/session.ts";
import { CopyAs } from "../../../components/copy-as.tsx";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { Code, CodeBlock } from "../../../ui/code-block.tsx";
import { FormField, FormLayout } from "../../../ui/form-field.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { PageHeader } from "../../../ui/page-header.tsx";
import { TextArea } from "../../../ui/text-area.tsx";
import { TextField } from "../../../ui/text-field.tsx";
import { ACCOUNT_PARAMETERS, exampleBody, type ApiOperation, type Parameter } from "./described.ts";
import styles from "./operation-view.module.css";

type Values = Readonly<Record<string, string>>;

/** One operation: what it needs and answers, and a form that sends it. */
export function OperationView({ operation }: { readonly operation: ApiOperation }) {
  const { id, method, path, summary, description, responses } = operation;
  const parameters = (operation.parameters ?? []).filter(
    ({ name, in: place }) => place !== "header" && !ACCOUNT_PARAMETERS.has(name),
  );
  const example = exampleBody(operation);
  const [values, setValues] = useState<Values>({});
  const [body, setBody] = useState(example?.text ?? "");
  const account =
    operation.parameters?.find(({ name, in: place }) => place === "query" && ACCOUNT_PARAMETERS.has(name))?.name ??
    null;
  const target = describeOperation<Values, Values, string, unknown>(id, method, path, null, account);
  const parts = { path: pick(parameters, "path", values), query: pick(parameters, "query", values) };
  const hasBody = example !== undefined && body !== "";
  const call = useMutation({
    mutationFn: () => sendNow(target, { ...parts, ...(hasBody ? { body } : {}) }, example?.type),
  });
  const isForm = example?.type.startsWith("multipart/") === true;
  return (
    <article className={styles.operation}>
      <PageHeader
        level={2}
        title={summary ?? id}
        status={<Badge>{id}</Badge>}
        meta={
          <>
            <Code>{`${method} ${path}`}</Code>{" "}
            {operation["x-permission"] !== undefined && <>needs {operation["x-permission"]}</>}
          </>
        }
        actions={
          <CopyAs requests={[{ label: summary ?? id, operation: target, ...parts, ...(hasBody ? { body } : {}) }]} />
        }
      />
      {description !== undefined && <Description text={description} />}
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          call.mutate();
        }}
      >
        <FormLayout>
          {parameters.map((parameter) => (
            <FormField
              key={parameter.name}
              label={parameter.name}
              required={parameter.required}
              hint={hintOf(parameter)}
            >
              <TextField
                mono
                value={values[parameter.name] ?? ""}
                onChange={(event) => setValues({ ...values, [parameter.name]: event.target.value })}
              />
            </FormField>
          ))}
          {example !== undefined && !isForm && (
            <FormField label={`Body (${example.type})`} required={operation.requestBody?.required}>
              <TextArea mono rows={10} value={body} onChange={(event) => setBody(event.target.value)} />
            </FormField>
          )}
        </FormLayout>
        {isForm ? (
          <Notice>Forms with files are sent by a script: see the description.</Notice>
        ) : (
          <Button type="submit" variant={method === "GET" ? "primary" : "danger"} icon="play" busy={call.isPending}>
            {method === "GET" ? "Send" : `Send ${method}, which changes data`}
          </Button>
        )}
      </form>
      <Answer
        result={call.data}
        error={call.error}
        address={addressOf(target, { ...parts, accountId: currentSession().accountIdentifier })}
      />
      <h3 className={styles.heading}>Answers</h3>
      <ul className={styles.answers}>
        {Object.entries(responses).map(([status, answer]) => (
          <li key={status}>
            <Code>{status}</Code> {answer.description ?? ""}
          </li>
        ))}
      </ul>
    </article>
  );
}

type Result = { readonly status: number; readonly text: string };

async function sendNow(
  target: Parameters<typeof send>[0],
  parts: Parameters<typeof send>[1],
  type: string | undefined,
): Promise<Result> {
  try {
    const answer = await send(target, parts, type === undefined ? {} : { contentType: type });
    return { status: answer.status, text: laidOut(await answer.text()) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { status, code, message, correlationId, faults } = error;
    return { status, text: JSON.stringify({ code, message, correlationId, faults }, undefined, 2) };
  }
}

function Answer({
  result,
  error,
  address,
}: {
  readonly result: Result | undefined;
  readonly error: unknown;
  readonly address: string;
}) {
  if (error !== null) return <Notice tone="failed">{messageOf(error)}</Notice>;
  if (result === undefined) return <p className={styles.address}>{address}</p>;
  return (
    <section aria-label="Answer" aria-live="polite">
      <p className={styles.address}>
        {result.status} {address}
      </p>
      <CodeBlock label="Answer" code={result.text} maxHeight="30rem" />
    </section>
  );
}

/** The paragraphs of a description, with code between backquotes. */
function Description({ text }: { readonly text: string }) {
  return text.split(/\n{2,}/).map((paragraph, index) => (
    // The paragraphs of a text keep their order.
    <p key={index} className={styles.paragraph}>
      {paragraph.split("`").map((part, at) => (at % 2 === 1 ? <Code key={at}>{part}</Code> : part))}
    </p>
  ));
}

const pick = (parameters: readonly Parameter[], place: "path" | "query", values: Values): Values =>
  Object.fromEntries(
    parameters
      .filter(({ name, in: where }) => where === place && (values[name] ?? "") !== "")
      .map(({ name }) => [name, values[name] ?? ""]),
  );

function hintOf({ description, schema }: Parameter): string | undefined {
  const choices = schema.enum === undefined ? "" : `One of ${schema.enum.join(", ")}.`;
  const hint = [description ?? "", choices].filter((part) => part !== "").join(" ");
  return hint === "" ? undefined : hint;
}

const MOST_SHOWN = 300_000;

function laidOut(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2).slice(0, MOST_SHOWN);
  } catch {
    return text.slice(0, MOST_SHOWN);
  }
}
