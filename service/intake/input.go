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

// maxFindings bounds what one answer tells of malformed input.
const maxFindings = 1000

// input is messages as a request gave them, ready to be linked to a log.
type input struct {
	messages []*compactordv1.Message
	// positions tells for each message which one of the list that was sent it came from.
	positions []int
	findings  []*compactordv1.Finding
	// answered are the ids that results of this input have answered.
	answered map[string]bool
	strict   bool
	// providerStop is the provider's own word for why the model stopped; empty where it is not known.
	providerStop string
	// ahead has counted the messages by the estimator; nil where that is left for later.
	ahead     session.Counter
	estimator compactordv1.Estimator
}

// fresh is the input before it joined a log: what is found then depends on the log.
func (in *input) fresh() *input {
	next := *in
	next.messages, next.findings = slices.Clone(in.messages), slices.Clone(in.findings)
	next.answered = make(map[string]bool)
	return &next
}

func (in *input) find(rule string, message, part int, format string, args ...any) {
	in.findings = append(in.findings, &compactordv1.Finding{
		Rule: rule, Message: uint32(max(message, 0)), Part: uint32(part), Text: fmt.Sprintf(format, args...),
	})
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
func (in *input) report() []*compactordv1.Finding {
	return in.findings[:min(len(in.findings), maxFindings)]
}

func inputMalformed(rule string, message, part int) *apierror.Error {
	return apierror.New(compactordv1.ErrorReason_ERROR_REASON_INPUT_MALFORMED, map[string]string{
		"rule": rule, "message": strconv.Itoa(message), "part": strconv.Itoa(part),
	}, "%s", rule)
}
