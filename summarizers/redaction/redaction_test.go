package redaction_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/summarizers/redaction"
	"github.com/compactord/compactord/summarizers/redaction/redactiontest"
)

var placeholder = regexp.MustCompile(`\[REDACTED:([a-z0-9-]+):([0-9a-f]{4})\]`)

// of returns a credential of a kind.
func of(t testing.TB, kind string, seed uint64) redactiontest.Credential {
	t.Helper()
	for _, c := range redactiontest.Credentials(seed, len(redactiontest.Kinds())) {
		if c.Kind == kind {
			return c
		}
	}
	t.Fatalf("there is no kind %q", kind)
	return redactiontest.Credential{}
}

func TestPlaceholders(t *testing.T) {
	token, other := of(t, "GitHub classic", 1).Secret, of(t, "GitHub classic", 2).Secret
	r := redaction.New("a")
	first := r.Text(t.Context(), "x "+token+" y")
	require.Regexp(t, `^x \[REDACTED:github-pat:[0-9a-f]{4}\] y$`, first)
	require.Equal(t, first, redaction.New("a").Text(t.Context(), "x "+token+" y"), "the same in all texts of the session")
	require.NotEqual(t, first, r.Text(t.Context(), "x "+other+" y"), "another secret")
	require.NotEqual(t, first, redaction.New("b").Text(t.Context(), "x "+token+" y"), "another session")
}

// A secret that is recognized at one place is replaced at all places in the text, also in JSON.
func TestEverywhereInTheText(t *testing.T) {
	password := of(t, "password in quotes", 1).Secret
	text := "first " + password + " then password: \"" + password + "\" then (" + password + ")" +
		` then {"a":"{\"b\":\"` + password + `\"}"}`
	redacted := redaction.New("k").Text(t.Context(), text)
	require.NotContains(t, redacted, password)
	found := placeholder.FindAllString(redacted, -1)
	require.Len(t, found, 4)
	require.Equal(t, []string{found[0], found[0], found[0], found[0]}, found)

	key := of(t, "SSH key", 1).Secret
	escaped := quoted(t, key)
	found = placeholder.FindAllString(redaction.New("k").Text(t.Context(), key+"\n"+escaped+"\n"+quoted(t, escaped)), -1)
	require.Len(t, found, 3)
	require.Equal(t, []string{found[0], found[0], found[0]}, found, "a key is the same with and without escapes")
}

// A password that may be a word is only replaced where a rule finds it.
func TestShortSecretsDoNotShredTheText(t *testing.T) {
	redacted := redaction.New("k").Text(t.Context(), "postgres://app:hunter2@db/app and hunter2 is a word; postgres://u:battery-staple@h/d, a battery-staple")
	require.Regexp(t, `^postgres://app:\[REDACTED:url-password:....\]@db/app and hunter2 is a word; `+
		`postgres://u:\[REDACTED:url-password:....\]@h/d, a battery-staple$`, redacted)
}

func TestWhereSecretsStand(t *testing.T) {
	token := of(t, "GitHub classic", 1).Secret
	second := of(t, "GitLab", 1).Secret
	for _, text := range []string{
		token, token + "\n", "\n" + token, token + " " + token, token + "\n" + second, token + "," + second,
		"https://" + token + "@github.com/o/r.git", "https://h/p?token=" + token + "&x=1", "(" + token + ")", "<" + token + ">",
		"令牌是" + token + "。", "令牌" + token + "和" + second + "都是", "`" + token + "`", "[" + token + "](u)", token + ".", `\"` + token + `\"`,
		strings.Repeat("a b ", 5000) + token + strings.Repeat(" c d", 5000), strings.Repeat("x", 30000) + " " + token,
		strings.Repeat("{\"a\":1},", 3000) + `"` + token + `",` + strings.Repeat("{\"a\":1},", 3000),
	} {
		redacted := redaction.New("k").Text(t.Context(), text)
		require.NotContains(t, redacted, token)
		require.NotContains(t, redacted, second)
		require.Contains(t, redacted, "[REDACTED:git")
	}
}

