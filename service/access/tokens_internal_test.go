package access

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// hashOf returns the hash of a token that a test has made.
func hashOf(t testing.TB, token string) Hash {
	t.Helper()
	hash, err := HashOf(token)
	require.NoError(t, err)
	return hash
}

func TestNewTokensAreTokens(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		token := NewToken()
		hashOf(t, token)
		require.False(t, seen[token])
		seen[token] = true
	}
}

// What may be easy to guess is no token, since a fast hash protects only what is not.
func TestOtherTextsAreNoTokens(t *testing.T) {
	token := NewToken()
	for _, text := range []string{
		"", "secret", Prefix, token[:len(token)-1], token + "0", strings.ToUpper(token), "x" + token[1:], token[:len(token)-1] + "g",
		" " + token[1:], token[:20] + "\x00" + token[21:],
	} {
		_, err := HashOf(text)
		require.ErrorIs(t, err, ErrNoToken, "%q", text)
	}
}

func TestLinesAreReadAsTheyAreWritten(t *testing.T) {
	written := []Entry{
		{Subject: "ci", Role: Write, Hash: hashOf(t, NewToken())},
		{Subject: "ci", Role: Write, Hash: hashOf(t, NewToken()), Expires: time.Date(2027, 1, 31, 12, 0, 0, 0, time.UTC)},
		{Subject: "a.b_c-d@e", Role: Read, Hash: hashOf(t, NewToken())},
		{Subject: "x", Role: Admin, Hash: hashOf(t, NewToken())},
		{Subject: "x", Tenant: "team-1", Role: Admin, Hash: hashOf(t, NewToken())},
		{Subject: "x", Tenant: "b", Role: Read, Hash: hashOf(t, NewToken()), Expires: time.Date(2027, 1, 31, 12, 0, 0, 0, time.UTC)},
	}
	var file strings.Builder
	file.WriteString("# name role hash expiry\n\n")
	for _, e := range written {
		file.WriteString(e.Line() + "\r\n")
	}
	read, err := ParseTokens([]byte(file.String()))
	require.NoError(t, err)
	require.Equal(t, written, read)
	none, err := ParseTokens([]byte("# nobody\n"))
	require.NoError(t, err)
	require.Empty(t, none)
}

func TestAllProblemsOfAFileAreNamed(t *testing.T) {
	token := NewToken()
	good := Entry{Subject: "ci", Role: Write, Hash: hashOf(t, token)}.Line()
	hashed := "sha256:" + strings.Repeat("1", 64)
	content := strings.Join([]string{
		good,
		"two fields",
		"bad/name owner sha256:12 tomorrow",
		"ci write " + token,
		good,
		"ci write " + strings.Repeat("0", 64) + " 2027-01-31T00:00:00Z",
		"ci read sha256:" + strings.Repeat("g", 64),
		"ci read " + hashed + " tenant=A",
		"ci read " + hashed + " tenant=a tenant=b",
		"ci read " + hashed + " 2027-01-31T00:00:00Z 2027-01-31T00:00:00Z",
		"",
	}, "\n")
	_, err := ParseTokens([]byte(content))
	require.EqualError(t, err, `line 2: write NAME ROLE sha256:HASH, and perhaps the time when it expires and tenant=NAME
line 3: the name must have 1 to 64 letters, digits, '.', '_', '-' and '@'
line 3: the role must be read, write, admin
line 3: the hash must be sha256: and 64 hexadecimal digits
line 3: the expiry must be a time such as 2027-01-31T00:00:00Z
line 4: here is a token and not its hash: whoever has read the file knows it. Make another one
line 5: line 1 has the same hash
line 6: the hash must be sha256: and 64 hexadecimal digits
line 7: the hash must be sha256: and 64 hexadecimal digits
line 8: the tenant must have 1 to 63 lower-case letters, digits, '.', '_' and '-', and begin with a letter or digit
line 9: it names two tenants
line 10: it has two expiries`)
	require.NotContains(t, err.Error(), token)
}

// An error for each of a million lines would itself be large.
func TestProblemsAreBounded(t *testing.T) {
	_, err := ParseTokens([]byte(strings.Repeat("x\n", 1000)))
	require.ErrorContains(t, err, "and 950 further problems")
	require.Equal(t, 50, strings.Count(err.Error(), "\n"))
	_, err = ParseTokens([]byte(strings.Repeat("\n", MaxTokensBytes+1)))
	require.ErrorContains(t, err, "more than")
}

// Of a file that is written in part, no beginning counts that ends within a line.
func TestFilesWrittenInPartAreRefused(t *testing.T) {
	line := Entry{Subject: "ci", Role: Write, Hash: hashOf(t, NewToken()), Expires: time.Now()}.Line() + "\n"
	for n := range len(line) {
		_, err := ParseTokens([]byte(line[:n]))
		require.ErrorIs(t, err, ErrUnfinished)
	}
	_, err := ParseTokens([]byte(line))
	require.NoError(t, err)
}

func FuzzParseTokens(f *testing.F) {
	f.Add([]byte("ci write sha256:" + strings.Repeat("0", 64) + "\n"))
	f.Add([]byte("# x\n\n\x00 \xff\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		entries, err := ParseTokens(content)
		if err != nil {
			return
		}
		for _, e := range entries {
			again, err := ParseTokens([]byte(e.Line() + "\n"))
			require.NoError(t, err)
			require.Equal(t, e.Hash, again[0].Hash)
			require.Equal(t, e.Tenant, again[0].Tenant)
		}
	})
}
