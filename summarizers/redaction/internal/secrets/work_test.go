package secrets

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// maxSteps is how many steps rules may take for each byte, whatever the text: the worst takes 26. When expressions read
// whole blocks, some took thousands. What finders read beside expressions is not counted: BenchmarkAttacks measures it.
const maxSteps = 30

// workBytes is how long the texts are.
const workBytes = 64 << 10

// program is ordinary text with words of rules.
const program = "func (s *Session) Token(key string) (access Token, err error) {\n\treturn s.api.auth(key)\n}\n"

func TestNoTextIsReadManyTimes(t *testing.T) {
	for _, text := range attacks(testing.Short()) {
		assert.LessOrEqualf(t, loaded().read(t.Context(), text).steps(), maxSteps*workBytes, "%.60q", text)
	}
}

// Words of one name are keywords of the rule for names: it looks at the value behind them once.
func TestAValueOfAnyNameIsJudgedOnce(t *testing.T) {
	r := loaded().read(t.Context(), filled(" =otp_secretauthpassword"))
	require.Positive(t, r.judged)
	require.LessOrEqual(t, r.judged, workBytes)
}

func filled(unit string) string { return strings.Repeat(unit, workBytes/len(unit)+1)[:workBytes] }

// attacks are texts that are made to take long: each word of a rule and each beginning of one, alone and with what looks
// like a secret, all of them together, secrets that begin alike, depth.
func attacks(short bool) (texts []string) {
	var words []string
	for i := range loaded().rules {
		words = append(words, loaded().rules[i].Keywords...)
	}
	slices.Sort(words)
	words = slices.Compact(words)
	for i, word := range words {
		if short && i%8 != 0 {
			continue
		}
		for _, behind := range []string{"", " ", ".", "a", "=\"", "=A1b2c3d4e5f6g7h8 ", " is a b c "} {
			texts = append(texts, filled(word+behind))
		}
		texts = append(texts, filled(word[:len(word)-1]+" "))
	}
	for _, joint := range []string{"", " ", "=", ":\"", "\n", "=A1b2c3d4e5f6g7h8 "} {
		texts = append(texts, filled(strings.Join(words, joint)))
	}
	for _, unit := range []string{
		"a\n", "\n", " ", "a", "\\\\\"", "{\"a\":[", "[[[[", ".", "=", "A1b2", "\"", "key=a1b2c3d4e5f6 ", "pass:a1", "pw=Ab1!xyz9;", "curl -u a:b ", "curl -b ", "://a:b@",
		"-----BEGIN PRIVATE KEY-----\n", "-----END PRIVATE KEY-----\nQUJDREVGR0hJSktM\n", "kind: secret data: a: b ", "[REDACTED:", "[REDACTED:password:abcd]",
		"passphrase\toktamdp\n", " -u a -p ", "<<< ", "/aвойт", "Şifrea", "auth= age-secret-key-1", "$psk'%3D@", "fm2_psk\tpassword 7 |",
		"„", "«a", "“pw „", "passwort „a", "密码「", "://hook/", "/webhook/a1", "wifi:P:", " on >a", "auth plain ", "radius-server key ", "'a''", "seed:", "--set a.pw=b ",
		" --a pw=b", "contraseña,", "mysql\",", "user: a\npw: b\n", ";pw=a b",
		strings.Repeat("tk-us-", 100) + " ", "密码", "$5$", ":*:",
	} {
		texts = append(texts, filled(unit))
	}
	return append(append(texts, mixedTexts(words, short)...), alikeSecrets(), nestedSecrets())
}

// mixedTexts repeat what was drawn from words of rules, from what stands between a name and a value, and from values.
func mixedTexts(words []string, short bool) (texts []string) {
	g := rand.New(rand.NewPCG(1, 7))
	pieces := [][]string{
		words, words,
		{"", " ", "=", ":", "\n", "\t", "\"", "'", ",", ";", "/", "@", "-", "_", ".", "|", ">", "<", "(", "[", "{", "%", "&", "?", "$", "*", "\\", "「", "„", "»", "：", "é", "密"},
		{"a", "A1b2c3d4e5f6", "0f3a9c", "Zx9!kQs", "12345", "hunter", "a-b-c", "aB", "to ", " is ", " -p ", " -u ", "user ", "AKIA", "eyJ", "MII", "a.b.c"},
	}
	n := 1000
	if short {
		n = 20
	}
	for range n {
		unit := ""
		for range 1 + g.IntN(8) {
			list := pieces[g.IntN(len(pieces))]
			unit += list[g.IntN(len(list))]
		}
		texts = append(texts, filled(unit+" "))
	}
	return texts
}

// alikeSecrets are secrets that begin alike.
func alikeSecrets() string {
	var text strings.Builder
	for n := 0; text.Len() < workBytes; n++ {
		text.WriteString("token=A1b2c3d4" + strconv.Itoa(n*7919) + "x ")
	}
	return text.String()[:workBytes]
}

// nestedSecrets are secrets each of which begins with the one before, and places where all of them begin.
func nestedSecrets() string {
	var text strings.Builder
	whole := strings.Repeat("A1b2c3d4", 100)
	for n := 16; text.Len() < workBytes/2; n = n%600 + 8 {
		text.WriteString("token=" + whole[:n] + " ")
	}
	text.WriteString(strings.Repeat("A1b2c3d4", workBytes/16))
	return text.String()[:workBytes]
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