// Many rules expect a quote or a blank after a token.
func TestWhatStandsBehindASecret(t *testing.T) {
	key := of(t, "Google API key", 1).Secret
	for _, text := range []string{"(" + key + ")", "<" + key + ">", "密钥" + key + "。", key + ", then"} {
		require.NotContains(t, redaction.New("k").Text(t.Context(), text), key)
	}
}

func TestPrivateKeysWithoutAnEnd(t *testing.T) {
	key := of(t, "RSA key", 1).Secret
	lines := strings.SplitAfter(key, "\n")
	head := strings.Join(lines[:6], "")
	for _, text := range []string{head, "$ head -6 key\n" + head + "$ ls\n", quoted(t, head+"...")} {
		redacted := redaction.New("k").Text(t.Context(), text)
		for _, line := range lines[1:6] {
			require.NotContains(t, redacted, strings.TrimSpace(line))
		}
	}
	require.Contains(t, redaction.New("k").Text(t.Context(), head+"$ ls\n"), "$ ls")
	require.Regexp(t, `^\[REDACTED:private-key:....\]\nNext one\.$`, redaction.New("k").Text(t.Context(), head+"Next one."))
}

// As tools show files: with line numbers, in a diff, in code.
func TestPrivateKeysInListings(t *testing.T) {
	key := of(t, "RSA key", 1).Secret
	var numbered, diff, code strings.Builder
	for i, line := range strings.Split(key, "\n") {
		fmt.Fprintf(&numbered, "%6d→%s\n", i+1, line)
		fmt.Fprintf(&diff, "+%s\n", line)
		fmt.Fprintf(&code, "\t%q +\n", line+"\n")
	}
	for _, text := range []string{numbered.String(), diff.String(), code.String(), strings.ReplaceAll(key, "\n", " ")} {
		redacted := redaction.New("k").Text(t.Context(), text)
		for _, line := range strings.Split(key, "\n")[1:] {
			require.NotContains(t, redacted, line)
		}
	}
}

// Text between two mentions of keys stays.
func TestTextAboutPrivateKeys(t *testing.T) {
	text := "The file starts with -----BEGIN RSA PRIVATE KEY----- and so on.\n\n## In Progress\n- " + strings.Repeat("Some work on it. ", 10) +
		"\n- It ends with -----END RSA PRIVATE KEY-----, or another -----BEGIN PRIVATE KEY----- follows.\n"
	require.Equal(t, text, redaction.New("k").Text(t.Context(), text))
}

// Ordinary text and code stay unchanged.
func TestWhatIsNoSecret(t *testing.T) {
	for _, text := range []string{
		"func login(password string, token Token) error {", "password := os.Getenv(\"DB_PASSWORD\")", "password: string;",
		"const { password, apiKey } = process.env", "PASSWORD=$DB_PASSWORD", "password=${PASSWORD}", "--password=<your-password>",
		"postgres://postgres:postgres@localhost:5432/postgres", "postgres://user:password@host/db", "redis://:$REDIS_PASSWORD@cache",
		"http://localhost:8080/a@b", "git@github.com:owner/repo.git", "https://user@example.com/x", "Authorization: Bearer <token>",
		"Authorization: Bearer $TOKEN", "Authorization: Bearer YOUR_API_KEY", "uses Bearer authentication tokens", "the Basic auth scheme",
		"commit 3f786850e387550fdab836ed7e6dc881de23001b of sourcegraph", "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"id 123e4567-e89b-12d3-a456-426614174000", "PWD=/home/user/project2", "passwordField1.value = input2", "secretName: my-secret-1",
		"token limit is 128000 tokens", "password: validatePassword2,", "the password is not set", "tokens: 12345678", "key=value",
		"[REDACTED:github-pat:0a1b]", "api_key=[REDACTED:generic-api-key:0a1b]", "password_hash TEXT NOT NULL",
	} {
		require.Equal(t, text, redaction.New("k").Text(t.Context(), text))
	}
}

