package transcript

import (
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

var rotatedLeftOut = leftOut("rotated file of before a revert or a clearing, or one that was rewritten whole,",
	"rotated files of before reverts or clearings, or ones that were rewritten whole,")

// rotatedFiles finds the earlier files of a context file, the oldest first: beside context.jsonl there are
// context_1.jsonl, context_2.jsonl and so on.
func rotatedFiles(path string) ([]string, error) {
	folder, name := filepath.Split(path)
	suffix := filepath.Ext(name)
	stem := strings.TrimSuffix(name, suffix) + "_"
	files, err := os.ReadDir(filepath.Clean(folder + "."))
	if err != nil {
		return nil, err
	}
	numbers := make(map[string]uint64)
	var rotated []string
	for _, f := range files {
		digits, isOne := strings.CutPrefix(strings.TrimSuffix(f.Name(), suffix), stem)
		n, err := strconv.ParseUint(digits, 10, 64)
		if !isOne || err != nil || !strings.HasSuffix(f.Name(), suffix) || f.IsDir() {
			continue
		}
		numbers[f.Name()] = n
		rotated = append(rotated, f.Name())
	}
	slices.SortFunc(rotated, func(a, b string) int {
		return cmp.Compare(numbers[a], numbers[b])
	})
	for i, name := range rotated {
		rotated[i] = folder + name
	}
	return rotated, nil
}

// continueFrom makes a context file the last of the files that it continues.
func (s *kimiContext) continueFrom(path string, f *files) error {
	rotated, err := rotatedFiles(path)
	if err != nil {
		return err
	}
	chain, leftOut, err := kimiChain(path, rotated, f.options)
	if err != nil {
		return err
	}
	s.notes.addMany(rotatedLeftOut, leftOut)
	if len(chain) == 0 {
		return nil
	}
	newest := s.in
	if s.in, err = f.read(chain[0], s.notes); err != nil {
		return err
	}
	s.several = true
	for _, path := range chain[1:] {
		s.chain = append(s.chain, func() (*lines, error) { return f.read(path, s.notes) })
	}
	s.chain = append(s.chain, func() (*lines, error) { return newest, nil })
	return nil
}

// kimiChain finds the files that a context file continues after compactions, the oldest first. A file that a revert
// rotated begins like the one after it. A file that was cleared or rewritten leaves no summary. The newest file says
// what was true then, and the older ones are left out.
func kimiChain(path string, rotated []string, o options) (chain []string, leftOut int, err error) {
	summary, err := kimiFirstSummary(path, o)
	if err != nil {
		return nil, 0, err
	}
	for i := len(rotated) - 1; i >= 0 && summary != 0; i-- {
		before, err := kimiFirstSummary(rotated[i], o)
		if err != nil {
			return nil, 0, err
		}
		if before == summary {
			continue
		}
		chain = append(chain, rotated[i])
		summary = before
	}
	slices.Reverse(chain)
	return chain, len(rotated) - len(chain), nil
}

// kimiFirstSummary returns the hash of the summary that a file begins with, or 0 where there is none.
func kimiFirstSummary(path string, o options) (hash uint64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	in := newLines(f, o)
	for {
		object, line, err := in.object()
		if errors.Is(err, io.EOF) || in.broken != nil && !in.whole {
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		if role, err := object.Text("role"); err != nil || strings.HasPrefix(role, "_") {
			continue
		}
		m, err := kimiMessage(object, &noteCounter{})
		if err != nil || !isKimiSummary(m) {
			return 0, nil
		}
		return kimiHash(line), nil
	}
}

// follow continues with the next file of the chain. Its summary is a compaction of the messages so far. The messages
// that it repeats after the summary were kept.
func (s *kimiContext) follow() error {
	lines := s.in.line
	in, err := s.chain[0]()
	if err != nil {
		return err
	}
	s.chain, s.in = s.chain[1:], in
	s.position += lines
	before := s.hashes
	s.hashes, s.estimating = nil, true
	opening, err := s.opening()
	if err != nil || len(opening) == 0 {
		return err
	}
	kept := min(repeated(before, s.hashes[1:]), int(s.messages))
	c := compaction{
		tool:      string(Kimi),
		summary:   kimiSummary(opening[0]),
		firstKept: s.messages - uint32(kept),
	}
	if e, ok := c.entry(s.notes); ok {
		s.ready = append(s.ready, e)
	}
	for _, m := range opening[1+kept:] {
		s.release()
		s.append(m)
	}
	return nil
}

// opening reads what a compaction wrote into a new file: the summary, the kept messages, and what kimi-cli added, up to
// the token count. It skips the checkpoint before the summary, since there is nothing to go back to.
func (s *kimiContext) opening() ([]*compactordv1.Message, error) {
	var messages []*compactordv1.Message
	for {
		o, line, err := s.in.object()
		if errors.Is(err, io.EOF) {
			return messages, nil
		}
		if err != nil {
			return nil, err
		}
		switch mark := o.IsText("role", kimiCheckpoint); {
		case o.IsText("role", kimiSystemPrompt), mark && len(messages) == 0:
		case mark, o.IsText("role", kimiUsage):
			if len(messages) > 0 {
				return messages, onLine(s.in.line, s.parse(o, line))
			}
		default:
			m, err := kimiMessage(o, s.notes)
			if err != nil {
				return nil, onLine(s.in.line, err)
			}
			s.locate(m, line)
			messages = append(messages, m)
		}
	}
}

// repeated returns how many messages at the end of one file are also at the start of the next.
func repeated(before, after []uint64) int {
	for n := min(len(before), len(after)); n > 0; n-- {
		if slices.Equal(before[len(before)-n:], after[:n]) {
			return n
		}
	}
	return 0
}
