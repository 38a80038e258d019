package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/compactord/compactord/dialects/transcript"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// readFile is a conversation that was read from a file.
type readFile struct {
	// name is what people call the file.
	name   string
	reader *transcript.Reader
	// messages are those that are not stored yet.
	messages []*compactordv1.Message
	// records are the compactions and checkpoints that the source told of.
	records []*compactordv1.ImportedRecord
	// notes say what the reader left out or changed.
	notes []string
	// strict refuses what is malformed.
	strict bool
}

// compactions is how many the source told of.
func (t *readFile) compactions() int {
	n := 0
	for _, r := range t.records {
		if r.GetCompaction() != nil {
			n++
		}
	}
	return n
}

// again is the file with its messages alone, to be stored once more: an upload lets go of what it has sent.
func (t *readFile) again() *readFile {
	return &readFile{messages: slices.Clone(t.messages), strict: t.strict}
}

// reading says how a transcript is to be read.
type reading struct {
	Format             string `help:"What FILE is, where it is not recognized: ${formats}." placeholder:"FORMAT"`
	Nth                int    `help:"Of a file that holds several sessions: which one, from 1." placeholder:"N"`
	Strict             bool   `help:"Refuse what is malformed, instead of taking what is clear and saying so."`
	WithoutCompactions bool   `help:"Leave out the compactions that the tool which wrote FILE made."`
}

// check refuses what no file can be read by, before one is opened.
func (r reading) check(a *app) error {
	switch {
	case r.Format != "" && !slices.Contains(transcript.Formats(), transcript.Format(r.Format)):
		return usagef("--format: there is no format %q; there are %s", r.Format, formatNames())
	case a.given["nth"] && r.Nth < 1:
		return usagef("--nth: must be at least 1: the first session of the file")
	default:
		return nil
	}
}

// options are those of a reader that counts what it reads by w.
func (r reading) options(w *watched) []transcript.Option {
	options := []transcript.Option{transcript.Through(func(in io.Reader) io.Reader {
		// A context file of kimi-cli goes on from others.
		return w.on(in)
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

// readTranscript reads a whole transcript, so that what is wrong at its end is known before anything is done.
func readTranscript(ctx context.Context, a *app, path string, how reading, p *progress) (*readFile, error) {
	name, in, size, err := openTranscript(a, path)
	if err != nil {
		return nil, err
	}
	// It was read only: what closing it says changes nothing.
	defer func() { _ = in.Close() }()
	p.stage("reading "+name, "bytes", size)
	t, err := parseTranscript(name, path, how, newWatched(ctx, in, p))
	if errors.Is(context.Cause(ctx), errInterrupted) {
		return nil, errInterrupted
	}
	if err != nil {
		return nil, misread(name, err)
	}
	p.say("%s: %s, %s", name, count(len(t.messages), "message"), t.reader.Format())
	for _, note := range t.notes {
		p.say("  %s", note)
	}
	return t, nil
}

func openTranscript(a *app, path string) (name string, in io.ReadCloser, size int64, err error) {
	if path == standardInput {
		return "standard input", io.NopCloser(a.stdin), 0, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return "", nil, 0, unreadable(path, err)
	}
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		var events []string
		if events, err = transcript.EventFiles(path); err == nil && len(events) == 0 {
			err = errors.New("it is a folder, and holds no event-*.json of OpenHands")
		}
	}
	if err != nil {
		return "", nil, 0, errors.Join(unreadable(path, err), file.Close())
	}
	return path, file, info.Size(), nil
}

// parseTranscript reads what in holds or, where path names a file, that file and those that it goes on from.
func parseTranscript(name, path string, how reading, in *watched) (*readFile, error) {
	var reader *transcript.Reader
	var err error
	if path == standardInput {
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
	t := &readFile{name: name, reader: reader, messages: messages, strict: how.Strict}
	if !how.WithoutCompactions {
		t.records = reader.Records()
	}
	for _, note := range reader.Notes() {
		t.notes = append(t.notes, note.Text)
	}
	return t, nil
}

// misread says in which transcript something is wrong, and where.
func misread(name string, err error) error {
	var line *transcript.LineError
	var several *transcript.SessionsError
	switch {
	case errors.As(err, &several):
		err := fmt.Errorf("%s: %w", culprit(name, err), several)
		if several.Selected > 0 {
			// --nth named one that is not there.
			err = asUsage(err)
		}
		return advise(err, "Choose one by its number, such as the first: %s", again("--nth", "1"))
	case errors.As(err, &line):
		return fmt.Errorf("%s, %w", culprit(name, err), line)
	default:
		return unreadable(name, err)
	}
}

// place names the position of a message in the file that it came from, as its readers count.
func (t *readFile) place(position uint32) string {
	if t == nil {
		return fmt.Sprintf("position %d of its source", position)
	}
	return t.reader.Place(position)
}
