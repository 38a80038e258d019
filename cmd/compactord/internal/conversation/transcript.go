package conversation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/dialects/transcript"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Transcript is a conversation that was read from a file.
type Transcript struct {
	// Name is the file's name for people.
	Name   string
	Reader *transcript.Reader
	// Messages are the messages that are not uploaded yet. Of a large file that is imported they are some of the next ones.
	Messages []*compactordv1.Message
	// count is how many messages the file has, first the index of the first one of Messages, and again reads those that are
	// not there yet; nil where all are there.
	count, first int
	again        *transcript.Reader
	// records are the compactions and checkpoints that the file reports.
	records []*compactordv1.ImportedRecord
	// Notes say what the reader left out or changed.
	Notes []string
	// strict makes the daemon refuse malformed messages.
	strict bool
}

// Compactions returns how many compactions the file reports.
func (t *Transcript) Compactions() int {
	n := 0
	for _, r := range t.records {
		if r.GetCompaction() != nil {
			n++
		}
	}
	return n
}

// RecordedSummary is a summary in a file, by the tool that wrote the file.
type RecordedSummary struct {
	// Logged is the number of messages before it was made, and FirstKept the first that the tool kept after it.
	Logged, FirstKept int
	Text              string
}

// RecordedSummaries returns the summaries in the file.
func (t *Transcript) RecordedSummaries() []RecordedSummary {
	var all []RecordedSummary
	for _, r := range t.records {
		if c := r.GetCompaction(); c != nil {
			all = append(all, RecordedSummary{int(r.GetAfterMessages()), int(c.GetFirstKeptIndex()), c.GetSummary()})
		}
	}
	return all
}

// Again returns a copy without records, for another upload: an upload releases the messages that it has sent.
func (t *Transcript) Again() *Transcript {
	return &Transcript{Messages: slices.Clone(t.Messages), count: t.count, strict: t.strict}
}

// Reading holds the flags about reading a file.
type Reading struct {
	Format             string `help:"Format of FILE, if it is not recognized: ${formats}." placeholder:"FORMAT"`
	Nth                int    `help:"Number of the session in a file with several, from 1." placeholder:"N"`
	Strict             bool   `help:"Refuse malformed messages, instead of repairing and reporting them."`
	WithoutCompactions bool   `help:"Ignore the compactions of the tool that wrote FILE."`
}

// Check reports wrong flags before a file is opened.
func (r Reading) Check(a *api.App) error {
	switch {
	case r.Format != "" && !slices.Contains(transcript.Formats(), transcript.Format(r.Format)):
		return terminal.Usagef("--format: there is no format %q; there are %s", r.Format, FormatNames())
	case a.Given["nth"] && r.Nth < 1:
		return terminal.Usagef("--nth: must be at least 1: the first session of the file")
	default:
		return nil
	}
}

// options returns a reader's options. The reader counts its bytes with w.
func (r Reading) options(w *terminal.Input) []transcript.Option {
	options := []transcript.Option{transcript.Through(func(in io.Reader) io.Reader {
		// A context file of kimi-cli continues other files.
		return w.On(in)
	})}
	if r.Format != "" {
		options = append(options, transcript.As(transcript.Format(r.Format)))
	}
	if r.Strict {
		options = append(options, transcript.Strict())
	}
	if r.Nth > 0 {
		options = append(options, transcript.Select(r.Nth))
	}
	return options
}

// ReadTranscript reads a whole transcript, so that an error at its end is known before anything is done.
func ReadTranscript(ctx context.Context, a *api.App, path string, how Reading, p *terminal.Progress) (*Transcript, error) {
	return readTranscript(ctx, a, path, how, math.MaxInt64, p)
}

// ReadToImport is ReadTranscript for messages that are only uploaded: those of a large file are not held. The caller closes the
// transcript.
func ReadToImport(ctx context.Context, a *api.App, path string, how Reading, p *terminal.Progress) (*Transcript, error) {
	return readTranscript(ctx, a, path, how, heldBytes, p)
}

