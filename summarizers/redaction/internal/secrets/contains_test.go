package secrets

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The faster form of an allowlist finds what its expression finds.
func TestContainsWhatTheExpressionDoes(t *testing.T) {
	pieces := strings.Fields("access ibility or id random api name version rapid capital jar author X-MS-Exchange-Organization-Auth credentials " +
		"withCredentials bucket foreign hot pub public key turkey alias press ed vault keyVaultToStoreSecrets store tab file path monkey Monkey MONKEY mONKEY " +
		"secret size csrf token io.jsonwebtoken url uri endpoint A_B= a_b= : . - _ = a1 Z 0 --mount=type=secret, import from ' { }")
	pieces = append(pieces, "\n", " ", "\t", "=\n")
	drawn := rand.New(rand.NewPCG(1, 2))
	lists, matches := 0, 0
	for i := range loaded().rules {
		for _, list := range loaded().rules[i].allow() {
			if list.parts == nil {
				continue
			}
			lists++
			plain := regexp.MustCompile(strings.Join(list.Regexes, "|"))
			for range 4000 {
				var text strings.Builder
				for range drawn.IntN(8) + 1 {
					piece := pieces[drawn.IntN(len(pieces))]
					if drawn.IntN(4) == 0 {
						piece = strings.ToUpper(piece)
					}
					text.WriteString(piece)
				}
				want := plain.MatchString(text.String())
				require.Equal(t, want, list.parts.match(text.String()), "%q", text.String())
				if want {
					matches++
				}
			}
		}
	}
	require.GreaterOrEqual(t, lists, 3)
	require.Greater(t, matches, 1000)
}
