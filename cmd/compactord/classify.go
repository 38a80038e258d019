package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// classifyCommand is `compactord classify`.
type classifyCommand struct {
	Error   string `arg:"" help:"File with the provider's error, text or JSON; - is standard input." name:"file" optional:""`
	Text    string `help:"The error itself, in place of a file." placeholder:"TEXT"`
	Status  uint32 `help:"The HTTP status." placeholder:"CODE"`
	Stop    string `help:"The reason for which the model stopped, as the provider writes it: end_turn, length or another." placeholder:"REASON"`
	Window  uint32 `help:"The model's context window in tokens, to find overflows that no error tells." placeholder:"N"`
	Input   uint32 `help:"Input tokens that the provider reported, cached ones left out." placeholder:"N"`
	Cached  uint32 `help:"Input tokens that the provider reported as read from its cache." placeholder:"N"`
	Output  uint32 `help:"Output tokens that the provider reported." placeholder:"N"`
	Addr    string `env:"COMPACTORD_ADDR" help:"Daemon to ask, whose configuration may know more patterns." placeholder:"HOST:PORT|unix:PATH"`
	Session string `help:"With --addr: a session whose context window counts." placeholder:"ID"`
	JSON    bool   `help:"Print one JSON document: the answer as the API gives it." name:"json"`
}

// Help is printed below the flags.
func (c *classifyCommand) Help() string {
	return `Says whether the way in which a request to a model ended is an overflow of its context window: then compacting helps. Exit
code 0 says that it is one, 3 that it is none.`
}

// Run classifies an error.
func (c *classifyCommand) Run(ctx context.Context, a *app) (err error) {
	request, err := c.request(a)
	if err != nil {
		return err
	}
	asked, err := c.open(ctx, a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, asked.close()) }()
	answer, err := asked.compactions.ClassifyError(ctx, request)
	if err != nil {
		return refusedFlags(err)
	}
	if c.JSON {
		if err := printJSON(a.out, wholeAnswer(answer)); err != nil {
			return err
		}
	} else {
		printClass(a.out, answer)
	}
	if !answer.GetOverflow() {
		return nothingError{"this is no overflow"}
	}
	return nil
}

// open asks the daemon that is named, else a service of this process.
func (c *classifyCommand) open(ctx context.Context, a *app) (*client, error) {
	switch {
	case c.Addr != "" && (a.given["addr"] || c.Session != ""):
		return dial(c.Addr)
	case c.Session != "":
		return nil, usagef("--session goes with --addr")
	default:
		return a.embedTemporary(ctx)
	}
}

func (c *classifyCommand) request(a *app) (*compactordv1.ClassifyErrorRequest, error) {
	request := &compactordv1.ClassifyErrorRequest{
		ErrorText: c.Text, HttpStatus: c.Status, ProviderStopReason: c.Stop, ContextWindow: c.Window, SessionId: c.Session,
	}
	switch {
	case c.Error != "" && c.Text != "":
		return nil, usagef("name a file or give --text, not both")
	case c.Error != "":
		text, err := a.readText(c.Error)
		if err != nil {
			return nil, err
		}
		request.ErrorText = text
	case c.Text == "" && c.Status == 0 && c.Stop == "" && c.Input == 0:
		return nil, usagef("say how the request ended: a file, --text, --status, --stop or --input")
	}
	if c.Input+c.Cached+c.Output > 0 {
		request.Usage = &compactordv1.Usage{InputTokens: c.Input, CacheReadTokens: c.Cached, OutputTokens: c.Output}
	}
	return request, nil
}

func printClass(w io.Writer, answer *compactordv1.ClassifyErrorResponse) {
	fmt.Fprintln(w, map[compactordv1.ErrorClass]string{
		compactordv1.ErrorClass_ERROR_CLASS_OTHER:             "No overflow: compacting does not help.",
		compactordv1.ErrorClass_ERROR_CLASS_CONTEXT_OVERFLOW:  "A context overflow: compact, and try the turn again once.",
		compactordv1.ErrorClass_ERROR_CLASS_REQUEST_TOO_LARGE: "A request of too many bytes: compact, mind media, and try the turn again once.",
		compactordv1.ErrorClass_ERROR_CLASS_RATE_LIMIT:        "A rate limit and no overflow: wait, and try again as it is.",
	}[answer.GetErrorClass()])
	if answer.GetRule() != "" {
		row(w, "Rule", "%s: %s", answer.GetRule(), printable(answer.GetWhy()))
	}
	if answer.RequestedTokens != nil {
		row(w, "Requested", "%s", count(answer.GetRequestedTokens(), "token"))
	}
	if answer.LimitTokens != nil {
		row(w, "Limit", "%s", count(answer.GetLimitTokens(), "token"))
	}
}
