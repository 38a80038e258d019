package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers"
)

// The token factors of models whose vocabulary is not public. Anthropic's older models count up to a quarter more
// tokens for a text than o200k_base, and its recent ones some 30 percent more than the older ones.
const (
	anthropicFactor = 1.6
	geminiFactor    = 1.2
)

// mediumTokens is how many tokens one medium counts: those of a large image.
const mediumTokens = 1_600

// counter counts tokens. Its result is the model's own count or more.
type counter struct {
	session.Counter
	factor float64
}

func newCounter(p *Profile) (counter, error) {
	exact, err := session.CounterFor(compactordv1.Estimator_ESTIMATOR_O200K_BASE)
	if err != nil {
		return counter{}, err
	}
	c := counter{exact, p.TokenFactor}
	if c.factor > 0 {
		return c, nil
	}
	switch p.Kind {
	case "anthropic":
		c.factor = anthropicFactor
	case "gemini":
		c.factor = geminiFactor
	default:
		c.factor = 1
	}
	return c, nil
}

// text counts the tokens of a text.
func (c counter) text(text string) uint32 {
	return tokens(math.Ceil(float64(session.TextTokens(c.Counter, text)) * c.factor))
}

func tokens(n float64) uint32 { return uint32(min(n, math.MaxUint32)) }

// view counts the tokens of an agent's own prompt: its JSON and its media.
func (c counter) view(v *summarizers.View) (uint32, error) {
	var total uint64
	for _, list := range [][]json.RawMessage{v.System, v.Messages, {v.Tools}} {
		for _, raw := range list {
			n, err := c.json(raw)
			if err != nil {
				return 0, err
			}
			total += uint64(n)
		}
	}
	return uint32(min(total, math.MaxUint32)), nil
}

// json counts raw JSON as text, except for media, since no provider reads their base64 as text.
func (c counter) json(raw json.RawMessage) (uint32, error) {
	if len(raw) > 0 && !json.Valid(raw) {
		return 0, errView
	}
	var text strings.Builder
	media := 0
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	previous := ""
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return tokens(float64(c.text(text.String())) + float64(media*mediumTokens)), nil
		}
		if err != nil {
			return 0, err
		}
		value, isString := token.(string)
		switch {
		case isString && isMedium(previous, value):
			media++
		case isString:
			text.WriteString(value)
		}
		// JSON syntax around a value costs a token or two.
		text.WriteString("\n,\n")
		previous = value
	}
}

// isMedium says whether a string is a medium in base64. key is the string before it, which is its key if it has one.
func isMedium(key, value string) bool {
	if strings.HasPrefix(value, "data:") {
		return strings.Contains(value[:min(len(value), 128)], ";base64,")
	}
	if key != "data" && key != "file_data" {
		return false
	}
	return len(value) > 512 && !strings.ContainsAny(value, " \n\"{<")
}
