package dialect

import (
	"errors"
	"slices"
	"strings"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// ErrMixed is what a list is refused with of which only some elements are events of a stream.
var ErrMixed = errors.New("is no event of a stream, as what stands before it is: a list holds events only, or none")

// Ending is how a streamed response came to its end, as far as no response body tells it.
type Ending struct {
	// Cut says that the stream broke off before its end.
	Cut bool
	// Failed says that the provider ended it with an error. Text is the error's text, Word its code or type.
	Failed     bool
	Text, Word string
}

// Fail ends a stream with an error as providers write one: an object with a message and a code or type, or a text.
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

// EndStream puts into the one message of a streamed response how the stream ended.
func (p *Parsed) EndStream(e Ending) {
	m := p.Messages[len(p.Messages)-1]
	if e.Failed || e.Cut {
		// That it says nothing is no fault of the client's.
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
			Rule: InputStreamCut, Text: "The stream breaks off before its end; what there is of the answer is taken as aborted.",
		})
	}
}
