package program

import (
	"fmt"
	"io"

	"github.com/alecthomas/kong"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

// versionCommand is `compactord version`.
type versionCommand struct {
	JSON bool `help:"Print one JSON document." name:"json"`
}

// Run prints the version.
func (c *versionCommand) Run(a *api.App) error {
	b := terminal.ThisBuild()
	if c.JSON {
		return terminal.PrintJSON(a.Out, b)
	}
	printVersion(a.Out, b)
	return nil
}

func printVersion(w io.Writer, b terminal.Build) {
	fmt.Fprintf(w, "compactord %s\n", b.Version)
	switch {
	case b.Revision == "":
		fmt.Fprintln(w, "revision   unknown: it was built without one")
	case b.Modified:
		fmt.Fprintf(w, "revision   %s (%s), with changes that are not committed\n", b.Revision, b.Time)
	default:
		fmt.Fprintf(w, "revision   %s (%s)\n", b.Revision, b.Time)
	}
	fmt.Fprintf(w, "built with %s for %s\n", b.Go, b.Platform)
}

// versionFlag is `compactord --version`, which prints what `compactord version` does.
type versionFlag bool

// BeforeReset prints the version before kong looks at the rest of the command line, as --help does.
func (f versionFlag) BeforeReset(app *kong.Kong) error {
	printVersion(app.Stdout, terminal.ThisBuild())
	app.Exit(terminal.ExitDone)
	return nil
}
