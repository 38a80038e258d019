package config

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// soundsSecret matches names and documentation of settings that may be secrets.
var soundsSecret = regexp.MustCompile(`(?i)token|key|password|secret|header`)

// documentedKeys are the rows of the tables of docs/configuration.md by the keys that they begin with.
func documentedKeys(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "configuration.md"))
	require.NoError(t, err)
	rows := make(map[string]string)
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_.]+)`(.*)$").FindAllStringSubmatch(string(text), -1) {
		key := row[1][strings.LastIndex(row[1], ".")+1:]
		rows[key] += row[2]
	}
	require.NotEmpty(t, rows)
	return rows
}

// Whoever adds a setting that may be a secret has to say whether it is one. Numbers and switches hold none.
func TestEverySecretSettingIsMarked(t *testing.T) {
	t.Parallel()
	rows := documentedKeys(t)
	all := declaredBy(reflect.TypeFor[Config]())
	require.Len(t, all, len(settingKeys()))
	for _, section := range sectionKeys {
		found := declaredIn(section)
		// Its keys are tenants, and its values names of policies.
		require.Equal(t, section == tenantPoliciesKey, len(found) == 0, "%s: its settings are not declared", section)
		all = append(all, found...)
	}
	var problems []string
	for _, d := range all {
		path := strings.TrimPrefix(d.section+"."+d.key, ".")
		help := d.help
		if d.section != policiesKey {
			help += rows[d.key]
		}
		sounds := d.text && (soundsSecret.MatchString(d.key) || soundsSecret.MatchString(help))
		switch {
		case d.secret && d.public != "":
			problems = append(problems, path+" is secret and public")
		case sounds && !d.secret && d.public == "":
			problems = append(problems, path+": mark it with the tag secret, or with public and the reason")
		case !sounds && d.public != "":
			problems = append(problems, path+" does not sound like a secret")
		}
	}
	require.Empty(t, problems)
}

// A setting is hidden by its mark, whatever its value looks like.
func TestMarkedSettingsAreHidden(t *testing.T) {
	t.Parallel()
	type with struct {
		Phrase string `secret:"" yaml:"phrase"`
		Other  string `yaml:"other"`
	}
	found := declaredBy(reflect.TypeFor[with]())
	require.Equal(t, []declared{{key: "phrase", text: true, secret: true}, {key: "other", text: true}}, found)
	var text string
	require.True(t, listed([]setting{{"phrase", marked{into: &text, secret: true}}})[0].secret)
	secrets := map[string]bool{"phrase": true}
	given := settings{"a": settings{"phrase": "plain words", "other": "plain words"}, "phrase": []any{"x"}, "list": []any{"sk-misplaced"}}
	require.Equal(t, map[string]any{
		"a": map[string]any{"phrase": hiddenSecret, "other": "plain words"}, "phrase": hiddenSecret, "list": []any{hiddenSecret},
	}, hidden(given, secrets))
}
