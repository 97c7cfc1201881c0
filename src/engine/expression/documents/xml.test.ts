import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ExpressionError } from "../error.ts";
import { selectXml } from "./xml-path.ts";
import { parseXml } from "./xml-text.ts";

const refuse = (message: string): ExpressionError => new ExpressionError("type", message, 0);
const place = { at: 7, spend: () => undefined };
const select = (path: string, text: string): string | undefined =>
  selectXml(
    path,
    parseXml(text, refuse, () => undefined),
    place,
  );

const POM = `<?xml version="1.0"?>
<!-- a comment with <tags> -->
<project xmlns="http://maven.apache.org/POM/4.0.0" m:kind='x&quot;y'>
  <version>1.4&#46;2-&lt;&amp;&gt;</version>
  <deps><dep id="a"><name>one</name></dep><dep id="b"><name>two</name><old/></dep></deps>
  <nested><name>inner</name></nested><name>last</name>
  <code><![CDATA[a < b && c]]></code><empty></empty><deep><x><b>1</b></x><b>2</b></deep>
</project>
<?end of it?>`;

test("what a path selects", () => {
  const selections: readonly (readonly [string, string | undefined])[] = [
    ["/project/version", "1.4.2-<&>"],
    ["project/version/text()", "1.4.2-<&>"],
    ["/project/@m:kind", 'x"y'],
    ["//dep/@id", "a"],
    ["/project/deps/dep[2]/name", "two"],
    ["/project/deps/dep[last()]/@id", "b"],
    ["//dep[@id='b']/name", "two"],
    ["//dep[name='two']/@id", "b"],
    ['//name[text()="inner"]', "inner"],
    ["//name", "one"],
    ["/project/name", "last"],
    ["/*/code", "a < b && c"],
    ["/project/empty", ""],
    ["//deep//b", "1"],
    ["/project/deps", "onetwo"],
    ["/project/nothing", undefined],
    ["/other", undefined],
    ["//dep[3]", undefined],
    ["//dep[@id='b'][name='one']", undefined],
    ["//old/text()", undefined],
  ];
  for (const [path, value] of selections) assert.equal(select(path, POM), value, path);
});

test("what is not XML is refused at its place and without its text", () => {
  const faults: readonly (readonly [string, RegExp])[] = [
    ["", /character 1: an element is missing/],
    ["text", /an element is missing/],
    ["<a>", /has no end/],
    ["<a><b></a>", /the tag ends another element/],
    ["<a/><b/>", /something follows the root element/],
    ["<a b></a>", /an attribute has no value/],
    ["<a b=c></a>", /stands in no quotes/],
    ["<a b='1' b='2'/>", /attribute stands twice/],
    ["<a b='1'c='2'/>", /a blank is missing/],
    ["<a b='<'/>", /has a </],
    ["<a>&unknown;</a>", /a & begins no known reference/],
    ["<a>& b</a>", /a & begins no known reference/],
    ["<a>&#0;</a>", /no known reference/],
    ["<a>&#xD800;</a>", /no known reference/],
    ["<a><!-- </a>", /a comment has no end/],
    ["<1/>", /a name is missing/],
    [`${"<a>".repeat(65)}${"</a>".repeat(65)}`, /nests deeper than 64/],
    ["<a>".repeat(80_000), /nests deeper than 64/],
  ];
  for (const [text, message] of faults)
    assert.throws(() => parseXml(text, refuse, () => undefined), { message }, text.slice(0, 40));
});

test("no entity is declared and no file is named", () => {
  const bomb = '<!DOCTYPE a [<!ENTITY x "xx"><!ENTITY y "&x;&x;">]><a>&y;</a>';
  const file = '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>';
  for (const text of [bomb, file, `<?xml version="1.0"?>\n${file}`]) {
    assert.throws(() => parseXml(text, refuse, () => undefined), /a document type is not read/);
  }
  assert.throws(() => parseXml("<a><!DOCTYPE b></a>", refuse, () => undefined), /a name is missing/);
});

test("a path with another syntax is refused at its place", () => {
  for (const path of [
    "",
    "/",
    "//",
    "/a[",
    "/a[b]",
    "/a/text()/b",
    "count(/a)",
    "/a | /b",
    "/a[position()=1]",
    "../a",
  ]) {
    assert.throws(
      () => select(path, "<a/>"),
      (error) => error instanceof ExpressionError && error.offset === 7 && /XML path is wrong/.test(error.message),
      path,
    );
  }
});

test("each predicate costs work for each element that it looks at", () => {
  const root = parseXml(`<a>${"<b>x</b>".repeat(8000)}</a>`, refuse, () => undefined);
  let units = 0;
  selectXml(`/a/b${"[text()='x']".repeat(20)}`, root, { at: 0, spend: (more) => (units += more) });
  assert.ok(units >= 20_000, String(units));
});

test("property: any text is XML or is refused", () => {
  const piece = fc.constantFrom(
    "<a>",
    "</a>",
    "<b x='1'/>",
    "&amp;",
    "&",
    "text",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<?",
    "?>",
    "<",
    ">",
    "<!DOCTYPE",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      try {
        assert.equal(
          typeof selectXml(
            "//*",
            parseXml(pieces.join(""), refuse, () => undefined),
            place,
          ),
          "string",
        );
      } catch (error) {
        assert.ok(error instanceof ExpressionError, String(error));
      }
    }),
    { numRuns: 3000 },
  );
});

test("property: a text is selected as it was before it was escaped", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (value) => {
      const escaped = value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("'", "&apos;");
      assert.equal(select("/a/b", `<a><b>${escaped}</b></a>`), value);
      assert.equal(select("/a/@b", `<a b='${escaped}'/>`), value);
    }),
  );
});
