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
	Text      bool   `help:"FILE is a text and no transcript."`
	Estimator string `help:"How to count: chars4, o200k_base, cl100k_base or calibrated (of a session that is)." placeholder:"NAME" enum:",chars4,o200k_base,cl100k_base,calibrated" default:""`
	Messages  bool   `help:"Show each message of the view."`
	output
}

// Help is printed below the flags.
func (c *tokensCommand) Help() string {
	return `Counts what the model would see of a transcript or a session, or with --text a text. Without --estimator a session counts as
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
	if !c.Text {
		conv, err := c.open(ctx, a, nil, p)
		if err != nil {
			return nil, "", err
		}
		request.What = &compactordv1.CountTokensRequest_SessionId{SessionId: conv.session}
		return conv.client, conv.name(), nil
	}
	if c.File == "" || c.Session != "" {
		return nil, "", usagef("--text goes with a file, or - for standard input")
	}
	text, err := a.readText(c.File)
	if err != nil {
		return nil, "", err
	}
	request.What = &compactordv1.CountTokensRequest_Text{Text: text}
	counter, err = a.embedTemporary(ctx)
	return counter, c.File, err
}

func (c *tokensCommand) print(w io.Writer, name string, answer *compactordv1.CountTokensResponse) {
	fmt.Fprintf(w, "%s: %s, %s by %s\n\n", printable(name), count(answer.GetTokens(), "token"),
		enumName(answer.GetSource(), "TOKEN_SOURCE_"), estimatorName(answer.GetEstimator()))
	row(w, "Off by", "about %s either way, if not worse", count(answer.GetErrorBoundTokens(), "token"))
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
