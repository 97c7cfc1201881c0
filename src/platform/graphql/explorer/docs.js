/** The schema as pages: every type with its fields, arguments and words, from introspection. Text nodes only. */

const TYPE = "name kind ofType { name kind ofType { name kind ofType { name kind } } }";
const INPUT = `name description defaultValue type { ${TYPE} }`;
export const INTROSPECTION = `{
  __schema {
    queryType { name }
    mutationType { name }
    types {
      name
      kind
      description
      fields { name description args { ${INPUT} } type { ${TYPE} } }
      inputFields { ${INPUT} }
      enumValues { name description }
      possibleTypes { name }
    }
  }
}`;

export function element(name, ...children) {
  const made = document.createElement(name);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

const preset = (value) => (value === null ? null : ` = ${value}`);

/** Shows the schema in `place`; answers how to search it. */
export function showSchema(place, schema) {
  const types = new Map(schema.types.map((type) => [type.name, type]));
  const roots = [schema.queryType?.name, schema.mutationType?.name].filter(Boolean);

  function typeButton(name) {
    const button = element("button", name);
    button.type = "button";
    button.addEventListener("click", () => showType(name));
    return button;
  }

  function typeText(type) {
    if (type.kind === "NON_NULL") return [...typeText(type.ofType), "!"];
    if (type.kind === "LIST") return ["[", ...typeText(type.ofType), "]"];
    return [typeButton(type.name)];
  }

  const value = ({ name, type, defaultValue }) => [`${name}: `, ...typeText(type), preset(defaultValue)];

  function line({ name, args = [], type, description, defaultValue = null }) {
    const shown = args.flatMap((arg, at) => [at === 0 ? "(" : ", ", ...value(arg)]);
    const rest = type ? [": ", ...typeText(type), preset(defaultValue)] : [];
    const item = element("li", element("strong", name), ...shown, args.length > 0 ? ")" : null, ...rest);
    if (description) item.append(hint(description));
    return item;
  }

  function showType(name) {
    const type = types.get(name);
    const back = element("button", "All types");
    back.type = "button";
    back.addEventListener("click", () => showAll(""));
    const parts = [...(type.fields ?? []), ...(type.inputFields ?? []), ...(type.enumValues ?? [])];
    const possible = (type.possibleTypes ?? []).flatMap((one) => [" ", typeButton(one.name)]);
    place.replaceChildren(
      back,
      element("h2", `${name} (${type.kind.toLowerCase().replaceAll("_", " ")})`),
      hint(type.description ?? ""),
      possible.length > 0 ? element("p", "One of:", ...possible) : "",
      element("ul", ...parts.map(line)),
    );
    place.focus();
  }

  function showAll(wanted) {
    const text = wanted.trim().toLowerCase();
    const matches = (type) =>
      type.name.toLowerCase().includes(text) ||
      (type.fields ?? []).some(({ name }) => name.toLowerCase().includes(text));
    const rank = ({ name }) => (roots.includes(name) ? roots.indexOf(name) : roots.length);
    const shown = schema.types
      .filter((type) => !type.name.startsWith("__") && (text === "" || matches(type)))
      .toSorted((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
    place.replaceChildren(
      shown.length === 0
        ? hint("Nothing has this name.")
        : element("ul", ...shown.map((type) => element("li", typeButton(type.name)))),
    );
  }

  showAll("");
  return showAll;
}

function hint(text) {
  const made = element("p", text);
  made.className = "hint";
  return made;
}
