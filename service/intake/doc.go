// Package intake takes in what clients send to be kept: neutral messages, a provider's JSON, records that another tool
// made, the answer of a model, and whole histories. It reads them, tells what is malformed in them, and appends them to a
// log.
//
// What is malformed is kept, and each finding is told in the answer; a request that is strict is refused for it. What has
// no clear meaning, or breaks a bound of the contract, is refused whole. Some of it shows only where a message joins the
// log, such as a result that answers no call.
package intake
