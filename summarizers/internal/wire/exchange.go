package wire

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/llm"
)

var (
	errIdle = errors.New("the provider sent nothing for too long")
	errDone = errors.New("the exchange has ended")
)

// Call says how to send a completion to a provider.
type Call struct {
	// Dialect is the provider's dialect.
	Dialect dialect.Dialect
	// URL and Header are those of the request. Headers that are the same for all providers are added to them.
	URL    string
	Header http.Header
	// Options are the parts of the body beside the messages.
	Options dialect.RequestOptions
}

// Complete sends one request and reads the answer, as llm.Provider requires.
func (c *Client) Complete(ctx context.Context, call *Call, completion *llm.Completion, text func(delta string)) (*llm.Answer, error) {
	own, cancel := context.WithCancelCause(ctx)
	defer cancel(errDone)
	x := &exchange{
		client: c, cancel: cancel, cause: func() error { return context.Cause(own) },
		answer: call.Dialect.NewAnswer(), text: &answerText{to: text, left: c.options.MaxAnswerBytes},
	}
	x.run(own, call, completion)
	if ctx.Err() != nil {
		x.stopped = context.Cause(ctx)
	}
	return x.finish(call.Options.Model)
}

// bodyOf returns the body of a request.
func bodyOf(call *Call, c *llm.Completion) ([]byte, error) {
	var messages []*compactordv1.Message
	if c.System != "" {
		messages = append(messages, message(compactordv1.Role_ROLE_SYSTEM, c.System))
	}
	messages = append(messages, message(compactordv1.Role_ROLE_USER, c.User))
	list, err := call.Dialect.Prompt(messages)
	if err != nil {
		return nil, err
	}
	options := call.Options
	if c.View != nil {
		options.Tools = c.View.Tools
		view := &dialect.List{System: c.View.System, Messages: c.View.Messages}
		if list, err = call.Dialect.Continue(view, c.View.Tools, list); err != nil {
			return nil, err
		}
	}
	return call.Dialect.RequestBody(list, options), nil
}

func message(role compactordv1.Role, text string) *compactordv1.Message {
	part := &compactordv1.Part{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: text}}}
	return &compactordv1.Message{Role: role, Parts: []*compactordv1.Part{part}}
}

// exchange is one request and its answer. It belongs to one goroutine.
type exchange struct {
	client *Client
	// cancel ends the request, and cause returns why it has ended.
	cancel context.CancelCauseFunc
	cause  func() error
	answer dialect.AnswerReader
	text   *answerText
	// host is the host of the address.
	host string
	// stopped is the caller's reason to stop, and failed is the reason why there is no answer. broken says why the
	// stream broke off, which does not matter if the answer was complete by then.
	stopped        error
	failed, broken *summarizers.ProviderError
	// overlong says that we ended the stream because it was too long.
	overlong bool
}

// run sends the request and reads the answer. The fields of the exchange hold the outcome.
func (x *exchange) run(ctx context.Context, call *Call, completion *llm.Completion) {
	body, err := bodyOf(call, completion)
	if err != nil {
		x.failed = &summarizers.ProviderError{Code: codeRequest, Err: err}
		return
	}
	res, failure := x.send(ctx, call, body)
	if res != nil {
		defer func() { _ = res.Body.Close() }()
	}
	if failure == nil {
		failure = x.read(res)
	}
	x.failed = failure
}

// stream reads the events of an answer up to the last one that matters.
func (x *exchange) stream(body io.Reader) *summarizers.ProviderError {
	in := x.newEvents(body)
	for {
		event, failure := in.next()
		if failure != nil || event == nil {
			return failure
		}
		more, failure := x.take(event)
		if failure != nil || !more {
			return failure
		}
	}
}

// take reads one event of the answer.
func (x *exchange) take(event []byte) (more bool, failure *summarizers.ProviderError) {
	said := readFailure(event)
	if said != nil {
		failure = x.client.errorFrom(okStatus, said)
		if !said.response {
			return false, failure
		}
		// This event may report the usage of the failed answer.
	}
	piece, err := x.answer.Event(event)
	if err != nil {
		x.broken = malformed(err)
		return false, failure
	}
	more, unfit := x.add(piece)
	return more, cmp.Or(failure, unfit)
}

// add adds a piece of the answer: an event, or a whole body.
func (x *exchange) add(piece dialect.Piece) (more bool, failure *summarizers.ProviderError) {
	if a := x.answer.Answer(); a.Failed {
		return false, &summarizers.ProviderError{Status: okStatus, Code: sanitize(a.Stop), Retryable: !a.Overflow, Overflow: a.Overflow}
	}
	more = x.text.add(piece.Text) && x.text.pass(piece.Other)
	return more && !piece.Last, nil
}

// finish returns the answer if it is complete, and otherwise the reason why it is not.
func (x *exchange) finish(model string) (*llm.Answer, error) {
	read := x.answer.Answer()
	answer := &llm.Answer{Model: cmp.Or(read.Model, model), Usage: read.Usage}
	if failure := x.failure(read.Complete, x.text.full || x.overlong); failure != nil {
		var told *summarizers.ProviderError
		if errors.As(failure, &told) {
			told.Host = x.host
		}
		if answer.Usage == nil {
			return nil, failure
		}
		return answer, failure
	}
	answer.Text = x.text.String()
	answer.CutOff = read.CutOff || !read.Complete || x.text.full
	answer.ToolCall, answer.Refused = read.ToolCall, read.Refused
	return answer, nil
}

func (x *exchange) failure(complete, overlong bool) error {
	switch {
	case x.stopped != nil:
		return x.stopped
	case x.failed != nil:
		return x.failed
	case complete || overlong:
		return nil
	case x.broken != nil:
		return x.broken
	default:
		return &summarizers.ProviderError{Code: codeCut, Retryable: true}
	}
}
