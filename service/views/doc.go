// Package views answers what an LLM view is: drawn from a session's log, rendered in a provider's shape, and only what is
// new of it where the client holds an earlier one. Answers come in pages.
package views
