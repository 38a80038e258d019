package transcript

import (
	"encoding/json"
	"errors"
	"hash/maphash"
	"io"
	"strings"

	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// The roles of lines that are no messages.
const (
	kimiSystemPrompt = "_system_prompt"
	kimiCheckpoint   = "_checkpoint"
	kimiUsage        = "_usage"
)

var (
	estimatedUsage = leftOut("token count that is an estimate", "token counts that are estimates")
	laterPrompt    = leftOut("system prompt that another one had replaced before", "system prompts that another one had replaced before")

	errKimiRecord = errors.New("unknown kind of record; known are _system_prompt, _checkpoint and _usage")
)

// recognizeKimi recognizes the lines that only kimi-cli writes. Each of its files begins with one of them.
func recognizeKimi(b beginning) verdict {
	for _, role := range []string{kimiSystemPrompt, kimiCheckpoint, kimiUsage} {
		if b.IsText("role", role) {
			return yes
		}
	}
	return no
}

// openKimi reads only one file. The files that were rotated are beside it: see OpenFile.
func openKimi(in *lines, _ beginning) (source, error) {
	return &kimiContext{in: in, notes: in.notes}, nil
}

// kimiContext reads a context file of kimi-cli, and the files that it continues.
type kimiContext struct {
	in    *lines
	notes *noteCounter
	// chain are the files that are still to be read. Each continues the one before after a compaction.
	chain []func() (*lines, error)
	// ready are entries that wait to be returned. held is an ASSISTANT message whose usage can follow.
	ready []entry
	held  *compactordv1.Message
	// messages counts those that were read. hashes are those of the current file's messages, in order.
	messages uint32
	hashes   []uint64
	// position counts the lines of all files.
	position int
	// several reports that there is more than one file.
	several  bool
	prompted bool
	// estimating reports that token counts are kimi's own estimate of what a compaction left, up to the next checkpoint.
	estimating bool
}

func (s *kimiContext) unit() unit {
	if s.several {
		return unitEntry
	}
	return unitLine
}

func (s *kimiContext) next() (entry, error) {
	for len(s.ready) == 0 {
		err := s.read()
		if errors.Is(err, io.EOF) {
			if s.release(); len(s.ready) > 0 {
				break
			}
			if len(s.chain) > 0 {
				err = s.follow()
			}
		}
		if err != nil {
			return entry{}, err
		}
	}
	e := s.ready[0]
	s.ready = s.ready[1:]
	return e, nil
}

// read reads one line.
func (s *kimiContext) read() error {
	o, line, err := s.in.object()
	if err != nil {
		return err
	}
	return onLine(s.in.line, s.notes.repair(line, s.in.line, func(repaired json.RawMessage) error {
		if len(repaired) != len(line) {
			if o, err = rawjson.ParseObject(repaired); err != nil {
				return err
			}
		}
		return s.parse(o, line)
	}))
}

// parse makes entries from a line.
func (s *kimiContext) parse(o rawjson.Object, line json.RawMessage) error {
	role, err := o.DemandText("role")
	if err != nil {
		return err
	}
	switch {
	case role == kimiUsage:
		return s.usage(o)
	case role == kimiCheckpoint:
		return s.checkpoint(o)
	case role == kimiSystemPrompt:
		return s.systemPrompt(o)
	case strings.HasPrefix(role, "_"):
		return rawjson.In("role", errKimiRecord)
	default:
		return s.message(o, line)
	}
}

// message reads a message. An ASSISTANT message waits for the usage that follows it.
func (s *kimiContext) message(o rawjson.Object, line json.RawMessage) error {
	m, err := kimiMessage(o, s.notes)
	if err != nil {
		return err
	}
	s.release()
	s.locate(m, line)
	s.append(m)
	return nil
}

// locate records the position of a message, and the hash of its line.
func (s *kimiContext) locate(m *compactordv1.Message, line []byte) {
	m.SourcePosition = position(s.position + s.in.line - 1)
	s.hashes = append(s.hashes, kimiHash(line))
}

// append adds a message to the ready entries, or holds it.
func (s *kimiContext) append(m *compactordv1.Message) {
	s.messages++
	if m.GetRole() == compactordv1.Role_ROLE_ASSISTANT {
		s.held = m
		return
	}
	if len(s.hashes) == 1 && isKimiSummary(m) {
		s.estimating = true
	}
	s.ready = append(s.ready, entry{message: m})
}

// release adds the held message to the ready entries.
func (s *kimiContext) release() {
	if s.held != nil {
		s.ready = append(s.ready, entry{message: s.held})
		s.held = nil
	}
}

func (s *kimiContext) systemPrompt(o rawjson.Object) error {
	text, err := o.BoundedText("content", maxText)
	if err != nil {
		return err
	}
	// Each file repeats the prompt. A log has it once, at its start.
	if s.prompted || s.messages > 0 {
		s.notes.addMany(laterPrompt, boolCount(!s.prompted))
		return nil
	}
	s.prompted = true
	s.append(&compactordv1.Message{
		Role:           compactordv1.Role_ROLE_SYSTEM,
		Origin:         compactordv1.Origin_ORIGIN_IMPORT,
		Parts:          []*compactordv1.Part{textPart(text)},
		SourcePosition: position(s.position + s.in.line - 1),
	})
	return nil
}

func (s *kimiContext) checkpoint(o rawjson.Object) error {
	id, err := o.Count("id")
	if err != nil {
		return err
	}
	s.release()
	// The first checkpoint of a file comes before all messages.
	s.estimating = s.estimating && len(s.hashes) == 0
	s.ready = append(s.ready, checkpoint(kimiCheckpointTitle(id)))
	return nil
}

// usage sets a token count in the ASSISTANT message directly before it. The count that kimi-cli writes before that
// message is that of the same request without its output.
func (s *kimiContext) usage(o rawjson.Object) error {
	count, err := o.Count("token_count")
	if err != nil {
		return err
	}
	switch {
	case s.estimating:
		s.notes.add(estimatedUsage)
	case s.held != nil && count > 0:
		s.held.Usage = &compactordv1.Usage{TotalTokens: count}
	}
	s.release()
	return nil
}

// kimiSeed makes hashes of lines comparable within the process.
var kimiSeed = maphash.MakeSeed()

func kimiHash(line []byte) uint64 { return maphash.Bytes(kimiSeed, line) }
