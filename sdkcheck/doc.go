// Package sdkcheck is a second opinion on what the dialects render: the providers' own Go SDKs must be able to read it
// as a request, and to write the same. It is a module of its own, so that the daemon does not depend on the SDKs.
package sdkcheck
