package sessions

import (
	"context"
	"fmt"
	"slices"
	"text/tabwriter"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Block is `compactord block`.
type Block struct {
	Name []string `arg:"" help:"Context blocks, by their names." optional:""`
	onSession
	List      bool    `help:"List the blocks, instead of printing some."`
	Remove    bool    `help:"Remove the blocks."`
	AsOf      *uint32 `help:"Look at the session at this point of its log, instead of now." placeholder:"SEQUENCE"`
	Text      string  `help:"Set the block to this text." placeholder:"TEXT"`
	TextFile  string  `help:"Set the block to the text in a file; - is standard input." placeholder:"FILE"`
	Place     string  `help:"Where views show it: leading (after the instructions) or latest (before the newest turn)." enum:"leading,latest" default:"latest" placeholder:"PLACE"`
	Priority  uint32  `help:"Where not all blocks fit, those of the lowest priority are cut first." placeholder:"N"`
	MaxTokens uint32  `help:"The most tokens that views show of it; 0 means no limit." placeholder:"N"`
	Turns     uint32  `help:"For how many turns it holds; 0 means until it is replaced or removed." placeholder:"N"`
	Operator  bool    `help:"Let it speak with the operator's voice. Needs --place leading, and a policy that allows it."`
}

// Help is printed below the flags.
func (c *Block) Help() string {
	return `A context block is content under a name that views show beside the messages, such as a plan or a memory. With --text or
--text-file one block is set; otherwise the blocks that are named are printed whole.`
}

// Run lists, prints, sets or removes context blocks.
func (c *Block) Run(ctx context.Context, a *api.App) error {
	sets := a.Given["text"] || a.Given["text-file"]
	if err := c.check(a, sets); err != nil {
		return err
	}
	request := &compactordv1.UpdateContextBlocksRequest{SessionId: c.Session}
	if sets {
		text := c.Text
		if a.Given["text-file"] {
			var err error
			if text, err = a.ReadText(c.TextFile); err != nil {
				return err
			}
		}
		request.Set = []*compactordv1.ContextBlock{c.block(text)}
	}
	if c.Remove {
		request.Remove = c.Name
	}
	return c.with(ctx, a, func(client *api.Client) error {
		if !sets && !c.Remove {
			return c.read(ctx, a, client)
		}
		return c.update(ctx, a, client, request)
	})
}

// check refuses flags that contradict each other.
func (c *Block) check(a *api.App, sets bool) error {
	does := 0
	for _, each := range []bool{c.List, c.Remove, sets} {
		if each {
			does++
		}
	}
	about := a.Given["place"] || a.Given["priority"] || a.Given["max-tokens"] || a.Given["turns"] || c.Operator
	switch {
	case does > 1 || a.Given["text"] && a.Given["text-file"]:
		return terminal.Usagef("give one of --list, --remove, --text and --text-file")
	case c.List && len(c.Name) > 0:
		return terminal.Usagef("--list lists all blocks: leave out the names")
	case !c.List && len(c.Name) == 0:
		return terminal.Usagef("name a block, or list them with --list")
	case sets && len(c.Name) > 1:
		return terminal.Usagef("--text and --text-file set one block: name one")
	case about && !sets:
		return terminal.Usagef("--place, --priority, --max-tokens, --turns and --operator need --text or --text-file")
	case c.AsOf != nil && (sets || c.Remove):
		return terminal.Usagef("--as-of changes nothing: leave out --remove, --text and --text-file")
	}
	return nil
}

func (c *Block) block(text string) *compactordv1.ContextBlock {
	return &compactordv1.ContextBlock{
		Name: c.Name[0], Priority: c.Priority, MaxTokens: c.MaxTokens, Turns: c.Turns, Operator: c.Operator,
		Place: compactordv1.BlockPlace(terminal.EnumNumber(compactordv1.BlockPlace_value, "BLOCK_PLACE_", c.Place)),
		Parts: []*compactordv1.Part{{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: text}}}},
	}
}

func (c *Block) update(
	ctx context.Context, a *api.App, client *api.Client, request *compactordv1.UpdateContextBlocksRequest,
) error {
	answer, err := client.Sessions.UpdateContextBlocks(ctx, request)
	if err != nil {
		return api.RefusedFlags(err)
	}
	if c.JSON {
		if err := terminal.PrintJSON(a.Out, terminal.WholeAnswer(answer)); err != nil {
			return err
		}
	}
	done, nothing := "Set", "set so already"
	if c.Remove {
		done, nothing = "Removed", "there is no such block"
	}
	switch {
	case answer.Sequence == nil:
		return terminal.NothingError{Why: nothing}
	case !c.JSON:
		fmt.Fprintf(a.Out, "%s %s of session %s. The context holds %s now.\n", done, terminal.Count(len(c.Name), "context block"),
			c.Session, contextText(answer.GetReport()))
	}
	return nil
}

// read lists the blocks, or prints those that are named.
func (c *Block) read(ctx context.Context, a *api.App, client *api.Client) error {
	blocks, err := contextBlocks(ctx, client, &compactordv1.ListContextBlocksRequest{
		SessionId: c.Session, Names: c.Name, AsOf: c.AsOf,
	})
	if err != nil {
		return err
	}
	for _, name := range c.Name {
		if !slices.ContainsFunc(blocks, func(b *compactordv1.ContextBlockState) bool { return b.GetBlock().GetName() == name }) {
			return fmt.Errorf("session %q has no context block %q: --list shows those that it has", c.Session, name)
		}
	}
	switch {
	case c.JSON:
		return terminal.PrintJSON(a.Out, map[string]any{"blocks": terminal.WholeAnswers(blocks)})
	case len(blocks) == 0 && c.List:
		fmt.Fprintf(a.Out, "Session %s has no context blocks.\n", c.Session)
		return nil
	case c.List:
		return listBlocks(a, blocks)
	}
	for _, b := range blocks {
		for _, p := range b.GetBlock().GetParts() {
			fmt.Fprintln(a.Out, terminal.Printable(conversation.PartText(p)))
		}
	}
	return nil
}

func listBlocks(a *api.App, blocks []*compactordv1.ContextBlockState) error {
	table := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "BLOCK\tPLACE\tPRIORITY\tTOKENS\tSHOWN\tTURNS LEFT\tSET")
	for _, b := range blocks {
		turns := "-"
		if b.TurnsLeft != nil {
			turns = terminal.Number(b.GetTurnsLeft())
		}
		fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%s\t%s\t%s\n", b.GetBlock().GetName(),
			terminal.EnumName(b.GetBlock().GetPlace(), "BLOCK_PLACE_"), b.GetBlock().GetPriority(),
			terminal.Number(b.GetBlock().GetTokens()), terminal.Number(b.GetShownTokens()), turns,
			b.GetSetAt().AsTime().Local().Format("2006-01-02 15:04"))
	}
	return table.Flush()
}
