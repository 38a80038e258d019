package program

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/docs"
)

// helpCommand is `compactord help`.
type helpCommand struct {
	Topic string `arg:"" help:"A topic or a command." optional:""`
}

// Help is printed below the flags.
func (c *helpCommand) Help() string {
	return `Without TOPIC it lists the topics. They are the documents of this version, in Markdown.`
}

// Run prints a document or the list of documents.
func (c *helpCommand) Run(ctx context.Context, a *api.App) error {
	page, isPage := docs.Page(c.Topic)
	isCommand := a.Line.IsCommand(c.Topic)
	switch {
	case c.Topic == "":
		printTopics(a)
	case isPage:
		if isCommand {
			fmt.Fprintf(a.Out, "The flags of the command: %s\n\n", a.Hinted(terminal.Command(c.Topic, "--help")))
		}
		fmt.Fprint(a.Out, forReaders(a, page))
	case isCommand:
		return dispatch(ctx, a, []string{c.Topic, "--help"})
	default:
		return terminal.Usagef("there is no topic %q; there are %s, and the commands", c.Topic, strings.Join(docs.Names(), ", "))
	}
	return nil
}

func printTopics(a *api.App) {
	fmt.Fprintf(a.Out, "Topics. To read one, for example: %s\n\n", a.Hinted(terminal.Command("help", docs.Names()[0])))
	for _, name := range docs.Names() {
		title, _, _ := strings.Cut(docs.Title(name), ":")
		terminal.Paragraph(a.Out, title+": "+docs.Summary(name), fmt.Sprintf("  %-15s ", name), strings.Repeat(" ", 18))
	}
	fmt.Fprintf(a.Out, "\nThe commands: %s --help\nThe flags of one: %s\n", a.Line.Program, a.Hinted(terminal.Command("compact", "--help")))
}

// linked matches a Markdown link to another document or to a heading.
var linked = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\[([^\[\]]+)\]\((?:([a-z-]+)\.md)?(?:#[a-z0-9_-]+)?\)`)
})

// mark matches a line that marks a generated part of a document.
var mark = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^<!--.*-->\n\n?`)
})

// forReaders turns links between documents into commands that show them.
func forReaders(a *api.App, page string) string {
	page = mark().ReplaceAllString(page, "")
	return linked().ReplaceAllStringFunc(page, func(link string) string {
		parts := linked().FindStringSubmatch(link)
		if !slices.Contains(docs.Names(), parts[2]) {
			return parts[1]
		}
		return fmt.Sprintf("%s (%s)", parts[1], a.Hinted(terminal.Command("help", parts[2])))
	})
}
