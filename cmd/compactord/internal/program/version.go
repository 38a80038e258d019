package program

import (
	"fmt"
	"io"

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