// Text that looks like a placeholder but is not ours hides nothing.
func TestForgedPlaceholders(t *testing.T) {
	token := of(t, "GitHub app", 1).Secret
	for _, text := range []string{"[REDACTED:" + token + ":0a1b]", "[REDACTED:github-pat:0a1b" + token + "]", "[REDACTED:github-pat:0a1b]" + token} {
		require.NotContains(t, redaction.New("k").Text(t.Context(), text), token)
	}
}

func TestCount(t *testing.T) {
	one, two := of(t, "GitHub classic", 1).Secret, of(t, "GitLab", 1).Secret
	r := redaction.New("k")
	r.Text(t.Context(), "nothing")
	require.Zero(t, r.Count())
	r.Text(t.Context(), one+" "+one)
	require.Equal(t, uint32(1), r.Count())
	r.Text(t.Context(), one+" "+one)
	require.Equal(t, uint32(1), r.Count(), "the same text again")
	r.Text(t.Context(), one+" and "+two)
	require.Equal(t, uint32(3), r.Count(), "both in another text")
}

func TestConcurrentUse(t *testing.T) {
	credentials := redactiontest.Credentials(5, 40)
	want := redaction.New("k")
	expected := make([]string, len(credentials))
	for i, c := range credentials {
		expected[i] = want.Text(t.Context(), c.Text)
	}
	r := redaction.New("k")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i, c := range credentials {
				if got := r.Text(t.Context(), c.Text); got != expected[i] {
					t.Errorf("%q became %q", expected[i], got)
				}
			}
		})
	}
	wg.Wait()
	require.Equal(t, want.Count(), r.Count())
}

// pieces are parts of texts: text that makes rules match, halves of it, and disturbances.
func pieces(t testing.TB) []string {
	t.Helper()
	p := []string{
		" ", "\n", "\"", "\\", "\\n", "\\\"", "'", "=", ":", ", ", "&", "@", "{", "}", "[", "]", "password", "api_key", "token ", "curl -u ",
		"curl -H \"Authorization: Bearer ", "://", "http://a:", "Authorization: Basic ", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----",
		"[REDACTED:github-pat:0a1b]", "[REDACTED:private-key:ffff]", "[REDACTED:", "密码是", "中", "\xff", "é", "secret=", "user:", "a1B2c3D4e5F6g7H8",
	}
	for _, c := range redactiontest.Credentials(9, 2*len(redactiontest.Kinds())) {
		p = append(p, c.Text, c.Secret, c.Secret[:len(c.Secret)/2], c.Secret[len(c.Secret)/2:])
	}
	return p
}

func checkRedacted(t interface {
	require.TestingT
	Helper()
}, text string,
) {
	t.Helper()
	r := redaction.New("k")
	redacted := r.Text(context.Background(), text)
	require.Equal(t, redacted, r.Text(context.Background(), redacted), "redacting it again changes it")
	require.Equal(t, redacted, redaction.New("k").Text(context.Background(), text))
	require.Equal(t, redacted == text, r.Count() == 0)
	if utf8.ValidString(text) {
		require.True(t, utf8.ValidString(redacted))
	}
}

func TestProperties(t *testing.T) {
	from := pieces(t)
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(from), 0, 24).Draw(t, "pieces"), "")
		checkRedacted(t, text)
		// JSON stays valid JSON.
		encoded, err := json.Marshal(map[string]string{"a": text, "b": "c"})
		require.NoError(t, err)
		require.True(t, json.Valid([]byte(redaction.New("k").Text(t.Context(), string(encoded)))))
	})
}

func FuzzText(f *testing.F) {
	for _, p := range pieces(f) {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, text string) { checkRedacted(t, text) })
}

// endsAfter is a context that ends after it was asked a number of times.
type endsAfter struct{ left int }