// readTranscript reads a transcript. Of a file that is larger than some bytes it holds no messages.
func readTranscript(
	ctx context.Context, a *api.App, path string, how Reading, held int64, p *terminal.Progress,
) (*Transcript, error) {
	name, in, size, err := OpenTranscript(a, path)
	if err != nil {
		return nil, err
	}
	// A file that was only read needs no check at closing.
	defer func() { _ = in.Close() }()
	p.Stage("reading "+name, "bytes", size)
	t, err := parseTranscript(name, path, how, terminal.NewInput(ctx, in, p), size <= held)
	if errors.Is(context.Cause(ctx), terminal.ErrInterrupted) {
		return nil, terminal.ErrInterrupted
	}
	if err != nil {
		return nil, Misread(name, err)
	}
	p.Say("%s: %s, %s", name, terminal.Count(t.Count(), "message"), t.Reader.Format())
	for _, note := range t.Notes {
		p.Say("  %s", note)
	}
	return t, nil
}

// OpenTranscript opens a file or standard input. It returns a name for people, and the size in bytes, 0 if unknown.
func OpenTranscript(a *api.App, path string) (name string, in io.ReadCloser, size int64, err error) {
	if path == terminal.StandardInput {
		return "standard input", io.NopCloser(a.Stdin), 0, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return "", nil, 0, terminal.Unreadable(path, err)
	}
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		var events []string
		if events, err = transcript.EventFiles(path); err == nil && len(events) == 0 {
			err = errors.New("it is a folder without event-*.json files of OpenHands")
		}
	}
	if err != nil {
		return "", nil, 0, errors.Join(terminal.Unreadable(path, err), file.Close())
	}
	return path, file, info.Size(), nil
}

// parseTranscript reads standard input, or a file and those that it continues. It holds the messages, or has them read again.
func parseTranscript(name, path string, how Reading, in *terminal.Input, holds bool) (*Transcript, error) {
	var reader *transcript.Reader
	var err error
	if path == terminal.StandardInput {
		reader, err = transcript.Open(in, how.options(in)...)
	} else {
		reader, err = transcript.OpenFile(path, how.options(in)...)
	}
	if err != nil {
		return nil, err
	}
	// A file that was only read needs no check at closing.
	defer func() { _ = reader.Close() }()
	t := &Transcript{Name: name, Reader: reader, strict: how.Strict}
	if holds {
		t.Messages, err = reader.ReadAll()
		t.count = len(t.Messages)
	} else {
		err = t.scan(reader, func() (*transcript.Reader, error) {
			return transcript.OpenFile(path, how.options(in.Silent())...)
		})
	}
	if err != nil {
		return nil, err
	}
	if !how.WithoutCompactions {
		t.records = reader.Records()
	}
	for _, note := range reader.Notes() {
		t.Notes = append(t.Notes, note.Text)
	}
	return t, nil
}

// Misread says which file has an error, and where.
func Misread(name string, err error) error {
	var line *transcript.LineError
	var several *transcript.SessionsError
	switch {
	case errors.As(err, &several):
		err := fmt.Errorf("%s: %w", terminal.Culprit(name, err), several)
		if several.Selected > 0 {
			// --nth is too high.
			err = terminal.AsUsage(err)
		}
		return terminal.Advise(err, "Choose one by its number. For the first: %s", terminal.Again("--nth", "1"))
	case errors.As(err, &line):
		return fmt.Errorf("%s, %w", terminal.Culprit(name, err), line)
	default:
		return terminal.Unreadable(name, err)
	}
}

// Place formats the position of a message in its file, as the file's reader counts.
func (t *Transcript) Place(position uint32) string {
	if t == nil {
		return fmt.Sprintf("position %d of its source", position)
	}
	return t.Reader.Place(position)
}
