package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/compactord/compactord/docs"
)

// helpCommand is `compactord help`.
type helpCommand struct {
	Topic string `arg:"" help:"What to read about: a topic, or a command." optional:""`
}

// Help is printed below the flags.
func (c *helpCommand) Help() string {
	return `Without TOPIC the topics are listed. They are the documents of this version, in Markdown.`
}

// Run prints a document, or lists them.
func (c *helpCommand) Run(ctx context.Context, a *app) error {
	page, isPage := docs.Page(c.Topic)
	isCommand := a.line.isCommand(c.Topic)
	switch {
	case c.Topic == "":
		printTopics(a)
	case isPage:
		if isCommand {
			fmt.Fprintf(a.out, "The flags of the command: %s\n\n", a.hinted(command(c.Topic, "--help")))
		}
		fmt.Fprint(a.out, forReaders(a, page))
	case isCommand:
		return dispatch(ctx, a, []string{c.Topic, "--help"})
	default:
		return usagef("there is no topic %q; there are %s, and the commands", c.Topic, strings.Join(docs.Names(), ", "))
	}
	return nil
}

func printTopics(a *app) {
	fmt.Fprintf(a.out, "Topics, to be read like this one: %s\n\n", a.hinted(command("help", docs.Names()[0])))
	for _, name := range docs.Names() {
		fmt.Fprintf(a.out, "  %-15s %s\n", name, docs.Title(name))
	}
	fmt.Fprintf(a.out, "\nThe commands: %s --help\nThe flags of one: %s\n", a.line.program, a.hinted(command("compact", "--help")))
}

// linked is a link of Markdown to another document, or within one.
var linked = regexp.MustCompile(`\[([^\[\]]+)\]\((?:([a-z-]+)\.md)?(?:#[a-z0-9-]+)?\)`)

// mark is a line for those who make parts of a document.
var mark = regexp.MustCompile(`(?m)^<!--.*-->\n\n?`)

// forReaders writes links as one can follow them without the files.
func forReaders(a *app, page string) string {
	page = mark.ReplaceAllString(page, "")
	return linked.ReplaceAllStringFunc(page, func(link string) string {
		parts := linked.FindStringSubmatch(link)
		if !slices.Contains(docs.Names(), parts[2]) {
			return parts[1]
		}
		return fmt.Sprintf("%s (%s)", parts[1], a.hinted(command("help", parts[2])))
	})
}
