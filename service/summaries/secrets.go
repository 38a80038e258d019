package summaries

import (
	"context"
	"slices"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/redaction"
)

// secrets replaces secrets in what summarizers are sent and in what they write. A nil *secrets replaces nothing.
type secrets struct {
	counted *redaction.Redactor
	// redact replaces and counts secrets, until the operation ends.
	redact func(text string) string
	// redactShown is for text that is only shown in progress events, so that nothing is counted twice.
	redactShown func(text string) string
}

// newSecrets returns nil where the policy does not want secrets replaced.
func newSecrets(ctx context.Context, p *compactordv1.SummaryPolicy, sessionUID string) *secrets {
	if !p.GetRedact() {
		return nil
	}
	counted := redaction.New(sessionUID)
	return &secrets{
		counted: counted, redact: counted.Within(ctx), redactShown: redaction.New(sessionUID).Within(ctx),
	}
}

// Redact returns a text as it is stored by the policy, and how many secrets were replaced in it. After ctx has ended,
// it returns an empty text.
func Redact(ctx context.Context, p *compactordv1.SummaryPolicy, sessionUID, text string) (string, uint32) {
	s := newSecrets(ctx, p, sessionUID)
	return s.replace(text), s.count()
}

// RedactFiles returns lists of files with the secrets in their names replaced. Names that were redacted before stay.
func RedactFiles(redact func(name string) string, files *compactordv1.FileLists) *compactordv1.FileLists {
	modified := redactedNames(redact, files.GetModified())
	read := slices.DeleteFunc(redactedNames(redact, files.GetRead()), func(name string) bool {
		return strings.Contains(name, "[REDACTED:") && slices.Contains(modified, name)
	})
	if slices.Equal(read, files.GetRead()) && slices.Equal(modified, files.GetModified()) {
		return files
	}
	return &compactordv1.FileLists{Read: read, Modified: modified}
}

// redactedNames keeps the order where no name changes.
func redactedNames(redact func(name string) string, names []string) []string {
	redacted := make([]string, len(names))
	changed := false
	for i, name := range names {
		redacted[i] = redact(name)
		changed = changed || redacted[i] != name
	}
	if changed {
		slices.Sort(redacted)
		redacted = slices.Compact(redacted)
	}
	return redacted
}

func (s *secrets) replace(text string) string {
	if s == nil {
		return text
	}
	return s.redact(text)
}

// replaceShown is replace for text that is only shown.
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

// redactingUntilEnd returns the request with secrets replaced until ctx ends.
func (s *secrets) redactingUntilEnd(ctx context.Context, req *summarizers.Request) *summarizers.Request {
	bounded := *req
	if s != nil {
		bounded.Redact = s.counted.Within(ctx)
	}
	return &bounded
}

// asRedacted returns the request with texts counted after their secrets are replaced. The replacement of a short secret
// is longer than it, so a text that just fits could otherwise pass its budget.
func (s *secrets) asRedacted(req *summarizers.Request) *summarizers.Request {
	if s == nil {
		return req
	}
	asked := *req
	asked.Count = func(text string) uint32 { return req.Count(s.replaceShown(text)) }
	return &asked
}
