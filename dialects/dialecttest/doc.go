// Package dialecttest tests what every dialect must do. It has generators of neutral histories and of providers' JSON,
// both made without the dialects, and the suite that tests a dialect with them.
package dialecttest
