// Package sdkcheck is a second opinion on what goes to models' providers and comes from them. Their own Go SDKs must be able
// to read what the dialects render as a request, and to write the same; for the same completion they must send what the
// providers in summarizers send, and read a streamed answer alike. It is a module of its own, so that the daemon does not
// depend on the SDKs.
package sdkcheck
