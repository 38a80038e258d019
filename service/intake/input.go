package intake

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
)

// maxFindings is the most findings in one response.
const maxFindings = 1000

// input is the messages of a request, ready to be linked to a log.
type input struct {
	messages []*compactordv1.Message
	// positions has the position of each message in the list that was sent.
	positions []int
	findings  []*compactordv1.Finding
	// answered has the ids of the calls that results of this input have answered.
	answered map[string]bool
	strict   bool
	// providerStop is the provider's own word for why the model stopped; empty where it is not known.
	providerStop string
	// ahead is a counter that has already counted the messages by the estimator; nil where nothing was counted ahead.
	ahead     session.Counter
	estimator compactordv1.Estimator
	// logged is called with each message that joins the log, and its position among these. May be nil.
	logged func(l *compactordv1.LoggedMessage, at int)
}

// unlinked returns a copy of the input to link to a log. Linking adds findings, so each try needs its own copy.
func (in *input) unlinked() *input {
	next := *in
	next.messages, next.findings = slices.Clone(in.messages), slices.Clone(in.findings)
	next.answered = make(map[string]bool)
	return &next
}

func (in *input) addFinding(rule string, message, part int, format string, args ...any) {
	in.findings = append(in.findings, &compactordv1.Finding{
		Rule: rule, Message: uint32(max(message, 0)), Part: uint32(part), Text: fmt.Sprintf(format, args...),
	})
}

// appendTo appends the messages. It calls between before each of them, which can write records.
func (in *input) appendTo(
	ctx context.Context, w *sessionlog.Write, view *session.ViewToken, between func(i int) error,
) error {
	counter, err := in.counter(w.Before().GetEstimator())
	if err != nil {
		return err
	}
	a := w.Appender(counter)
	a.Linked = in.linked
	if view != nil {
		a.ViewPoint = &view.Point
		if view.Extra != nil {
			a.ExtraTokens = view.Extra.Tokens
		}
	}
	return a.Append(ctx, in.messages, between)
}

// refuseIfStrict refuses malformed input if the request is strict.
func (in *input) refuseIfStrict() error {
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

// reported returns the findings for the response.
func (in *input) reported() []*compactordv1.Finding {
	return in.findings[:min(len(in.findings), maxFindings)]
}

func inputMalformed(rule string, message, part int) *apierror.Error {
	return apierror.New(compactordv1.ErrorReason_ERROR_REASON_INPUT_MALFORMED, map[string]string{
		"rule": rule, "message": strconv.Itoa(message), "part": strconv.Itoa(part),
	}, "%s", rule)
}
