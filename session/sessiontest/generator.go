package sessiontest

import (
	"fmt"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Generator writes logs by random steps. Most steps are realistic, and enough of them are difficult.
type Generator struct {
	W *Writer
	// Counts is what was made.
	Counts Counts

	// model is the model of the newest point.
	model *Model
	// modelOf is the writer of which model is: tests give a generator another one.
	modelOf *Writer
	// made is a counter for texts and entries, so that no two are the same.
	made int
	// lastRevert is the point of the last Revert.
	lastRevert *uint32
}

// NewGenerator starts a log with the estimator CHARS4.
func NewGenerator(t *rapid.T, counts Counts) *Generator {
	return NewGeneratorBy(t, compactordv1.Estimator_ESTIMATOR_CHARS4, counts)
}

// NewGeneratorBy is NewGenerator with another estimator.
func NewGeneratorBy(t *rapid.T, e compactordv1.Estimator, counts Counts) *Generator {
	policy := &compactordv1.Policy{ContextWindow: window(t), MaxInputTokens: inputLimit(t), Trigger: trigger(t), Strategy: strategy(t)}
	policy.ContextBlocks = &compactordv1.ContextBlockPolicy{AllowOperator: proto.Bool(chance(t, 80, "operator allowed"))}
	g := &Generator{W: NewWriterBy(e, policy), Counts: counts}
	lead := between(t, 0, 3, "lead")
	if lead == 0 {
		g.count(NoLead, true)
	}
	for range lead {
		if chance(t, 15, "blocks first") {
			g.changeBlocks(t)
		}
		g.instruct(t)
	}
	if chance(t, 10, "a child") {
		g.copyFromParent(t)
	}
	return g
}

func (g *Generator) count(class Class, yes bool) {
	if yes {
		g.Counts[class]++
	}
}

// Model returns the model of the newest point.
func (g *Generator) Model() *Model {
	if g.model == nil || g.modelOf != g.W || g.model.Point != g.W.Log.Newest() {
		g.model, g.modelOf = g.W.Model(), g.W
	}
	return g.model
}

// Step appends one message or record, or a record with the message that belongs to it, as an agent's session has them.
func (g *Generator) Step(t *rapid.T) {
	open := len(g.W.Head.GetOpenCalls()) > 0
	steps := []struct {
		weight int
		step   func(*rapid.T)
	}{
		{12, g.user},
		{26, g.assistant},
		{map[bool]int{true: 50, false: 8}[open], g.result},
		{2, g.instruct},
		{7, g.compact},
		{9, g.prune},
		{6, g.fold},
		{5, g.pin},
		{3, g.unpin},
		{5, g.revert},
		{1, g.sendBack},
		{1, g.clear},
		{1, g.mark},
		{3, g.changePolicy},
		{2, g.note},
		{4, g.changeBlocks},
		{1, g.replaceInstructions},
		{1, g.limitBlocks},
	}
	total := 0
	for _, s := range steps {
		total += s.weight
	}
	drawn := between(t, 0, total-1, "step")
	for _, s := range steps {
		if drawn -= s.weight; drawn < 0 {
			s.step(t)
			return
		}
	}
}

// Message appends one message and no record.
func (g *Generator) Message(t *rapid.T) {
	switch between(t, 0, 9, "message") {
	case 0, 1:
		g.user(t)
	case 2, 3, 4, 5:
		g.assistant(t)
	case 6, 7, 8:
		g.result(t)
	default:
		g.instruct(t)
	}
}

// Record appends one record and no message.
func (g *Generator) Record(t *rapid.T) {
	steps := []func(*rapid.T){g.compact, g.prune, g.fold, g.pin, g.unpin, g.revert, g.changePolicy, g.note, g.changeBlocks, g.replaceInstructions}
	steps[between(t, 0, len(steps)-1, "record")](t)
}

func (g *Generator) words(t *rapid.T) string {
	g.made++
	pieces := []string{"", "ok", "fix the parser", "läuft über", "修复解析器", "🙂 done", "a line\nand another\n"}
	return fmt.Sprintf("%s %d", oneOf(t, "words", pieces), g.made)
}

func (g *Generator) head() *storagev1.Head { return g.W.Head }

// newest returns the newest active message, or nil.
func (g *Generator) newest(m *Model) *Active {
	if len(m.Messages) == 0 {
		return nil
	}
	return m.Messages[len(m.Messages)-1]
}

func attachments(t *rapid.T) []*compactordv1.Attachment {
	if !chance(t, 10, "attached") {
		return nil
	}
	return []*compactordv1.Attachment{{
		Dialect: compactordv1.Dialect_DIALECT_ANTHROPIC, Key: "signature", Json: `"c2lnbmVk"`,
	}}
}

func media(t *rapid.T) *compactordv1.MediaPart {
	part := &compactordv1.MediaPart{
		MimeType: oneOf(t, "type", []string{"image/png", "image/png", "application/pdf", "audio/wav", "text/plain"}),
		Source:   &compactordv1.MediaPart_Data{Data: []byte{'a', 'b', 3}},
	}
	if chance(t, 20, "elsewhere") {
		part.Source = &compactordv1.MediaPart_Uri{Uri: "https://example.com/plan"}
	}
	if chance(t, 50, "named") {
		part.Name = "plan.png"
	}
	return part
}

func stale(t *rapid.T, h *storagev1.Head) *uint32 {
	newest := h.GetNextSequence() - 1
	if newest <= h.GetLastRevert() || !chance(t, 35, "stale") {
		return nil
	}
	// Mostly a few messages older; a service refuses a view older than a Revert.
	oldest := h.GetLastRevert()
	if newest-oldest > 6 && chance(t, 75, "little") {
		oldest = newest - 6
	}
	return proto.Uint32(uint32(between(t, int(oldest), int(newest), "made from")))
}
