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

// rotatedFiles finds the files that kimi-cli rotated out of the way of a context file, the oldest first: beside
// context.jsonl lie context_1.jsonl, context_2.jsonl and so on.
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

// goOnFrom makes a context file the last of the files that lead to it.
func (s *kimiContext) goOnFrom(path string, f *files) error {
	rotated, err := rotatedFiles(path)
	if err != nil {
		return err
	}
	chain, leftOut, err := kimiChain(path, rotated, f.options)
	if err != nil {
		return err
	}
	s.remarks.addMany(rotatedLeftOut, leftOut)
	if len(chain) == 0 {
		return nil
	}
	newest := s.in
	if s.in, err = f.read(chain[0], s.remarks); err != nil {
		return err
	}
	s.several = true
	for _, path := range chain[1:] {
		s.chain = append(s.chain, func() (*lines, error) { return f.read(path, s.remarks) })
	}
	s.chain = append(s.chain, func() (*lines, error) { return newest, nil })
	return nil
}

// kimiChain finds the files that a context file goes on from by compactions, the oldest first. A file that was rotated
// by a revert begins as the one that came after it does; one that was cleared or rewritten whole leaves no summary. The
// newest file tells what was true then, and the older ones are left out.
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

// kimiFirstSummary is the hash of the summary that a file begins with; 0 where it begins with none.
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
		m, err := kimiMessage(object, &remarks{})
		if err != nil || !isKimiSummary(m) {
			return 0, nil
		}
		return kimiHash(line), nil
	}
}

// follow goes on with the next file of the chain: its summary is a compaction of what was read so far, and the messages
// that it repeats behind the summary are what was kept.
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
	if e, ok := c.entry(s.remarks); ok {
		s.ready = append(s.ready, e)
	}
	for _, m := range opening[1+kept:] {
		s.release()
		s.append(m)
	}
	return nil
}

// opening reads what a compaction wrote into a new file: the summary, what it kept, and what kimi-cli added, up to the
// count of its tokens. The checkpoint in front of the summary is passed over: there is nothing to go back to.
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
				return messages, onLine(s.in.line, s.take(o, line))
			}
		default:
			m, err := kimiMessage(o, s.remarks)
			if err != nil {
				return nil, onLine(s.in.line, err)
			}
			s.locate(m, line)
			messages = append(messages, m)
		}
	}
}

// repeated returns how many messages at the end of one file stand at the start of the next.
func repeated(before, after []uint64) int {
	for n := min(len(before), len(after)); n > 0; n-- {
		if slices.Equal(before[len(before)-n:], after[:n]) {
			return n
		}
	}
	return 0
}
