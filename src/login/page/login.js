/**
 * The sign-in page: signing in, accepting an invitation, choosing a password, listing sessions. Data is inserted as text only, and the session
 * is in a cookie that scripts cannot read.
 */
const page = (id) => document.getElementById(id);
const SECTIONS = ["signing-in", "joining", "changing", "account"];
const TITLES = {
  "signing-in": "Sign in",
  joining: "Welcome",
  changing: "Choose a password",
  account: "Your account",
};

let csrfToken = "";
let me;

/** The token of an invitation's link. It is taken out of the address, so that it is not in the history of the browser. */
const invitation = new URLSearchParams(location.hash.slice(1)).get("invitation");
if (invitation) history.replaceState(null, "", location.pathname + location.search);
let isInvitationRefused = false;
// A link that is opened in the tab of this page loads nothing by itself.
addEventListener("hashchange", () => location.reload());

/** Returns the answer's data. Throws an Error whose message is shown to the user. */
async function request(method, path, body) {
  const headers = { accept: "application/json" };
  if (csrfToken) headers["x-csrf-token"] = csrfToken;
  if (body !== undefined) headers["content-type"] = "application/json";
  let response;
  try {
    response = await fetch(path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  } catch {
    throw new Error("The server does not answer.");
  }
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer.data;
  throw Object.assign(new Error(answer.message ?? `The server answered ${response.status}.`), {
    status: response.status,
  });
}

function showMessage(id, text) {
  for (const one of ["alert", "notice"]) {
    page(one).hidden = one !== id || !text;
    page(one).textContent = one === id ? text : "";
  }
}

function show(section) {
  for (const one of SECTIONS) page(one).hidden = one !== section;
  document.title = `${TITLES[section]} · Railhead`;
  page(`${section}-title`).focus();
}

/** Runs the action of a button or a form, once at a time, and shows its error. */
const run = (work) => (event) => {
  event.preventDefault();
  const button = event.submitter ?? event.currentTarget;
  if (button.disabled) return;
  button.disabled = true;
  showMessage("alert", "");
  work()
    .catch((error) => {
      if (error.status === 401 && me) return start("Your session has expired. Sign in again.");
      showMessage("alert", error.message);
    })
    .finally(() => (button.disabled = false));
};

/** The start of the web interface; undefined if this server has none. */
const home =
  document.documentElement.dataset.home && new URL(document.documentElement.dataset.home, location.origin).href;
const failure = new URLSearchParams(location.search).get("failure");

/** The address to open after signing in, on this server only. Undefined stays on this page. */
function returnTo() {
  // A signed-in person reads here that an invitation is not valid, or why single sign-on failed.
  if (isInvitationRefused || failure) return undefined;
  const asked = new URLSearchParams(location.search).get("returnTo");
  const url = asked?.startsWith("/") ? URL.parse(asked, location.origin) : null;
  return url?.origin === location.origin ? url.href : home;
}

async function openSession(session, current = "") {
  me = session;
  csrfToken = session.csrfToken;
  if (session.mustChangePassword) return showPasswordForm(current, true);
  const target = returnTo();
  if (target) return location.replace(target);
  await showAccount();
}

function showPasswordForm(current, isOneTime) {
  page("one-time").hidden = !isOneTime;
  page("keep").hidden = isOneTime;
  page("leave").hidden = !isOneTime;
  page("changing-email").value = me.user.email;
  page("current").value = current;
  for (const id of ["new", "again"]) page(id).value = "";
  show("changing");
}

async function showAccount() {
  page("name").textContent = me.user.name;
  page("address").textContent = me.user.email;
  page("change").hidden = !me.hasPassword;
  await listSessions();
  await listIdentities();
  show("account");
}

const when = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const METHODS = { PASSWORD: "password", OPENID_CONNECT: "single sign-on" };

/** For example "Firefox on Linux", if the user agent says so. */
function browserName(agent) {
  const name = ["Edg", "OPR", "Firefox", "Chrome", "Safari"].find((one) => agent.includes(one));
  const system = ["Windows", "Android", "iPhone", "Mac OS", "Linux"].find((one) => agent.includes(one));
  const called = { Edg: "Edge", OPR: "Opera" }[name] ?? name;
  return called ? `${called}${system ? ` on ${system}` : ""}` : agent || "A program";
}

function item(title, details, action) {
  const [line, text, strong, hint] = ["li", "div", "strong", "span"].map((tag) => document.createElement(tag));
  strong.textContent = title;
  hint.className = "hint";
  hint.textContent = details;
  text.append(strong, hint);
  line.append(text);
  if (action) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "quiet";
    button.textContent = action.label;
    button.setAttribute("aria-label", `${action.label}: ${title}`);
    button.addEventListener("click", run(action.work));
    line.append(button);
  }
  return line;
}

