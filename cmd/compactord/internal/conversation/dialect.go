package conversation

import (
	"strings"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/dialects"
	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/transcript"
)

// DialectNames lists the dialects, for help texts.
func DialectNames() string {
	all := dialects.All()
	names := make([]string, len(all))
	for i, d := range all {
		names[i] = d.Name()
	}
	return strings.Join(names, ", ")
}

// FormatNames lists the formats of transcripts that can be read, for help texts.
func FormatNames() string {
	all := transcript.Formats()
	names := make([]string, len(all))
	for i, f := range all {
		names[i] = string(f)
	}
	return strings.Join(names, ", ")
}

// DialectNamed returns the dialect that a flag names.
func DialectNamed(flag, name string) (dialect.Dialect, error) {
	d, known := dialects.Named(name)
	if !known {
		return nil, terminal.Usagef("%s: there is no dialect %q; there are %s", flag, name, DialectNames())
	}
	return d, nil
}

// Markdown is the value of --to for Markdown.
const Markdown = "markdown"
