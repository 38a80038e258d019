package program

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

// manCommand is `compactord man`.
type manCommand struct{}

// Help is printed below the flags.
func (c *manCommand) Help() string {
	return `  read it:     compactord man | man -l -
  install it:  compactord man > /usr/local/share/man/man1/compactord.1`
}

// Run prints the page.
func (c *manCommand) Run(a *api.App) error {
	all, err := newParser(a, nil)
	if err != nil {
		return err
	}
	page := &manPage{a.Out}
	fmt.Fprintf(page.out, ".TH %s 1 \"\" %s\n", strings.ToUpper(terminal.ProgramName), roff("compactord "+terminal.ThisBuild().Version))
	page.section("NAME")
	page.text(terminal.ProgramName + " - keep the conversations of language model agents within their context window")
	page.section("SYNOPSIS")
	page.text(terminal.ProgramName + " COMMAND [flags] [arguments]")
	page.section("DESCRIPTION")
	page.text(description)
	page.section("COMMANDS")
	for _, command := range all.Model.Leaves(true) {
		page.command(command)
	}
	return nil
}

// manPage is a page in the language of man.
type manPage struct{ out *bufio.Writer }

func (p *manPage) section(name string) { fmt.Fprintf(p.out, ".SH %s\n", name) }

// text prints paragraphs. Blank lines stand between them, and lines that are indented keep their form.
func (p *manPage) text(text string) {
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		switch {
		case strings.TrimSpace(line) == "":
			fmt.Fprintln(p.out, ".PP")
		case strings.HasPrefix(line, " "):
			fmt.Fprintf(p.out, ".br\n%s\n.br\n", roff(line))
		default:
			fmt.Fprintln(p.out, roff(line))
		}
	}
}

func (p *manPage) command(c *kong.Node) {
	fmt.Fprintf(p.out, ".SS %s\n", roff(c.Summary()))
	p.text(c.Help)
	if c.Detail != "" {
		fmt.Fprintln(p.out, ".PP")
		p.text(c.Detail)
	}
	for _, argument := range c.Positional {
		fmt.Fprintf(p.out, ".TP\n%s\n", roff(argument.Summary()))
		p.text(argument.Help)
	}
	for _, flag := range c.Flags {
		if flag.Hidden {
			continue
		}
		name := "--" + flag.Name
		if flag.Short != 0 {
			name = "-" + string(flag.Short) + ", " + name
		}
		if !flag.IsBool() {
			name += "=" + flag.FormatPlaceHolder()
		}
		fmt.Fprintf(p.out, ".TP\n\\fB%s\\fR\n", roff(name))
		p.text(flag.Help)
		if len(flag.Envs) > 0 {
			p.text("Environment: " + strings.Join(flag.Envs, ", ") + ".")
		}
	}
}

// roff returns a line that has no requests and escapes.
func roff(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		return `\&` + line
	}
	return line
}