async function listSessions() {
  const sessions = await request("GET", "auth/sessions");
  const lines = sessions.map((one) =>
    item(
      `${browserName(one.userAgent)}${one.current ? " (this one)" : ""}`,
      `${one.remoteAddress} · by ${METHODS[one.method]} · since ${when.format(one.createdAt)} · last seen ${when.format(one.lastSeenAt)}`,
      one.current
        ? undefined
        : {
            label: "End",
            work: async () => {
              await request("DELETE", `auth/sessions/${encodeURIComponent(one.id)}`);
              await listSessions();
              showMessage("notice", "That session has ended.");
            },
          },
    ),
  );
  page("sessions").replaceChildren(...lines);
}

async function listIdentities() {
  const name = me.openIdConnect?.name;
  page("single-sign-ons").hidden = !name;
  if (!name) return;
  const linked = await request("GET", "auth/identities");
  const lines = linked.map((one) =>
    item(one.issuer, `${one.subject} · linked ${when.format(one.linkedAt)}`, {
      label: "Unlink",
      work: async () => {
        await request("DELETE", `auth/identities/${encodeURIComponent(one.id)}`);
        await listIdentities();
        showMessage("notice", "The identity was unlinked.");
      },
    }),
  );
  page("identities").replaceChildren(...lines);
  page("link").textContent = `Link ${name}`;
}

/** A person who has another session in this browser, such as the administrator who made the link, sees whom it is for. */
async function showInvitation() {
  const invited = await request("POST", "auth/login/invitation/check", { token: invitation });
  page("joining-account").textContent = invited.accountName;
  page("joining-name").textContent = invited.name;
  page("joining-address").textContent = invited.email;
  page("joining-email").value = invited.email;
  show("joining");
}

async function start(text = "") {
  me = undefined;
  csrfToken = "";
  const session = await request("GET", "auth/session");
  if (session.signedIn) return openSession(session);
  const single = session.openIdConnect;
  page("single").hidden = !single;
  if (single) {
    const target = returnTo();
    page("single-sign-on").textContent = `Sign in with ${single.name}`;
    page("single-sign-on").href =
      `auth/oidc/start${target ? `?returnTo=${encodeURIComponent(target.slice(location.origin.length))}` : ""}`;
  }
  showMessage("notice", text);
  page("password").value = "";
  show("signing-in");
}

/** Messages for the reasons why single sign-on redirected here without a session. */
const FAILURES = {
  unlinked:
    "That account is not linked with a user yet. Sign in with your password and link it, or ask your administrator.",
  inactive: "Your user is not active any more. Ask your administrator.",
  taken: "That account is linked with another user.",
  refused: "Single sign-on was refused or took too long. Try again.",
  unavailable: "The identity provider does not answer as expected. Try again later.",
};

page("signing-in")
  .querySelector("form")
  .addEventListener(
    "submit",
    run(async () => {
      const [email, password] = [page("email").value.trim(), page("password").value];
      if (!email || !password) throw new Error("Enter your e-mail address and your password.");
      const session = await request("POST", "auth/login", { email, password });
      page("password").value = "";
      await openSession(session, password);
    }),
  );
page("joining")
  .querySelector("form")
  .addEventListener(
    "submit",
    run(async () => {
      const newPassword = page("joining-new").value;
      if (!newPassword) throw new Error("Enter a password.");
      if (newPassword !== page("joining-again").value) throw new Error("The password differs between the two fields.");
      const session = await request("POST", "auth/login/invitation", { token: invitation, newPassword });
      for (const id of ["joining-new", "joining-again"]) page(id).value = "";
      await openSession(session);
    }),
  );
page("changing")
  .querySelector("form")
  .addEventListener(
    "submit",
    run(async () => {
      const [currentPassword, newPassword] = [page("current").value, page("new").value];
      if (newPassword !== page("again").value) throw new Error("The new password differs between the two fields.");
      if (!currentPassword || !newPassword) throw new Error("Enter the current password and the new one.");
      const session = await request("POST", "auth/password", { currentPassword, newPassword });
      for (const id of ["current", "new", "again"]) page(id).value = "";
      await openSession(session);
      showMessage("notice", "Your password was changed. Your other sessions have ended.");
    }),
  );
page("change").addEventListener("click", () => {
  showMessage("notice", "");
  showPasswordForm("", false);
});
page("keep").addEventListener("click", run(showAccount));
for (const id of ["out", "leave"])
  page(id).addEventListener(
    "click",
    run(async () => {
      await request("POST", "auth/logout");
      await start("You are signed out.");
    }),
  );
page("everywhere").addEventListener(
  "click",
  run(async () => {
    await request("DELETE", "auth/sessions");
    await start("You are signed out everywhere.");
  }),
);
page("link").addEventListener(
  "click",
  run(async () => {
    const { location: target } = await request("POST", "auth/oidc/link");
    location.assign(target);
  }),
);

try {
  if (invitation) await showInvitation();
  else await start();
  if (FAILURES[failure]) showMessage("alert", FAILURES[failure]);
} catch (error) {
  isInvitationRefused = Boolean(invitation);
  if (invitation) await start().catch(() => show("signing-in"));
  else show("signing-in");
  showMessage("alert", error.message);
}
