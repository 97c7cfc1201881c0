/** `npm run fuzz`: sends generated requests and pipelines (docs/how-to/fuzz.md). Options are passed to Node's test runner. */
process.env["FUZZ_REQUESTS"] ??= "20000";
process.env["FUZZ_DOCUMENTS"] ??= "20000";
process.argv.splice(2, 0, "test/contract/fuzz.test.ts", "test/contract/fuzz-documents.test.ts");
await import("./test.ts");
