// Package views builds LLM views from a session's log, and renders them in a dialect. Where the client has an earlier
// view, the response holds only the delta. Responses come in pages.
package views
