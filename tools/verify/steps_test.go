package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		line     string
		tier     tier
		steps    string
		packages string
		flags    string
	}{
		{line: "", steps: "tools lint check-generate test python typescript"},
		{line: "full", tier: full, steps: "tools lint check-generate test python typescript frameworks fuzz"},
		{line: "full test ./a", tier: full, steps: "test", packages: "./a"},
		{line: "test ./a full", tier: full, steps: "test", packages: "./a"},
		{line: "test -- full", steps: "test", flags: "full"},
		{line: "lint", steps: "lint"},
		{line: "generate test", steps: "generate test"},
		{line: "test ./a/... ./b", steps: "test", packages: "./a/... ./b"},
		{line: "test --", steps: "test"},
		{line: "test ./a -- -run lint -v", steps: "test", packages: "./a", flags: "-run lint -v"},
		{line: "test ./a lint", steps: "test lint", packages: "./a"},
		{line: "-- -v", steps: "tools lint check-generate test python typescript", flags: "-v"},
	} {
		t.Run(c.line, func(t *testing.T) {
			s, err := parse(strings.Fields(c.line))
			require.NoError(t, err)
			var names []string
			for _, step := range s.steps {
				names = append(names, step.name)
			}
			require.Equal(t, c.steps, strings.Join(names, " "))
			require.Equal(t, c.tier, s.tier)
			require.Equal(t, c.packages, strings.Join(s.test.packages, " "))
			require.Equal(t, c.flags, strings.Join(s.test.flags, " "))
			require.False(t, s.help)
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for line, message := range map[string]string{
		"tset":         `unknown step "tset"`,
		"./a":          `unknown step "./a"`,
		"lint ./a":     `unknown step "./a"`,
		"test -v":      "unknown flag -v; write the flags of go test after --",
		"lint -- -v":   "the flags after -- are for the step test, which is not named",
		"./a test ./b": `unknown step "./a"`,
	} {
		_, err := parse(strings.Fields(line))
		require.EqualError(t, err, message, line)
	}
}

func TestParseHelp(t *testing.T) {
	for _, word := range []string{"help", "-h", "--help"} {
		s, err := parse([]string{word})
		require.NoError(t, err)
		require.True(t, s.help)
	}
	for _, s := range steps() {
		require.Contains(t, usage(), "  "+s.name+" ")
	}
}
