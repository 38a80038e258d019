package redactiontest

import (
	"encoding/base64"
	"math/rand/v2"
	"strings"
)

// Alike returns texts that look as if they held a secret and hold none: hashes of commits and files, names, types,
// places for passwords, translations, sentences about them. The same seed gives the same texts.
func Alike(seed uint64) []string {
	g := &generator{rand.New(rand.NewPCG(seed, 13))}
	var texts []string
	for _, group := range alikeDrawn {
		for _, template := range group.templates {
			for strings.Contains(template, "@@") {
				template = strings.Replace(template, "@@", group.secret(g), 1)
			}
			texts = append(texts, template)
		}
	}
	for _, some := range []string{alikePlaces, alikeCode, alikeProse, alikeLabels, alikeOutput} {
		for line := range strings.SplitSeq(strings.TrimSpace(some), "\n") {
			texts = append(texts, strings.ReplaceAll(line, `\n`, "\n"))
		}
	}
	return texts
}

// uuid is a random identifier.
func (g *generator) uuid() string {
	return g.of(hex, 8) + "-" + g.of(hex, 4) + "-4" + g.of(hex, 3) + "-a" + g.of(hex, 3) + "-" + g.of(hex, 12)
}

func encodedBytes(n int) func(*generator) string {
	return func(g *generator) string { return base64.StdEncoding.EncodeToString(g.bytes(n)) }
}

// alikeDrawn are texts with random parts that are no secrets.
var alikeDrawn = []planted{
	{"commit", hexes(40), []string{
		"commit @@", "Merge: a1b2c3d e4f5a6b\nparent @@", "index 83db48f..bf269f4 100644", "git checkout @@", "HEAD is now at @@", "https://github.com/o/r/commit/@@", `"gitHead": "@@"`, "uses: actions/checkout@@@",
		"ref: @@", "sha1: @@", "pick @@ fix login", "git log --format=%H\n@@\n@@\n@@", "etag: \"@@\"", "rev = \"@@\"", "blob @@ secrets/README.md", "key: cache-v1-@@", "cache-key: linux-@@",
		"git cherry-pick @@ # token refresh", "git revert @@ -m 'password reset'", "password reset broken since @@", "the token bug was fixed in @@", "Auth: revert @@", "author @@ passes the tests",
	}},
	{"digest", hexes(64), []string{
		"sha256:@@", "@@  archive.tar.gz", "image: nginx@sha256:@@", "checksum = \"@@\"", `"digest": "sha256:@@"`, "--hash=sha256:@@", "h1:@@", "Digest: sha256=@@", "SHA256 (secrets.go) = @@", "layer @@: Pull complete",
		"container @@ started", "docker rm @@", "auth image sha256:@@", "tx 0x@@", "block hash: 0x@@", "\"fingerprint\": \"@@\"",
	}},
	{"MD5", hexes(32), []string{"md5: @@", "@@  file.txt", "Content-MD5: @@", "trace_id=@@", "traceparent: 00-@@-00f067aa0ba902b7-01", "\"hash\":\"@@\"", "bundle.@@.js", "request_id: @@", "span: @@", "x-amz-request-id: @@", "/static/key-@@.png"}},
	{"UUID", (*generator).uuid, []string{
		"id: @@", "session @@", `"session_id":"@@"`, "GET /users/@@ 200", "correlation-id: @@", "tenantId=@@", "urn:uuid:@@", "token id @@ expired", "keyId: \"@@\"", "client_id=@@", "key @@ not found", "secret with id @@ was rotated", "auth request @@ denied",
		"user @@ changed the password", "session-@@.jsonl", "toolu id @@", "PRODUCT_ID=@@", "PasswordResetRequest @@ handled", "\"parentUuid\":\"@@\"",
	}},
	{"integrity", encodedBytes(64), []string{
		`"integrity": "sha512-@@"`, "integrity sha512-@@", "    resolution: {integrity: sha512-@@}", "<script integrity=\"sha512-@@\"></script>", `"password-validator": {"integrity": "sha512-@@"}`, "\"js-tokens@npm:^4.0.0\": sha512-@@",
	}},
	{"go.sum", encodedBytes(32), []string{"golang.org/x/crypto v0.57.0 h1:@@", "github.com/golang-jwt/jwt/v5 v5.2.1/go.mod h1:@@", "sha256-@@", "\"narHash\": \"sha256-@@\"", "nix hash: sha256-@@", "ssh-ed25519 fingerprint SHA256:@@", "SHA256:@@ bob@host (ED25519)"}},
	{"image", encodedBytes(180), []string{
		"data:image/png;base64,@@", "![](data:image/jpeg;base64,@@)", `<img src="data:image/gif;base64,@@">`, "url(data:font/woff2;base64,@@)", `{"type":"image","data":"@@"}`, `"source":{"type":"base64","media_type":"image/png","data":"@@"}`, "//# sourceMappingURL=data:application/json;base64,@@",
	}},
	{"public key", encodedBytes(96), []string{
		"ssh-rsa @@ bob@host", "ssh-ed25519 @@", "-----BEGIN PUBLIC KEY-----\n@@\n-----END PUBLIC KEY-----", "-----BEGIN CERTIFICATE-----\n@@\n@@\n-----END CERTIFICATE-----", "ecdsa-sha2-nistp256 @@ root@h", "publicKey: @@",
		"github.com ssh-rsa @@", "-----BEGIN CERTIFICATE REQUEST-----\n@@\n-----END CERTIFICATE REQUEST-----", "-----BEGIN PGP SIGNATURE-----\n\n@@\n-----END PGP SIGNATURE-----",
	}},
	{"number", numbers(6), []string{
		"error code @@", "line @@ of the log", "took @@ ms", "port: 5432, pid @@", "issue #@@", "status code: 200, size @@", "order @@ was paid", "total tokens: @@", "max_tokens: @@", "tokens used: @@", "password_min_age=@@", "code @@ in table errors",
		"\"prompt_tokens\": @@", "zip code @@", "exit code @@", "pin @@ bytes in memory", "invoice no. @@", "input tokens @@, output tokens @@",
	}},
	{"log time", numbers(10), []string{"iat: @@", "expires_at=@@", "\"password_changed_at\": @@", "token_expires=@@", "auth_time=@@", "session_created @@"}},
	{"minified", func(g *generator) string { return g.of(letter, 1) }, []string{
		`function(@@,@@){return @@.password=@@.token,@@.secret?@@:@@}`, `!function(@@){"use strict";var @@="password",@@=@@.apiKey}();`, `@@.auth=@@=>@@.token||@@.key,@@.secret=null`, `const{token:@@,key:@@,password:@@}=@@`,
		`var @@={password:@@,token:@@.token,key:"id"};`, `case"password":return @@(@@,"secret")`, `e.exports={key:@@,secret:@@,auth:@@}`,
	}},
}
