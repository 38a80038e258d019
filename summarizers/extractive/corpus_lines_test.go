package extractive_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
)

// How many bytes of variants are read of one text: all variants of most texts, and an even sample of longer ones.
const (
	variantBytes      = 2 << 20
	shortVariantBytes = 16 << 10
)

// variants returns the text up to each of its lines, and without each of them.
func variants(text string, most int) []string {
	lines := strings.SplitAfter(text, "\n")
	step := 1 + 2*len(lines)*len(text)/most
	var all []string
	start := 0
	for i, line := range lines {
		end := start + len(line)
		if i%step == 0 {
			all = append(all, text[:end], text[:start]+text[end:])
		}
		start = end
	}
	return all
}

func TestVariantsOfAText(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"a\n", "b\nc", "a\nb\n", "a\nc", "a\nb\nc", "a\nb\n"}, variants("a\nb\nc", 1000))
	require.Equal(t, []string{"a\n", "b\nc"}, variants("a\nb\nc", 10))
}

// Whatever line a text of the corpus ends in, and whatever line is missing, it is read without a fault.
func TestLinesOfTheCorpusAreRead(t *testing.T) {
	t.Parallel()
	most, seen := variantBytes, map[string]bool{}
	if testing.Short() {
		most = shortVariantBytes
	}
	for i, path := range corpusFiles(t) {
		if testing.Short() && i%8 != 0 {
			continue
		}
		log, _ := loadConversation(t, path)
		for _, m := range log {
			for _, text := range textsOf(m) {
				if seen[*text] {
					continue
				}
				seen[*text] = true
				requireVariantsRead(t, path, m, text, most)
			}
		}
	}
}

// textsOf returns pointers to the texts of a message.
func textsOf(m *compactordv1.LoggedMessage) []*string {
	var texts []*string
	for _, p := range m.GetMessage().GetParts() {
		if t := p.GetText(); t != nil {
			texts = append(texts, &t.Text)
		}
		for _, rp := range p.GetToolResult().GetParts() {
			if t := rp.GetText(); t != nil {
				texts = append(texts, &t.Text)
			}
		}
	}
	return texts
}

// requireVariantsRead summarizes a message with all variants of one of its texts, as messages of one conversation.
func requireVariantsRead(t *testing.T, path string, m *compactordv1.LoggedMessage, text *string, most int) {
	t.Helper()
	whole := *text
	req := &summarizers.Request{MaxTokens: 500, Replaces: math.MaxUint32, Count: chars4}
	add := func(m *compactordv1.Message) {
		req.Messages = append(req.Messages, &compactordv1.LoggedMessage{Index: uint32(len(req.Messages)), Message: m})
	}
	for _, variant := range variants(whole, most) {
		*text = variant
		said := proto.CloneOf(m.GetMessage())
		for _, p := range said.GetParts() {
			if r := p.GetToolResult(); r != nil {
				// The output of a command is examined most.
				add(&compactordv1.Message{Role: compactordv1.Role_ROLE_ASSISTANT, Parts: []*compactordv1.Part{
					callPart(r.GetCallId(), "bash", `{"command":"make all"}`),
				}})
			}
		}
		add(said)
	}
	*text = whole
	s, err := extractive.New().Summarize(t.Context(), req, &listener{})
	require.NoError(t, err, path)
	require.NoError(t, summarizers.Check(req, s), path)
	require.Empty(t, s.Faults, "%s, message %d", path, m.GetIndex())
}
