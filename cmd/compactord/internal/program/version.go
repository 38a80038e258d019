package program

import (
	"fmt"

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
	fmt.Fprintf(a.Out, "compactord %s\n", b.Version)
	switch {
	case b.Revision == "":
		fmt.Fprintln(a.Out, "revision   unknown: it was built without one")
	case b.Modified:
		fmt.Fprintf(a.Out, "revision   %s (%s), with changes that are not committed\n", b.Revision, b.Time)
	default:
		fmt.Fprintf(a.Out, "revision   %s (%s)\n", b.Revision, b.Time)
	}
	fmt.Fprintf(a.Out, "built with %s for %s\n", b.Go, b.Platform)
	return nil
}
