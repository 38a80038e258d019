package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// tokensCommand is `compactord tokens`.
type tokensCommand struct {
	source
	Text      string `help:"The text to count, in place of a file." placeholder:"TEXT"`
	TextFile  string `help:"File with a text to count, that is no transcript; - is standard input." placeholder:"PATH"`
	Estimator string `help:"How to count: chars4, o200k_base, cl100k_base or calibrated (of a session that is)." placeholder:"NAME" enum:",chars4,o200k_base,cl100k_base,calibrated" default:""`
	Messages  bool   `help:"Show each message of the view."`
	output
}

// Help is printed below the flags.
func (c *tokensCommand) Help() string {
	return `Counts what the model would see of a transcript or a session, or with --text or --text-file a text. Without --estimator a session counts as
it does itself, and all else by four characters a token.`
}

var estimators = map[string]compactordv1.Estimator{
	"":            compactordv1.Estimator_ESTIMATOR_UNSPECIFIED,
	"chars4":      compactordv1.Estimator_ESTIMATOR_CHARS4,
	"o200k_base":  compactordv1.Estimator_ESTIMATOR_O200K_BASE,
	"cl100k_base": compactordv1.Estimator_ESTIMATOR_CL100K_BASE,
	"calibrated":  compactordv1.Estimator_ESTIMATOR_CALIBRATED,
}

// Run counts.
func (c *tokensCommand) Run(ctx context.Context, a *app) (err error) {
	if c.Estimator == "calibrated" && c.Session == "" {
		return usagef("--estimator calibrated goes with --session: it goes by what the session has learnt")
	}
	p := a.progress(c.Quiet)
	defer p.clear()
	request := &compactordv1.CountTokensRequest{Estimator: estimators[c.Estimator]}
	counter, name, err := c.what(ctx, a, request, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, counter.close()) }()
	p.stage("counting", "", 0)
	answer, err := counter.compactions.CountTokens(ctx, request)
	if err != nil {
		return refusedFlags(err)
	}
	p.clear()
	if c.JSON {
		return printJSON(a.out, wholeAnswer(answer))
	}
	c.print(a.out, name, answer)
	return nil
}

// what opens what is to be counted, and names it in the request.
func (c *tokensCommand) what(
	ctx context.Context, a *app, request *compactordv1.CountTokensRequest, p *progress,
) (counter *client, name string, err error) {
	ofText, err := c.ofText(a)
	if err != nil {
		return nil, "", err
	}
	if !ofText {
		conv, err := c.open(ctx, a, nil, p)
		if err != nil {
			return nil, "", err
		}
		request.What = &compactordv1.CountTokensRequest_SessionId{SessionId: conv.session}
		return conv.client, conv.name(), nil
	}
	text, name := c.Text, "The text"
	if c.TextFile != "" {
		if text, err = a.readText(c.TextFile); err != nil {
			return nil, "", err
		}
		if name = c.TextFile; name == standardInput {
			name = "standard input"
		}
	} else if text == standardInput || exists(text) {
		p.say("The text itself is counted. For the file of that name: %s", a.hinted(again("--text-file", text).but("text")))
	}
	request.What = &compactordv1.CountTokensRequest_Text{Text: text}
	counter, err = a.embedInMemory(ctx)
	return counter, name, err
}

// ofText says whether a text is to be counted, and refuses what does not go with that.
func (c *tokensCommand) ofText(a *app) (bool, error) {
	text, file := a.given["text"], a.given["text-file"]
	switch {
	case !text && !file:
		return false, nil
	case text && file:
		return false, usagef("give --text or --text-file, not both")
	case file && c.TextFile == "":
		return false, usagef("--text-file: is blank")
	case c.File != "" || c.Session != "" || c.Addr != "" && a.given["addr"] || c.Store != "" || c.reading != (reading{}):
		return false, usagef("--text and --text-file go without a transcript, a session, and what goes with these")
	case c.Messages:
		return false, usagef("--messages goes with a transcript or a session: a text has none")
	default:
		return true, nil
	}
}

func (c *tokensCommand) print(w io.Writer, name string, answer *compactordv1.CountTokensResponse) {
	fmt.Fprintf(w, "%s: %s, %s by %s\n\n", printable(name), count(answer.GetTokens(), "token"),
		enumName(answer.GetSource(), "TOKEN_SOURCE_"), estimatorName(answer.GetEstimator()))
	if answer.GetErrorBoundTokens() == 0 {
		row(w, "Off by", "less than a token, if not worse")
	} else {
		row(w, "Off by", "about %s either way, if not worse", count(answer.GetErrorBoundTokens(), "token"))
	}
	row(w, "Text", "%s", count(answer.GetTextBytes(), "byte"))
	if answer.GetMediaTokens() > 0 {
		row(w, "Media", "%s, %s", count(answer.GetMediaTokens(), "token"), count(answer.GetMediaBytes(), "byte"))
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
		fmt.Fprintf(table, "%s\t%s\t%s\t\n", place, number(m.GetTokens()), number(m.GetBytes()))
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
