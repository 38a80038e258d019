package rules

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Classify is `compactord classify`.
type Classify struct {
	Error  string `arg:"" help:"File with the provider's error, text or JSON; - is standard input." name:"file" optional:""`
	Text   string `help:"The error itself, in place of a file." placeholder:"TEXT"`
	Status uint32 `help:"The HTTP status." placeholder:"CODE"`
	Stop   string `help:"The provider's stop reason, such as end_turn or length." placeholder:"REASON"`
	Window uint32 `help:"The model's context window in tokens, to find overflows without an error." placeholder:"N"`
	Input  uint32 `help:"Input tokens that the provider reported, without cached ones." placeholder:"N"`
	Cached uint32 `help:"Input tokens that the provider reported as read from its cache." placeholder:"N"`
	Output uint32 `help:"Output tokens that the provider reported." placeholder:"N"`
	Addr   string `env:"COMPACTORD_ADDR" help:"Daemon to ask, whose configuration may have more patterns." placeholder:"HOST:PORT|unix:PATH"`
	api.Security
	Session string `help:"With --addr: the session whose context window to use." placeholder:"ID"`
	JSON    bool   `help:"Print one JSON document: the answer as the API returns it." name:"json"`
	terminal.QuietFlag
}

// Help is printed below the flags.
func (c *Classify) Help() string {
	return `Says whether a request to a model failed because it did not fit into the context window. If so, compacting helps, and the
exit code is 0; else it is 3.`
}

// Run classifies an error.
func (c *Classify) Run(ctx context.Context, a *api.App) (err error) {
	request, err := c.request(a)
	if err != nil {
		return err
	}
	asked, err := c.open(ctx, a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, asked.Close()) }()
	answer, err := asked.Compactions.ClassifyError(ctx, request)
	if err != nil {
		return api.RefusedFlags(err)
	}
	if c.JSON {
		if err := terminal.PrintJSON(a.Out, terminal.WholeAnswer(answer)); err != nil {
			return err
		}
	} else {
		printClass(a.Out, answer)
	}
	if !answer.GetOverflow() {
		return terminal.NothingError{Why: "this is no overflow"}
	}
	return nil
}

// open connects to the named daemon or starts the service in this process.
func (c *Classify) open(ctx context.Context, a *api.App) (*api.Client, error) {
	switch {
	case c.Addr != "" && (a.Given["addr"] || c.Session != ""):
		return a.Dial(c.Addr, c.Security)
	case c.Session != "":
		return nil, terminal.Usagef("--session needs --addr")
	default:
		return a.EmbedTemporary(ctx)
	}
}

func (c *Classify) request(a *api.App) (*compactordv1.ClassifyErrorRequest, error) {
	request := &compactordv1.ClassifyErrorRequest{
		ErrorText: c.Text, HttpStatus: c.Status, ProviderStopReason: c.Stop, ContextWindow: c.Window, SessionId: c.Session,
	}
	switch {
	case c.Error != "" && c.Text != "":
		return nil, terminal.Usagef("give either a file or --text")
	case c.Error != "":
		text, err := a.ReadText(c.Error)
		if err != nil {
			return nil, err
		}
		request.ErrorText = text
	case c.Text == "" && c.Status == 0 && c.Stop == "" && c.Input == 0:
		return nil, terminal.Usagef("say how the request ended: a file, --text, --status, --stop or --input")
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
		compactordv1.ErrorClass_ERROR_CLASS_REQUEST_TOO_LARGE: "A request of too many bytes: compact, check media, and try the turn again once.",
		compactordv1.ErrorClass_ERROR_CLASS_RATE_LIMIT:        "A rate limit and no overflow: wait, and send the same request again.",
	}[answer.GetErrorClass()])
	if answer.GetRule() != "" {
		terminal.Row(w, "Rule", "%s: %s", answer.GetRule(), terminal.Printable(answer.GetWhy()))
	}
	if answer.RequestedTokens != nil {
		terminal.Row(w, "Requested", "%s", terminal.Count(answer.GetRequestedTokens(), "token"))
	}
	if answer.LimitTokens != nil {
		terminal.Row(w, "Limit", "%s", terminal.Count(answer.GetLimitTokens(), "token"))
	}
}
