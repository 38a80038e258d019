package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects/dialect"
	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
)

// maxFindings bounds what one answer tells of malformed input.
const maxFindings = 1000

// input is messages as a request gave them, ready to be linked to a log.
type input struct {
	messages []*compactordv1.Message
	// positions tells for each message which one of the list that was sent it came from.
	positions []int
	findings  []*compactordv1.InputFinding
	// answered are the ids that results of this input have answered.
	answered map[string]bool
	strict   bool
	// providerStop is the provider's own word for why the model stopped; empty where it is not known.
	providerStop string
	// ahead has counted the messages by the estimator; nil where that is left for later.
	ahead     session.Counter
	estimator compactordv1.Estimator
}

// neutralInput takes neutral messages.
func neutralInput(messages []*compactordv1.Message, strict bool) (*input, error) {
	taken, err := incoming(messages)
	if err != nil {
		return nil, err
	}
	in := &input{messages: taken, strict: strict, positions: make([]int, len(taken))}
	for i, m := range taken {
		in.positions[i] = i
		in.saysSomething(i, m)
		in.argumentsParse(i, m)
	}
	return in, nil
}

// providerInput takes a provider's JSON.
func (s *Service) providerInput(p *compactordv1.ProviderJson, strict bool) (*input, error) {
	d, err := s.dialect(p.GetDialect(), "provider_json.dialect")
	if err != nil {
		return nil, err
	}
	parsed, err := d.Parse([]byte(p.GetJson()))
	if err != nil {
		return nil, malformed(err)
	}
	for _, m := range parsed.Messages {
		// What stands for a message that cannot be read says so: it is no request.
		if m.GetOrigin() == compactordv1.Origin_ORIGIN_UNSPECIFIED {
			m.Origin = compactordv1.Origin_ORIGIN_CLIENT
		}
	}
	completeAnswer(parsed, p)
	// The dialects keep to the contract's bounds; should one forget a bound, nothing gets past it here.
	if err := protovalidate.Validate(&compactordv1.InlineHistory{Messages: parsed.Messages}); err != nil {
		return nil, malformed(&dialect.InputError{
			Rule: dialect.InputLimit, Message: -1, Err: errors.New("breaks a bound of the contract: " + violationPath(err)),
		})
	}
	in := &input{
		messages: parsed.Messages, positions: parsed.Positions, strict: strict, providerStop: parsed.ProviderStop,
	}
	for _, at := range dialect.HalfCharacters(d, p.GetJson()) {
		in.find(dialect.InputHalfCharacter, at, 0, "half of a surrogate pair stands alone; it is shown as U+FFFD")
	}
	for _, f := range parsed.Findings {
		in.find(f.Rule, f.Message, f.Part, "%s", f.Text)
	}
	return in, nil
}

// completeAnswer fills in what the JSON did not say of the model's last answer. Of a stream that broke off the client may
// know more than that.
func completeAnswer(parsed *dialect.Parsed, p *compactordv1.ProviderJson) {
	if parsed.Cut && p.GetStopReason() != compactordv1.StopReason_STOP_REASON_UNSPECIFIED {
		parsed.Messages[0].StopReason = p.GetStopReason()
		parsed.Findings = slices.DeleteFunc(parsed.Findings, func(f dialect.Finding) bool {
			return f.Rule == dialect.InputStreamCut
		})
	}
	for i := len(parsed.Messages) - 1; i >= 0; i-- {
		m := parsed.Messages[i]
		if m.GetRole() != compactordv1.Role_ROLE_ASSISTANT {
			continue
		}
		if m.GetUsage() == nil {
			m.Usage = p.GetUsage()
		}
		if m.GetModel() == "" {
			m.Model = p.GetModel()
		}
		if m.GetStopReason() == compactordv1.StopReason_STOP_REASON_UNSPECIFIED {
			m.StopReason = p.GetStopReason()
		}
		return
	}
}

// dialect returns the dialect of a request.
func (s *Service) dialect(kind compactordv1.Dialect, field string) (dialect.Dialect, error) {
	if d, known := s.dialects[kind]; known {
		return d, nil
	}
	return nil, apierror.NotImplemented(field)
}

// fresh is the input before it joined a log: what is found then depends on the log.
func (in *input) fresh() *input {
	next := *in
	next.messages, next.findings = slices.Clone(in.messages), slices.Clone(in.findings)
	next.answered = make(map[string]bool)
	return &next
}

func (in *input) find(rule string, message, part int, format string, args ...any) {
	in.findings = append(in.findings, &compactordv1.InputFinding{
		Rule: rule, Message: uint32(max(message, 0)), Part: uint32(part), Text: fmt.Sprintf(format, args...),
	})
}

func (in *input) saysSomething(at int, m *compactordv1.Message) {
	if len(m.GetParts()) == 0 && !session.Failed(m) {
		in.find(dialect.InputEmptyMessage, at, 0, "the message is empty; kept as it is")
	}
}

func (in *input) argumentsParse(at int, m *compactordv1.Message) {
	for i, p := range m.GetParts() {
		call := p.GetToolCall()
		if call == nil || call.GetArguments() == "" || json.Valid([]byte(call.GetArguments())) {
			continue
		}
		in.find(dialect.InputArgumentsNotJSON, at, i, "the arguments of the call are no JSON; kept as they are")
	}
}

