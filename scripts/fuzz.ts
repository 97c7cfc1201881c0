/** `npm run fuzz`: sends generated requests (docs/how-to/fuzz.md). Options are passed to Node's test runner. */
process.env["FUZZ_REQUESTS"] ??= "20000";
process.argv.splice(2, 0, "test/contract/fuzz.test.ts");
await import("./test.ts");
