package conversation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/dialects/transcript"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Transcript is a conversation that was read from a file.
type Transcript struct {
	// Name is what people call the file.
	Name   string
	Reader *transcript.Reader
	// Messages are those that are not stored yet.
	Messages []*compactordv1.Message
	// records are the compactions and checkpoints that the source told of.
	records []*compactordv1.ImportedRecord
	// Notes say what the reader left out or changed.
	Notes []string
	// strict refuses what is malformed.
	strict bool
}

// Compactions is how many the source told of.
func (t *Transcript) Compactions() int {
	n := 0
	for _, r := range t.records {
		if r.GetCompaction() != nil {
			n++
		}
	}
	return n
}

// Again is the file with its messages alone, to be stored once more: an upload lets go of what it has sent.
func (t *Transcript) Again() *Transcript {
	return &Transcript{Messages: slices.Clone(t.Messages), strict: t.strict}
}

// Reading says how a transcript is to be read.
type Reading struct {
	Format             string `help:"What FILE is, where it is not recognized: ${formats}." placeholder:"FORMAT"`
	Nth                int    `help:"Of a file that holds several sessions: which one, from 1." placeholder:"N"`
	Strict             bool   `help:"Refuse what is malformed, instead of taking what is clear and saying so."`
	WithoutCompactions bool   `help:"Leave out the compactions that the tool which wrote FILE made."`
}

// Check refuses what no file can be read by, before one is opened.
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

// options are those of a reader that counts what it reads by w.
func (r Reading) options(w *terminal.Input) []transcript.Option {
	options := []transcript.Option{transcript.Through(func(in io.Reader) io.Reader {
		// A context file of kimi-cli goes on from others.
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

// ReadTranscript reads a whole transcript, so that what is wrong at its end is known before anything is done.
func ReadTranscript(ctx context.Context, a *api.App, path string, how Reading, p *terminal.Progress) (*Transcript, error) {
	name, in, size, err := OpenTranscript(a, path)
	if err != nil {
		return nil, err
	}
	// It was read only: what closing it says changes nothing.
	defer func() { _ = in.Close() }()
	p.Stage("reading "+name, "bytes", size)
	t, err := parseTranscript(name, path, how, terminal.NewInput(ctx, in, p))
	if errors.Is(context.Cause(ctx), terminal.ErrInterrupted) {
		return nil, terminal.ErrInterrupted
	}
	if err != nil {
		return nil, Misread(name, err)
	}
	p.Say("%s: %s, %s", name, terminal.Count(len(t.Messages), "message"), t.Reader.Format())
	for _, note := range t.Notes {
		p.Say("  %s", note)
	}
	return t, nil
}

// OpenTranscript opens a file, or standard input, for reading, and says what people call it and how large it is.
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
			err = errors.New("it is a folder, and holds no event-*.json of OpenHands")
		}
	}
	if err != nil {
		return "", nil, 0, errors.Join(terminal.Unreadable(path, err), file.Close())
	}
	return path, file, info.Size(), nil
}

// parseTranscript reads what in holds or, where path names a file, that file and those that it goes on from.
func parseTranscript(name, path string, how Reading, in *terminal.Input) (*Transcript, error) {
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
	// It was read only, as above.
	defer func() { _ = reader.Close() }()
	messages, err := reader.ReadAll()
	if err != nil {
		return nil, err
	}
	t := &Transcript{Name: name, Reader: reader, Messages: messages, strict: how.Strict}
	if !how.WithoutCompactions {
		t.records = reader.Records()
	}
	for _, note := range reader.Notes() {
		t.Notes = append(t.Notes, note.Text)
	}
	return t, nil
}

// Misread says in which transcript something is wrong, and where.
func Misread(name string, err error) error {
	var line *transcript.LineError
	var several *transcript.SessionsError
	switch {
	case errors.As(err, &several):
		err := fmt.Errorf("%s: %w", terminal.Culprit(name, err), several)
		if several.Selected > 0 {
			// --nth named one that is not there.
			err = terminal.AsUsage(err)
		}
		return terminal.Advise(err, "Choose one by its number, such as the first: %s", terminal.Again("--nth", "1"))
	case errors.As(err, &line):
		return fmt.Errorf("%s, %w", terminal.Culprit(name, err), line)
	default:
		return terminal.Unreadable(name, err)
	}
}

// Place names the position of a message in the file that it came from, as its readers count.
func (t *Transcript) Place(position uint32) string {
	if t == nil {
		return fmt.Sprintf("position %d of its source", position)
	}
	return t.Reader.Place(position)
}
