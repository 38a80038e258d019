// Package dialecttest holds what every dialect must pass, whoever wrote it: generators of neutral histories and of
// providers' JSON, both made without the dialects, and the suite that puts a dialect to the test with them.
package dialecttest
