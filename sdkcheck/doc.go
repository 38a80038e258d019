// Package sdkcheck compares the dialects and the summarizers with the Go SDKs of the providers. The SDKs must be able
// to read each request that the dialects render, and to write the same again. For the same completion they must send
// the same request as the providers in summarizers, and read the same from a streamed answer. The package is in its own
// module, so that the daemon does not depend on the SDKs.
package sdkcheck
