package summaries

import (
	"context"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/redaction"
)

// secrets replaces the secrets in what summarizers are sent and in what they write. Nil replaces none.
type secrets struct {
	counted *redaction.Redactor
	// redact replaces and counts them, until the operation has ended.
	redact func(text string) string
	// redactShown is for pieces that are only shown on the way, so that nothing counts twice.
	redactShown func(text string) string
}

// newSecrets returns nil where the policy wants no secrets replaced.
func newSecrets(ctx context.Context, p *compactordv1.SummaryPolicy, sessionUID string) *secrets {
	if !p.GetRedact() {
		return nil
	}
	counted := redaction.New(sessionUID)
	return &secrets{
		counted: counted, redact: counted.Within(ctx), redactShown: redaction.New(sessionUID).Within(ctx),
	}
}

// Redact returns a text as the policy has it stored, and how many secrets were replaced in it. Once ctx has ended nothing
// is left of the text.
func Redact(ctx context.Context, p *compactordv1.SummaryPolicy, sessionUID, text string) (string, uint32) {
	s := newSecrets(ctx, p, sessionUID)
	return s.replace(text), s.count()
}

func (s *secrets) replace(text string) string {
	if s == nil {
		return text
	}
	return s.redact(text)
}

// replaceShown is replace for what is only shown.
func (s *secrets) replaceShown(text string) string {
	if s == nil {
		return text
	}
	return s.redactShown(text)
}

func (s *secrets) count() uint32 {
	if s == nil {
		return 0
	}
	return s.counted.Count()
}

// within is a request whose secrets are replaced until ctx ends.
func (s *secrets) within(ctx context.Context, req *summarizers.Request) *summarizers.Request {
	bounded := *req
	if s != nil {
		bounded.Redact = s.counted.Within(ctx)
	}
	return &bounded
}

// asRedacted is a request that counts texts as they are once their secrets are replaced: what stands for a short secret is
// longer, and a text that just fitted would be over its budget.
func (s *secrets) asRedacted(req *summarizers.Request) *summarizers.Request {
	if s == nil {
		return req
	}
	asked := *req
	asked.Count = func(text string) uint32 { return req.Count(s.replaceShown(text)) }
	return &asked
}
