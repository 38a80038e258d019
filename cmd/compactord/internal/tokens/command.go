// Package tokens is the command that makes tokens for clients of a daemon.
package tokens

import (
	"fmt"
	"time"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/service/access"
)

// Command is `compactord token`.
type Command struct {
	Name   string     `arg:"" help:"Who gets the token. Several tokens may have the same name."`
	Role   string     `default:"write" enum:"read,write,admin" help:"What the token allows: read, write or admin (default: ${default})." placeholder:"ROLE"`
	Tenant api.Tenant `help:"Whose sessions the token opens (default: those of callers without a tenant)." placeholder:"NAME"`
	Days   uint16     `help:"Days after which it expires (default: never)." placeholder:"N"`
	JSON   bool       `help:"Print one JSON document." name:"json"`
}

// Help is printed below the flags.
func (c *Command) Help() string {
	return `It prints a new token and the line for the file of the daemon's --tokens. The line holds only the token's hash: nobody can
learn the token from the file, and no other command prints it again. The daemon reads the file again within seconds.

A token with the role read reads sessions; write also changes them and has summaries written; admin also deletes them. With --tenant, the token opens the sessions
of this tenant and no others.`
}

// Run makes a token.
func (c *Command) Run(a *api.App) error {
	if err := access.CheckSubject(c.Name); err != nil {
		return terminal.AsUsage(err)
	}
	role, err := access.ParseRole(c.Role)
	if err != nil {
		return terminal.AsUsage(err)
	}
	token := access.NewToken()
	hash, err := access.HashOf(token)
	if err != nil {
		return err
	}
	entry := access.Entry{Subject: c.Name, Tenant: string(c.Tenant), Role: role, Hash: hash}
	if c.Days > 0 {
		entry.Expires = time.Now().AddDate(0, 0, int(c.Days))
	}
	if c.JSON {
		return terminal.PrintJSON(a.Out, map[string]string{"token": token, "line": entry.Line()})
	}
	fmt.Fprintf(a.Out, "The token, which is not shown again:\n  %s\nThe line for the file of --tokens:\n  %s\n", token, entry.Line())
	return nil
}
