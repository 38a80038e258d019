package transcripts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Tokens is `compactord tokens`.
type Tokens struct {
	conversation.Source
	Text      string `help:"The text to count, instead of a file." placeholder:"TEXT"`
	TextFile  string `help:"File with a text, not a transcript, to count; - is standard input." placeholder:"PATH"`
	Estimator string `help:"How to count: chars4, o200k_base, cl100k_base or calibrated (for sessions with usage reports)." placeholder:"NAME" enum:",chars4,o200k_base,cl100k_base,calibrated" default:""`
	Messages  bool   `help:"Show each message of the view."`
	terminal.Output
}

// Help is printed below the flags.
func (c *Tokens) Help() string {
	return `Counts the view of a transcript or a session or, with --text or --text-file, a text. The default of --estimator is the
session's own estimator, and chars4 (four characters a token) without a session.`
}

var estimators = map[string]compactordv1.Estimator{
	"":            compactordv1.Estimator_ESTIMATOR_UNSPECIFIED,
	"chars4":      compactordv1.Estimator_ESTIMATOR_CHARS4,
	"o200k_base":  compactordv1.Estimator_ESTIMATOR_O200K_BASE,
	"cl100k_base": compactordv1.Estimator_ESTIMATOR_CL100K_BASE,
	"calibrated":  compactordv1.Estimator_ESTIMATOR_CALIBRATED,
}

// Run counts.
func (c *Tokens) Run(ctx context.Context, a *api.App) (err error) {
	if c.Estimator == "calibrated" && c.Session == "" {
		return terminal.Usagef("--estimator calibrated needs --session: it uses the session's calibration factor")
	}
	p := a.Progress(c.Quiet)
	defer p.Clear()
	request := &compactordv1.CountTokensRequest{Estimator: estimators[c.Estimator]}
	counter, name, err := c.what(ctx, a, request, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, counter.Close()) }()
	p.Stage("counting", "", 0)
	answer, err := counter.Compactions.CountTokens(ctx, request)
	if err != nil {
		return api.RefusedFlags(err)
	}
	p.Clear()
	if c.JSON {
		return terminal.PrintJSON(a.Out, terminal.WholeAnswer(answer))
	}
	c.print(a.Out, name, answer)
	return nil
}

// what opens the source and sets it in the request.
func (c *Tokens) what(
	ctx context.Context, a *api.App, request *compactordv1.CountTokensRequest, p *terminal.Progress,
) (counter *api.Client, name string, err error) {
	ofText, err := c.ofText(a)
	if err != nil {
		return nil, "", err
	}
	if !ofText {
		conv, err := c.Open(ctx, a, nil, p)
		if err != nil {
			return nil, "", err
		}
		request.What = &compactordv1.CountTokensRequest_SessionId{SessionId: conv.Session}
		return conv.Client, conv.Name(), nil
	}
	text, name := c.Text, "The text"
	if c.TextFile != "" {
		if text, err = a.ReadText(c.TextFile); err != nil {
			return nil, "", err
		}
		if name = c.TextFile; name == terminal.StandardInput {
			name = "standard input"
		}
	} else if text == terminal.StandardInput || api.Exists(text) {
		p.Say("The text itself is counted. For the file of that name: %s", a.Hinted(terminal.Again("--text-file", text).But("text")))
	}
	request.What = &compactordv1.CountTokensRequest_Text{Text: text}
	counter, err = a.EmbedInMemory(ctx)
	return counter, name, err
}

// ofText says whether a text is to be counted. It refuses flags that do not apply to texts.
func (c *Tokens) ofText(a *api.App) (bool, error) {
	text, file := a.Given["text"], a.Given["text-file"]
	switch {
	case !text && !file:
		return false, nil
	case text && file:
		return false, terminal.Usagef("give either --text or --text-file")
	case file && c.TextFile == "":
		return false, terminal.Usagef("--text-file: is blank")
	case c.File != "" || c.Session != "" || c.Addr != "" && a.Given["addr"] || c.Store != "" || c.Reading != (conversation.Reading{}):
		return false, terminal.Usagef("--text and --text-file exclude a transcript, a session, and the flags for these")
	case c.Messages:
		return false, terminal.Usagef("--messages needs a transcript or a session: a text has no messages")
	default:
		return true, nil
	}
}

func (c *Tokens) print(w io.Writer, name string, answer *compactordv1.CountTokensResponse) {
	fmt.Fprintf(w, "%s: %s, %s by %s\n\n", terminal.Printable(name), terminal.Count(answer.GetTokens(), "token"),
		terminal.EnumName(answer.GetSource(), "TOKEN_SOURCE_"), estimatorName(answer.GetEstimator()))
	if answer.GetErrorBoundTokens() == 0 {
		terminal.Row(w, "Off by", "usually less than a token")
	} else {
		terminal.Row(w, "Off by", "usually at most about %s either way", terminal.Count(answer.GetErrorBoundTokens(), "token"))
	}
	terminal.Row(w, "Text", "%s", terminal.Count(answer.GetTextBytes(), "byte"))
	if answer.GetMediaTokens() > 0 {
		terminal.Row(w, "Media", "%s, %s", terminal.Count(answer.GetMediaTokens(), "token"), terminal.Count(answer.GetMediaBytes(), "byte"))
	}
	if !c.Messages {
		return
	}
	fmt.Fprintln(w)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "MESSAGE\tTOKENS\tBYTES\t")
	for _, m := range answer.GetMessages() {
		place := "-"
		if m.Index != nil {
			place = fmt.Sprintf("#%d", m.GetIndex())
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t\n", place, terminal.Number(m.GetTokens()), terminal.Number(m.GetBytes()))
	}
	_ = table.Flush()
}

func estimatorName(e compactordv1.Estimator) string {
	for name, value := range estimators {
		if value == e {
			return name
		}
	}
	return "an estimator that this version does not know"
}
