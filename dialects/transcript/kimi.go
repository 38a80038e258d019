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

// Roles of lines that are no messages.
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

// recognizeKimi takes the lines that only kimi-cli writes. One of them stands first in each of its files.
func recognizeKimi(b beginning) verdict {
	for _, role := range []string{kimiSystemPrompt, kimiCheckpoint, kimiUsage} {
		if b.IsText("role", role) {
			return yes
		}
	}
	return no
}

// openKimi reads one file alone. The files that were rotated out of the way lie beside it: see OpenFile.
func openKimi(in *lines, _ beginning) (source, error) {
	return &kimiContext{in: in, remarks: in.remarks}, nil
}

// kimiContext reads a context file of kimi-cli, and the files that it goes on from.
type kimiContext struct {
	in      *lines
	remarks *remarks
	// chain are the files that are still to be read; each goes on from the one before by a compaction.
	chain []func() (*lines, error)
	// ready are entries that were read and wait to be given out; held is an ASSISTANT message whose usage may follow.
	ready []entry
	held  *compactordv1.Message
	// messages counts those that were read; hashes are those of the current file, in order.
	messages uint32
	hashes   []uint64
	// position counts the lines of all files.
	position int
	// several says that there is more than one.
	several  bool
	prompted bool
	// estimating says that token counts are kimi's own guess on what a compaction left, up to the next checkpoint.
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
	return onLine(s.in.line, s.remarks.repair(line, s.in.line, func(repaired json.RawMessage) error {
		if len(repaired) != len(line) {
			if o, err = rawjson.ParseObject(repaired); err != nil {
				return err
			}
		}
		return s.take(o, line)
	}))
}

// take makes entries of a line.
func (s *kimiContext) take(o rawjson.Object, line json.RawMessage) error {
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

// message takes a message. That of an assistant is held back for the usage that follows it.
func (s *kimiContext) message(o rawjson.Object, line json.RawMessage) error {
	m, err := kimiMessage(o, s.remarks)
	if err != nil {
		return err
	}
	s.release()
	s.locate(m, line)
	s.append(m)
	return nil
}

// locate notes where a message was read, and what its line was.
func (s *kimiContext) locate(m *compactordv1.Message, line []byte) {
	m.SourcePosition = position(s.position + s.in.line - 1)
	s.hashes = append(s.hashes, kimiHash(line))
}

// append gives out a message, or holds it.
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

// release gives out the message that was held.
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
		s.remarks.addMany(laterPrompt, boolCount(!s.prompted))
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
	// The first checkpoint of a file stands before all messages.
	s.estimating = s.estimating && len(s.hashes) == 0
	s.ready = append(s.ready, checkpoint(kimiCheckpointTitle(id)))
	return nil
}

// usage gives a token count to the message of the assistant directly before it. The count that kimi-cli writes before
// that message is the same request's without its output.
func (s *kimiContext) usage(o rawjson.Object) error {
	count, err := o.Count("token_count")
	if err != nil {
		return err
	}
	switch {
	case s.estimating:
		s.remarks.add(estimatedUsage)
	case s.held != nil && count > 0:
		s.held.Usage = &compactordv1.Usage{TotalTokens: count}
	}
	s.release()
	return nil
}

// kimiSeed makes hashes of lines comparable within the process.
var kimiSeed = maphash.MakeSeed()

func kimiHash(line []byte) uint64 { return maphash.Bytes(kimiSeed, line) }
