/**
 * The explorer: sends what is typed to the endpoint beside it, with the key that is typed or, without one, by the
 * session of whoever is signed in. The key lives in its input and nowhere else.
 */
import { INTROSPECTION, showSchema } from "./docs.js";
import { curlOf, samples } from "./samples.js";

const at = (id) => document.getElementById(id);
const [key, account, sample, query, variables] = ["key", "account", "sample", "query", "variables"].map(at);
const base = `${location.origin}${location.pathname.replace(/\/graphql-explorer\/?$/, "")}`;
const address = (accountId) => `${base}/api/graphql?accountId=${accountId}`;
/** Longer answers are cut: laying out megabytes of text stops the page. */
const MAX_SHOWN = 500_000;

let search;

/**
 * Who is signed in with this browser; undefined for nobody. Asked anew each time, since sessions end and their tokens
 * change.
 */
async function findSession() {
  const response = await fetch(`${base}/auth/session`, { credentials: "same-origin" });
  const { data } = await response.json();
  return data?.signedIn ? data : undefined;
}

/** A typed key wins; a session needs its anti-forgery token beside the cookie. */
async function credentials() {
  const typed = key.value.trim();
  if (typed !== "") return { credentials: "omit", headers: { "x-api-key": typed } };
  const session = await findSession();
  return session
    ? { credentials: "same-origin", headers: { "x-csrf-token": session.csrfToken } }
    : { credentials: "omit", headers: {} };
}

async function ask(body) {
  const { credentials: mode, headers } = await credentials();
  const response = await fetch(address(encodeURIComponent(account.value.trim())), {
    method: "POST",
    credentials: mode,
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

function show(status, text) {
  at("status").textContent = status;
  at("result").textContent = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}\n… cut here` : text;
}

function laidOut(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

async function run() {
  let given;
  try {
    given = variables.value.trim() === "" ? null : JSON.parse(variables.value);
  } catch (error) {
    return show("The variables are not JSON.", error.message);
  }
  const began = performance.now();
  show("Running…", "");
  try {
    const { status, text } = await ask({ query: query.value, variables: given });
    show(`HTTP ${status} in ${Math.round(performance.now() - began)} ms`, laidOut(text));
    if (status === 200 && !search) await load();
  } catch (error) {
    show("The server was not reached.", error.message);
  }
}

async function load() {
  try {
    const { status, text } = await ask({ query: INTROSPECTION });
    const schema = status === 200 ? JSON.parse(text).data?.__schema : undefined;
    if (schema) search = showSchema(at("docs"), schema);
    else at("docs").textContent = `The schema was refused: HTTP ${status}.`;
  } catch (error) {
    at("docs").textContent = `The server was not reached: ${error.message}`;
  }
}

function choose() {
  const { query: text, variables: values } = samples[sample.selectedIndex];
  query.value = text;
  variables.value = JSON.stringify(values, null, 2);
}

function showCommands() {
  const url = address(account.value.trim() || "<account_id>");
  for (const kind of ["create", "update"]) at(`${kind}-file`).textContent = curlOf(kind, url);
}

async function showSession() {
  const session = await findSession().catch(() => undefined);
  if (!session || key.value !== "") return;
  account.value ||= session.accountIdentifier;
  at("who").textContent = `You are signed in as ${session.user.email}: without a key, requests are yours.`;
  showCommands();
}

sample.append(...samples.map(({ name }) => new Option(name)));
// Some browsers bring back what stood in a field before a reload.
key.value = "";
choose();
showCommands();
void showSession();
sample.addEventListener("change", choose);
at("run").addEventListener("click", () => void run());
at("load").addEventListener("click", () => void load());
at("find").addEventListener("input", (event) => search?.(event.target.value));
key.addEventListener("input", () => {
  // A key names its account: kind.account.id.secret
  const [, named, ...rest] = key.value.trim().split(".");
  if (rest.length === 2) account.value = named;
  showCommands();
});
account.addEventListener("input", showCommands);
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  void run();
});