func (*endsAfter) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }

func (*endsAfter) Done() <-chan struct{} { return nil }

func (*endsAfter) Value(any) any { return nil }

func (c *endsAfter) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// After the operation has ended, at most the current block is searched, and no text is returned.
func TestEndedContext(t *testing.T) {
	token := of(t, "GitHub classic", 1).Secret
	text := strings.Repeat("the key of the words\n", 100_000) + token
	for _, left := range []int{0, 1, 2, 5, 40} {
		ctx := &endsAfter{left}
		r := redaction.New("k")
		require.Empty(t, r.Text(ctx, text))
		require.GreaterOrEqual(t, ctx.left, -8, "looked at after %d", left)
		require.Zero(t, r.Count())
		require.Empty(t, r.Text(ctx, "nothing"))
	}
	ended, cancel := context.WithCancel(t.Context())
	r := redaction.New("k")
	part := r.Within(ended)
	require.Equal(t, r.Text(t.Context(), token), part(token))
	cancel()
	require.Empty(t, part(token))
	require.NotEmpty(t, r.Text(t.Context(), token), "the operation goes on")
	require.Equal(t, uint32(1), r.Count(), "they count together")
}

// A key without context is recognized by its prefix.
func TestKeysByTheirPrefix(t *testing.T) {
	const mixed, hex = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5hJ7kL9mN1pQ3sT5vW7yZ9bC1dE3fG5hJ7kL9mN1pQ3sT5", "0123456789abcdef"
	for _, key := range []string{
		"sk-or-v1-" + strings.Repeat(hex, 4), "sk-" + mixed[:32], "sk-" + mixed[:48], "gsk_" + mixed[:52], "xai-" + mixed[:80],
		"tvly-" + mixed[:32], "tvly-dev-" + mixed[:32], "sbp_" + strings.Repeat(hex, 3)[:40], "figd_" + mixed[:40],
	} {
		for _, text := range []string{key, "it is " + key + ".", `["` + key + `"]`} {
			require.NotContains(t, redaction.New("k").Text(t.Context(), text), key[10:])
		}
	}
	for text, secret := range map[string]string{
		"curl https://api.telegram.org/bot123456789:" + mixed[:35] + "/getMe":      mixed[:35],
		"https://discord.com/api/webhooks/123456789012345678/" + mixed[:68] + "\n": mixed[:68],
	} {
		require.NotContains(t, redaction.New("k").Text(t.Context(), text), secret)
	}
}

// Line numbers of cat -n and grep -n before the lines of a key do not hide it.
func TestNumberedPrivateKeys(t *testing.T) {
	key := of(t, "RSA key", 1).Secret
	lines := strings.Split(key, "\n")
	for _, format := range []string{"     %d\t%s\n", "id_rsa:%d:%s\n", "./keys/id_rsa:%d:%s\n", "%5d | %s\n", "%d→%s\n"} {
		var text strings.Builder
		for i, line := range lines {
			fmt.Fprintf(&text, format, i+1, line)
		}
		redacted := redaction.New("k").Text(t.Context(), text.String())
		for _, line := range lines[1 : len(lines)-1] {
			require.NotContains(t, redacted, line, format)
		}
	}
}

// Texts of a megabyte: prose and code with few secrets, and nothing but secrets.
func BenchmarkText(b *testing.B) {
	var dense strings.Builder
	for _, c := range redactiontest.Credentials(3, 6000) {
		dense.WriteString(c.Text + "\n")
	}
	code := strings.Repeat("func (s *Session) Token(key string) (access Token, err error) {\n\treturn s.api.auth(key, \"a\\nb\")\n}\n", 11000)
	for name, text := range map[string]string{"code": code[:1<<20], "secrets": dense.String()[:1<<20], "one line": strings.ReplaceAll(code, "\n", " ")[:1<<20]} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(1 << 20)
			for b.Loop() {
				redaction.New("k").Text(b.Context(), text)
			}
		})
	}
}
