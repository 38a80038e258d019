package futurereference

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWalkJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a":"b","c":{"d":[1,"e",{"f":null}]},"g":[["h"],2.50]}`: `key a; string b; key c; key d; number 1; string e; key f; key g; string h; number 2.50`,
		`["a",{"b":{"c":"d"},"e":"f"},"g"]`:                       `string a; key b; key c; string d; key e; string f; string g`,
		`"alone"`:                                                 `string alone`,
		`7`:                                                       `number 7`,
		`{}`:                                                      ``,
		`[true]`:                                                  ``,
	} {
		require.Equal(t, want, walked(t, text, true), text)
	}
	for _, text := range []string{``, `{"a"`, `{"a":1} 2`, `{"a":1}}`, `[1,`, `no`, `{"a" "b"}`} {
		walked(t, text, false)
	}
}

// walked returns what walkJSON reports.
func walked(t *testing.T, text string, valid bool) string {
	t.Helper()
	var leaves []string
	err := walkJSON(text, func(kind jsonLeaf, text string) {
		leaves = append(leaves, []string{"string ", "key ", "number "}[kind]+text)
	})
	require.Equal(t, valid, err == nil, text)
	return strings.Join(leaves, "; ")
}
