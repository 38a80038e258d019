//go:build unix

package secrets

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// maxRatio is how many times the processor's time of ordinary text any other text may take. Texts made for it took ten
// thousand times as much when expressions read whole blocks.
const maxRatio = 200

func TestNoTextTakesLong(t *testing.T) {
	const size = 128 << 10
	ordinary := took(t, strings.Repeat("func (s *Session) Token(key string) (access Token, err error) {\n\treturn s.api.auth(key)\n}\n", size/80)[:size])
	var words []string
	for i := range loaded().rules {
		words = append(words, loaded().rules[i].Keywords...)
	}
	for _, unit := range []string{
		strings.Join(words, " "), strings.Join(words, "="), strings.Join(words, ":\""), "key=a1b2c3d4e5f6 ", "pass:a1", "pw=", "auth=", "curl -u a:b ", "curl -b ",
		"-----BEGIN PRIVATE KEY-----\n", "-----END PRIVATE KEY-----\nQUJDREVGR0hJSktM\n", "kind: secret data: a: b ", "\\\\\"", "password=\"a", "://a:b@", "密码", "şifre", ".", "=", "A1b2", "\"",
	} {
		text := strings.Repeat(unit, size/len(unit)+1)[:size]
		require.Less(t, took(t, text).Seconds(), maxRatio*ordinary.Seconds(), "%.40q takes too long", unit)
	}
}

// took returns the least processor's time that a search took.
func took(t *testing.T, text string) time.Duration {
	t.Helper()
	var all []time.Duration
	for range 3 {
		start := used(t)
		loaded().find(t.Context(), text)
		all = append(all, used(t)-start)
	}
	least := slices.Min(all)
	t.Logf("%v for %.20q", least, text)
	return max(least, 100*time.Microsecond)
}

func used(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// What the expressions for lines begin with is looked for before they are matched.
func TestExpressionsForLines(t *testing.T) {
	for i := range loaded().rules {
		for _, list := range loaded().rules[i].Allowlists {
			for _, expression := range list.Regexes {
				if list.Target == Line {
					require.True(t, strings.HasPrefix(expression, "--mount=") || strings.HasPrefix(expression, "import"), expression)
				}
			}
		}
	}
}
