// Package overflow decides whether a request to a model failed because its context was too long. Providers have no
// common error for that. So this is a table of their wordings, and of similar wordings that mean something else.
//
// The package does no I/O. It only searches texts, and never quotes them in an answer.
package overflow
