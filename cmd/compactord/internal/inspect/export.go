package inspect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

// standardOutput is the value of --export for standard output.
const standardOutput = "-"

// maxFileBytes is the size of the largest file that is exported: what trackers of issues and mail take as one attachment.
const maxFileBytes = 25_000_000

// exportedJSON is the document of a page that is exported.
type exportedJSON struct {
	File    string   `json:"file"`
	Bytes   int      `json:"bytes"`
	Secrets uint32   `json:"secrets"`
	LeftOut []string `json:"left_out"`
}

// writable reports a place of the file that cannot be written, before anything is read.
func (c *Command) writable() error {
	if c.Export == "" || c.Export == standardOutput {
		return nil
	}
	if info, err := os.Stat(c.Export); err == nil && info.IsDir() {
		return terminal.Usagef("--export: %s is a folder", c.Export)
	}
	if info, err := os.Stat(filepath.Dir(c.Export)); err != nil || !info.IsDir() {
		return terminal.Usagef("--export: there is no folder %s", filepath.Dir(c.Export))
	}
	return nil
}

// export writes the page to a file.
func (c *Command) export(ctx context.Context, a *api.App, conv *conversation.Conversation, p *terminal.Progress) error {
	p.Stage("reading "+conv.Name(), "", 0)
	held, err := collect(ctx, conv)
	if err != nil {
		return err
	}
	var secrets uint32
	if c.Redact {
		p.Stage("replacing secrets", "", 0)
		if secrets, err = held.redact(ctx); err != nil {
			return err
		}
	}
	held.describe(c.Redact, secrets)
	page, leftOut, err := held.fit(maxFileBytes)
	if err != nil {
		return err
	}
	p.Clear()
	for _, what := range leftOut {
		p.Say("left out, since the file would be larger than %s bytes: %s", terminal.Number(maxFileBytes), what)
	}
	if c.Export == standardOutput {
		_, err := a.Out.Write(page)
		return err
	}
	// It holds a conversation, so only this user can read it until they give it away.
	if err := os.WriteFile(c.Export, page, 0o600); err != nil {
		return cannotWrite(c.Export, err)
	}
	if c.JSON {
		return terminal.PrintJSON(a.Out, exportedJSON{c.Export, len(page), secrets, append([]string{}, leftOut...)})
	}
	fmt.Fprintf(a.Out, "Wrote %s: %s bytes.", terminal.InLine(c.Export), terminal.Number(len(page)))
	if c.Redact {
		fmt.Fprintf(a.Out, " Secrets were replaced in %s; no rule finds all, so look at it before you send it.", terminal.Count(secrets, "text"))
	}
	fmt.Fprintln(a.Out)
	return nil
}

// cannotWrite says why a file cannot be written.
func cannotWrite(path string, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return fmt.Errorf("cannot write %s: %w", strings.ToValidUTF8(path, "\uFFFD"), err)
}
