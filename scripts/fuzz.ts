/** `npm run fuzz`: the generated requests of a nightly run (docs/how-to/fuzz.md). Options go to Node's test runner. */
process.env["FUZZ_REQUESTS"] ??= "20000";
process.argv.splice(2, 0, "test/contract/fuzz.test.ts");
await import("./test.ts");
