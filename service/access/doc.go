// Package access decides who may call what. A caller sends a bearer token. A Guard knows the tokens by their hashes, each
// with the name of its subject, a tenant, a role and perhaps an expiry, and refuses a call before its request is received.
//
// MakeTokenFile makes the token of who runs the daemon, in a file that nobody else can read. ParseTokens reads the file
// of the tokens of other clients, which holds hashes only. A Guard reads its files again when they change. Roles has the
// role that each RPC needs.
//
// A Guard also takes JWTs, which the package jwt verifies, if it is told what their claims mean.
package access
