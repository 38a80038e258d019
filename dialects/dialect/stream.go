package dialect

import (
	"errors"
	"slices"
	"strings"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// ErrMixed refuses a list in which only some elements are events of a stream.
var ErrMixed = errors.New("is no event of a stream, unlike the elements before it: a list has only events, or none")

// Ending says how a streamed response ended, where no response body says it.
type Ending struct {
	// Cut says that the stream broke off before its end.
	Cut bool
	// Failed reports that the provider ended the stream with an error. Text is the error's text, and Word its code or
	// type.
	Failed     bool
	Text, Word string
}

// Fail records an error that ended the stream. Providers write it as an object with a message and a code or type, or as
// a text.
func (e *Ending) Fail(raw []byte) {
	*e = Ending{Failed: true}
	if rawjson.KindOf(raw) == rawjson.String {
		e.Text, _ = rawjson.Object{"message": raw}.Text("message")
		return
	}
	o, err := rawjson.SplitObject(raw)
	if err != nil {
		return
	}
	e.Text = o.TextOrEmpty("message")
	for _, key := range []string{"code", "status", "type"} {
		if e.Word == "" {
			e.Word = o.TextOrEmpty(key)
		}
	}
}

// EndStream sets in the one message of a streamed response how the stream ended.
func (p *Parsed) EndStream(e Ending) {
	m := p.Messages[len(p.Messages)-1]
	if e.Failed || e.Cut {
		// The client is not to blame for an empty message here.
		p.Findings = slices.DeleteFunc(p.Findings, func(f Finding) bool { return f.Rule == InputEmptyMessage })
	}
	switch {
	case e.Failed:
		m.StopReason = compactordv1.StopReason_STOP_REASON_ERROR
		if e.Text != "" {
			m.ErrorText = strings.ToValidUTF8(e.Text[:min(len(e.Text), MaxErrorText)], "")
		}
		if e.Word != "" {
			p.ProviderStop = e.Word
		}
	case e.Cut:
		m.StopReason = compactordv1.StopReason_STOP_REASON_ABORTED
		p.Cut = true
		p.Findings = slices.Insert(p.Findings, 0, Finding{
			Rule: InputStreamCut, Text: "The stream breaks off before its end; the answer so far is accepted as aborted.",
		})
	}
}
