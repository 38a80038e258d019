// Package overflow tells from how a request to a model ended whether its context was too long. Providers have no common
// error for it, so this is a table of their wordings, and of what looks like them and is none.
//
// The package is pure. Texts are searched only, and never quoted in an answer.
package overflow
