// Package intake reads what clients send and appends it to a log: neutral messages, a provider's JSON, records of
// another tool, a model's answer, and inline histories.
//
// It accepts malformed input and reports it in findings, or refuses it where the request is strict. It refuses a whole
// request whose meaning is not clear, or which breaks a limit of the contract. Some findings need the log, such as a
// result that answers no open call.
package intake
