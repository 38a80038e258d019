package grounding_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers/grounding"
)

// What anybody may know is not marked, although no source has it.
func TestNamesThatNeedNoSource(t *testing.T) {
	t.Parallel()
	for kind, names := range map[string]string{
		"products":           "BigQuery PostgreSQL MongoDB GraphQL OpenTelemetry PyTorch ElasticSearch JavaScript WebSockets RabbitMQ",
		"products in code":   "`BigQuery` `PostgreSQL` `NestJS` `FastAPI` `TensorFlow` `OpenSSL`",
		"small letters":      "openSUSE phpMyAdmin iMessage eCommerce watchOS visionOS macOS iOS",
		"unknown products":   "LedgerFlow StackHarbor NovaCache",
		"standards":          "RFC-7231 RFC7231 ISO-8601 ISO-8859-1 UTF-8 UTF-16 SHA-256 AES-128 IEEE-754 PEP-484 X509 HS256 ED25519 P256 HTTP/2 HTTP/1.1",
		"errnos and signals": "ENOENT ECONNREFUSED SIGTERM SIGKILL",
		"files":              "README.md CHANGELOG.md AGENTS.md package.json go.mod go.sum main.go index.js utils.py Cargo.toml tsconfig.json",
		"files of a tool":    "vite.config.ts jest.config.js docker-compose.yml package-lock.json pnpm-lock.yaml pyproject.toml requirements.txt",
		"files in a row":     "README.md/CHANGELOG.md package.json/go.mod Node.js/Express.js",
		"frameworks":         "Node.js Next.js Three.js",
		"places":             "/etc/hosts /usr/bin/python3 /usr/local/bin/node /dev/stdin",
		"addresses":          "http://localhost:3000 http://127.0.0.1:8080/ http://0.0.0.0:80",
		"styles":             "camelCase snake_case lowerCamelCase",
		"numbers":            "12345 1024KiB 1500MBps 2026-11-23",
		"platforms":          "x86_64 node_modules",
	} {
		for name := range strings.FieldsSeq(names) {
			summary := "It is " + name + " here."
			require.Equal(t, summary, marked(summary), kind)
			require.Zero(t, grounding.New(summary).Unsupported(), "%s: %s", kind, name)
		}
	}
}

// What only this work can have is marked where no source has it.
func TestNamesThatNeedASource(t *testing.T) {
	t.Parallel()
	const source = "We use BigQuery with README.md, /etc/hosts, tokens in session.go and http://localhost:3000/api of ledger.go."
	for kind, names := range map[string]string{
		"snake_case":           "token_store MAX_TOKEN_AGE __token_store__ Token_Store",
		"camelCase":            "tokenStore readHeaderTwice eParseHeader iTokenStoreOf tokenStoreOS",
		"types of three words": "SessionTokenStore OAuth2Client HTTPTokenStore",
		"types in code":        "`TokenStore` auth.TokenStore TokenStore() TokenStore(x)",
		"files":                "tokenizer.go token_store.go token-store.go Ledger2.go .github/workflows.yml ledger.test.ts",
		"files in folders":     "internal/main.go docs/README.md lib/utils.py ./cmd/tool",
		"places":               "/etc/compactord/settings.toml /usr/share/ledger/a.txt /srv/ledger/data",
		"addresses":            "http://localhost:3000/api/bookings https://ledger.example/a",
		"codes":                "PROJ-1234 E0432 TS2345 PS-1234 CVE-2031-4711 0xdeadbeef",
		"hashes":               "3f9ab12 1b4e28ba-2fa1-11d2-883f-0016d3cca427",
	} {
		for name := range strings.FieldsSeq(names) {
			summary := "It is " + name + " here."
			c := grounding.New(summary)
			c.Read(source)
			require.Equal(t, 1, c.Unsupported(), "%s: %s", kind, name)
			got := c.Marked(1)
			require.Contains(t, got, "(not in the conversation", "%s: %s", kind, name)
			require.Contains(t, got, name, "%s: the mark does not divide it", kind)
		}
	}
}

// A file of one word is supported by the word, since its extension may go without saying.
func TestFileOfOneWord(t *testing.T) {
	t.Parallel()
	require.Equal(t, "See tokenizer.go.", marked("See tokenizer.go.", "the tokenizer is slow"))
	require.Equal(t, "See token_izer.go"+grounding.Mark+".", marked("See token_izer.go.", "the token_izer is slow"))
}

// In prose two capitalized words are no type, but the same words in code are.
func TestTypeIsMarkedWhereItStandsInCode(t *testing.T) {
	t.Parallel()
	require.Equal(t, "TokenStore is slow: `TokenStore`"+grounding.Mark+".", marked("TokenStore is slow: `TokenStore`."))
}
