package session

import (
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/bpe"
)

// ErrEstimator means that this build lacks the estimator.
var ErrEstimator = errors.New("estimator not available")

// Counter counts tokens. Texts and media have sizes in the counter's own unit. Sizes are added up, and the sum is
// converted into tokens. The size of a message is the sum of its parts' sizes; it does not include what a provider adds
// to each message.
type Counter interface {
	// TextSize returns the size of a text.
	TextSize(text string) uint32
	// MediaSize returns the size of one medium.
	MediaSize(m *compactordv1.MediaPart) uint32
	// Tokens converts a size into tokens.
	Tokens(size uint64) uint32
}

// CounterFor returns the counter of an estimator, or ErrEstimator. The counter of CALIBRATED counts as that of CHARS4
// does; Scaled converts sums of its counts into tokens. The first counter of an exact estimator loads its vocabulary.
func CounterFor(e compactordv1.Estimator) (Counter, error) {
	switch e {
	case compactordv1.Estimator_ESTIMATOR_UNSPECIFIED, compactordv1.Estimator_ESTIMATOR_CHARS4:
		return chars4{}, nil
	case compactordv1.Estimator_ESTIMATOR_CALIBRATED:
		return chars4{}, nil
	case compactordv1.Estimator_ESTIMATOR_O200K_BASE:
		return exactCounter(bpe.O200kBase())
	case compactordv1.Estimator_ESTIMATOR_CL100K_BASE:
		return exactCounter(bpe.Cl100kBase())
	default:
		return nil, ErrEstimator
	}
}

// Exact reports whether an estimator counts by a model's own vocabulary.
func Exact(e compactordv1.Estimator) bool {
	return e == compactordv1.Estimator_ESTIMATOR_O200K_BASE || e == compactordv1.Estimator_ESTIMATOR_CL100K_BASE
}

// exact counts by a vocabulary; its sizes are tokens.
type exact struct{ vocabulary *bpe.Vocabulary }

func exactCounter(v *bpe.Vocabulary, err error) (Counter, error) {
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEstimator, err)
	}
	return exact{v}, nil
}

func (c exact) TextSize(text string) uint32 { return uint32(c.vocabulary.Count(text)) }

func (c exact) MediaSize(m *compactordv1.MediaPart) uint32 { return mediaSize(c, m) }

func (exact) Tokens(size uint64) uint32 { return saturate(size) }

// chars4 counts UTF-16 code units, four to a token, as JavaScript agents do with string lengths.
type chars4 struct{}

func (chars4) TextSize(text string) uint32 {
	var units uint32
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			i++
			units++
			continue
		}
		r, width := utf8.DecodeRuneInString(text[i:])
		i += width
		units++
		if r > 0xFFFF {
			units++
		}
	}
	return units
}

func (c chars4) MediaSize(m *compactordv1.MediaPart) uint32 {
	if isText(m) {
		return c.TextSize(string(m.GetData()))
	}
	return 4 * mediaTokens(m)
}

func (chars4) Tokens(size uint64) uint32 { return saturate((size + 3) / 4) }

// TextTokens estimates the tokens of one text.
func TextTokens(c Counter, text string) uint32 { return c.Tokens(uint64(c.TextSize(text))) }

// ArgumentTokens returns the tokens of the arguments of a call. It is read of the message's figures, since an outline has
// these and not the arguments.
func ArgumentTokens(c Counter, l *compactordv1.LoggedMessage, part uint32) uint32 {
	call := l.GetMessage().GetParts()[part].GetToolCall()
	name, size := c.TextSize(call.GetName()), l.GetPartSizes()[part]
	if call.GetArguments() == "" || size < name {
		return 0
	}
	return c.Tokens(uint64(size - name))
}

// MessageTokens estimates the tokens of a message that is not in the log, such as a summary.
func MessageTokens(c Counter, m *compactordv1.Message) uint32 {
	return SizesTokens(c, PartSizes(c, m))
}

// SizesTokens returns the tokens of a message whose parts have these sizes.
func SizesTokens(c Counter, sizes []uint32) uint32 { return c.Tokens(sum(sizes)) }

// PartSizes returns the size of each part of a message.
func PartSizes(c Counter, m *compactordv1.Message) []uint32 {
	sizes := make([]uint32, len(m.GetParts()))
	for i, p := range m.GetParts() {
		sizes[i] = partSize(c, p)
	}
	return sizes
}

func partSize(c Counter, p *compactordv1.Part) uint32 {
	switch k := p.GetKind().(type) {
	case *compactordv1.Part_Text:
		return c.TextSize(k.Text.GetText())
	case *compactordv1.Part_Thinking:
		return c.TextSize(k.Thinking.GetText())
	case *compactordv1.Part_ToolCall:
		return c.TextSize(k.ToolCall.GetName()) + argumentsSize(c, k.ToolCall.GetArguments())
	case *compactordv1.Part_ToolResult:
		var size uint32
		for _, rp := range k.ToolResult.GetParts() {
			size += resultPartSize(c, rp)
		}
		return size
	case *compactordv1.Part_Media:
		return c.MediaSize(k.Media)
	case *compactordv1.Part_Opaque:
		return c.TextSize(k.Opaque.GetJson())
	default:
		return 0
	}
}

func resultPartSize(c Counter, rp *compactordv1.ResultPart) uint32 {
	switch k := rp.GetKind().(type) {
	case *compactordv1.ResultPart_Text:
		return c.TextSize(k.Text.GetText())
	case *compactordv1.ResultPart_Media:
		return c.MediaSize(k.Media)
	case *compactordv1.ResultPart_Opaque:
		return c.TextSize(k.Opaque.GetJson())
	default:
		return 0
	}
}

// argumentsSize counts empty arguments as the empty object that providers require instead.
func argumentsSize(c Counter, arguments string) uint32 {
	if arguments == "" {
		arguments = "{}"
	}
	return c.TextSize(arguments)
}

func sum(sizes []uint32) uint64 {
	var total uint64
	for _, s := range sizes {
		total += uint64(s)
	}
	return total
}

// plus adds two figures. A sum that is too large becomes the largest figure.
func plus(a, b uint32) uint32 { return saturate(uint64(a) + uint64(b)) }

// saturate converts a sum to a figure. A client can report any figures, so a sum that is too large becomes the largest
// figure instead of a small one.
func saturate(tokens uint64) uint32 { return uint32(min(tokens, math.MaxUint32)) }
