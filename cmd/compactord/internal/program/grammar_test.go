package program_test

import (
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/program"
)

// described is what a person can see of a command and of those below it.
func described(n *kong.Node) []string {
	lines := []string{n.Path(), n.Summary(), n.Help, n.Detail}
	for _, argument := range n.Positional {
		lines = append(lines, argument.Summary(), argument.Help, argument.Enum, argument.Default)
	}
	for _, f := range n.Flags {
		lines = append(lines, f.String(), f.Help, f.Enum, f.Default, f.FormatPlaceHolder())
		lines = append(lines, f.Envs...)
	}
	for _, below := range n.Children {
		lines = append(lines, described(below)...)
	}
	return lines
}

// A command line is read by the grammar of its command alone, which is the same as in the grammar of all.
func TestACommandIsPreparedAlone(t *testing.T) {
	for _, whole := range commands(t) {
		parser, err := program.Prepared(whole.Name)
		require.NoError(t, err)
		require.Len(t, parser.Model.Children, 1, whole.Name)
		require.Equal(t, described(whole), described(parser.Model.Children[0]))
		require.Equal(t, described(whole), described(program.Node(whole.Name)))
	}
}

// What names no command is read by the grammar of all, which says what there is.
func TestOtherWordsAreReadByAllCommands(t *testing.T) {
	for _, word := range []string{"--help", "-h", "conpact", "Compact", ""} {
		parser, err := program.Prepared(word)
		require.NoError(t, err)
		require.Len(t, parser.Model.Children, len(commands(t)), word)
	}
	require.Nil(t, program.Node("conpact"))
}
