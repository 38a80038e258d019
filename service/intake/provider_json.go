package intake

import (
	"context"
	"errors"
	"slices"
	"strings"

	"buf.build/go/protovalidate"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
)

// providerInput reads a provider's JSON.
func (i *Intake) providerInput(
	ctx context.Context, p *compactordv1.ProviderJson, strict bool,
) (*input, error) {
	d, err := i.Dialect(p.GetDialect(), "provider_json.dialect")
	if err != nil {
		return nil, err
	}
	parsed, err := d.Parse([]byte(p.GetJson()))
	if err != nil {
		return nil, malformed(err)
	}
	for _, m := range parsed.Messages {
		// A message that stands for an unreadable one has an origin already, since it is no request of the client.
		if m.GetOrigin() == compactordv1.Origin_ORIGIN_UNSPECIFIED {
			m.Origin = compactordv1.Origin_ORIGIN_CLIENT
		}
	}
	completeAnswer(parsed, p)
	// The dialects check the contract's limits. This catches a limit that one of them forgets.
	err = i.CheckFirst(ctx, &compactordv1.InlineHistory{Messages: parsed.Messages})
	if invalid := (*protovalidate.ValidationError)(nil); errors.As(err, &invalid) {
		return nil, malformed(&dialect.InputError{
			Rule: dialect.InputLimit, Message: -1, Err: errors.New("breaks a bound of the contract: " + violationPath(invalid)),
		})
	}
	if err != nil {
		return nil, err
	}
	in := &input{
		messages: parsed.Messages, positions: parsed.Positions, strict: strict, providerStop: parsed.ProviderStop,
	}
	for _, at := range dialect.HalfCharacters(d, p.GetJson()) {
		in.addFinding(dialect.InputHalfCharacter, at, 0, "half of a surrogate pair stands alone; it is shown as U+FFFD")
	}
	in.findRepeatedKeysIn(d, p.GetJson())
	for _, f := range parsed.Findings {
		in.addFinding(f.Rule, f.Message, f.Part, "%s", f.Text)
	}
	return in, nil
}

// completeAnswer adds what the JSON does not say about the model's last answer. If a stream was cut off, the client may
// know the stop reason.
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

// malformed returns the API's error for input that a dialect refused.
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

// violationPath returns the path of the first field that breaks a limit.
func violationPath(invalid *protovalidate.ValidationError) string {
	if len(invalid.Violations) == 0 {
		return "a field"
	}
	return strings.TrimPrefix(protovalidate.FieldPathString(invalid.Violations[0].Proto.GetField()), "messages")
}