// linked looks at how a message joined the log, before whose head it was linked.
func (in *input) linked(before *storagev1.Head, l *compactordv1.LoggedMessage, i int) {
	at := in.positions[i]
	switch l.GetMessage().GetRole() {
	case compactordv1.Role_ROLE_ASSISTANT:
		in.callsUnanswered(len(before.GetOpenCalls())-len(session.OpenAfter(before, l.GetMessage())), at)
		in.callIDsReused(before, l, at)
	case compactordv1.Role_ROLE_TOOL:
		in.resultPlaced(l, at)
	default:
	}
}

func (in *input) callsUnanswered(n, at int) {
	switch {
	case n == 1:
		in.find(dialect.InputCallUnanswered, at, 0, "a call before it has no result; views show that there was none")
	case n > 1:
		in.find(dialect.InputCallUnanswered, at, 0, "%d calls before it have no result; views show that there was none", n)
	}
}

func (in *input) callIDsReused(before *storagev1.Head, l *compactordv1.LoggedMessage, at int) {
	if session.Failed(l.GetMessage()) {
		return
	}
	open := make(map[string]bool)
	for _, call := range session.OpenAfter(before, l.GetMessage()) {
		open[call.GetId()] = true
	}
	for _, call := range session.Calls(l.GetMessage(), l.GetIndex()) {
		if open[call.GetId()] {
			in.find(dialect.InputCallIDReused, at, int(call.GetPart()),
				"the id of the call is that of another open call; results answer them in order")
		}
		open[call.GetId()] = true
	}
}

func (in *input) resultPlaced(l *compactordv1.LoggedMessage, at int) {
	id := l.GetMessage().GetParts()[0].GetToolResult().GetCallId()
	if l.GetResultPlace() != compactordv1.ResultPlace_RESULT_PLACE_STRAY {
		in.answered[id] = true
		return
	}
	if in.answered[id] {
		in.find(dialect.InputResultRepeated, at, 0, "the call was answered before; views show this result as text of the user")
		return
	}
	in.find(dialect.InputResultWithoutCall, at, 0, "the result answers no open call; views show it as text of the user")
}

// appendTo appends the messages, and what between writes before each of them.
func (in *input) appendTo(
	ctx context.Context, w *sessionlog.Write, viewPoint *uint32, between func(i int) error,
) error {
	counter, err := in.counter(w.Before().GetEstimator())
	if err != nil {
		return err
	}
	a := w.Appender(counter)
	a.ViewPoint, a.Linked = viewPoint, in.linked
	return a.Append(ctx, in.messages, between)
}

// verdict refuses malformed input if the client wants that.
func (in *input) verdict() error {
	if !in.strict || len(in.findings) == 0 {
		return nil
	}
	first := in.findings[0]
	e := inputMalformed(first.GetRule(), int(first.GetMessage()), int(first.GetPart()))
	e.Message = fmt.Sprintf("message %d: %s (%s); findings in all: %d, and strict refuses them", first.GetMessage(),
		first.GetText(), first.GetRule(), len(in.findings))
	for _, f := range in.findings {
		e.Fields = append(e.Fields, apierror.FieldViolation{
			Field: fmt.Sprintf("messages[%d].parts[%d]", f.GetMessage(), f.GetPart()), Description: f.GetText(),
		})
	}
	return e
}

// report is what an answer tells of the findings.
func (in *input) report() []*compactordv1.InputFinding {
	return in.findings[:min(len(in.findings), maxFindings)]
}

func inputMalformed(rule string, message, part int) *apierror.Error {
	return apierror.New(compactordv1.ErrorReason_ERROR_REASON_INPUT_MALFORMED, map[string]string{
		"rule": rule, "message": strconv.Itoa(message), "part": strconv.Itoa(part),
	}, "%s", rule)
}

// malformed makes the API's error of what a dialect refused.
func malformed(err error) error {
	refused := &dialect.InputError{}
	if !errors.As(err, &refused) {
		return err
	}
	e := inputMalformed(refused.Rule, refused.Message, refused.Part)
	e.Message = "provider_json: " + refused.Error()
	e.Fields = []apierror.FieldViolation{{Field: "provider_json.json", Description: refused.Error()}}
	return e
}

// violationPath names the first field that breaks a bound.
func violationPath(err error) string {
	invalid := &protovalidate.ValidationError{}
	if !errors.As(err, &invalid) || len(invalid.Violations) == 0 {
		return "a field"
	}
	return strings.TrimPrefix(protovalidate.FieldPathString(invalid.Violations[0].Proto.GetField()), "messages")
}

// incoming gives messages their origin, and refuses those that only the daemon writes.
func incoming(messages []*compactordv1.Message) ([]*compactordv1.Message, error) {
	taken := make([]*compactordv1.Message, len(messages))
	for i, m := range messages {
		switch m.GetOrigin() {
		case compactordv1.Origin_ORIGIN_CLIENT, compactordv1.Origin_ORIGIN_IMPORT,
			compactordv1.Origin_ORIGIN_CONTINUE:
			taken[i] = m
		case compactordv1.Origin_ORIGIN_UNSPECIFIED:
			taken[i] = proto.CloneOf(m)
			taken[i].Origin = compactordv1.Origin_ORIGIN_CLIENT
		default:
			return nil, apierror.InvalidField(fmt.Sprintf("messages[%d].origin", i),
				"messages of origin FUTURE and MARKER are written by the daemon")
		}
	}
	return taken, nil
}
