// Package jwt verifies JSON Web Tokens (RFC 7519) by the keys of a JSON Web Key Set (RFC 7517), and returns what they claim.
// Keys come from an https URL or a file. A Verifier reads them again in the background, and where a token names a key that
// it does not know. It knows nothing of roles and RPCs.
package jwt
