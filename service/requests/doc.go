// Package requests receives requests. It counts what a request would become from its bytes, before it is decoded, and
// decodes it only if the contract's bounds and the memory of the requests in flight leave room for it. The contract's
// rules run within these bounds, and stop with the call.
package requests
