package strategies

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const (
	presetsDocument = "../docs/presets.md"
	documentBegins  = "<!-- Made from the presets by `go test ./strategies -run TestPresetsDocument -update`. -->\n"
	documentEnds    = "<!-- Written by hand from here on. -->\n"
)

// figure is a number or a choice of a preset, with its source.
type figure struct{ path, value, from string }

// TestPresetsDocument compares the document with the data of the presets.
func TestPresetsDocument(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for _, p := range presets {
		p.document(t, &text)
	}
	b, err := os.ReadFile(presetsDocument)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(b), documentBegins)
	require.True(t, found)
	_, after, found := strings.Cut(rest, documentEnds)
	require.True(t, found)
	want := before + documentBegins + text.String() + documentEnds + after
	if flag.Lookup("update").Value.String() == "true" {
		require.NoError(t, os.WriteFile(presetsDocument, []byte(want), 0o600))
		return
	}
	require.Equal(t, want, string(b))
}

func (p preset) document(t *testing.T, text *strings.Builder) {
	t.Helper()
	fmt.Fprintf(text, "\n## %s\n\n%s\n", p.name, p.does)
	if p.reproduces != "" {
		fmt.Fprintf(text, "\nIt reproduces %s. Source: %s.\n", p.reproduces, p.from)
	}
	text.WriteString("\n| parameter | for a window of 200,000 | where it is from |\n|---|---|---|\n")
	for _, f := range p.figures(t) {
		fmt.Fprintf(text, "| `%s` | %s | %s |\n", f.path, f.value, f.from)
	}
	if len(p.deviations) > 0 {
		text.WriteString("\nOn purpose not as there:\n\n")
		for _, d := range p.deviations {
			fmt.Fprintf(text, "- %s\n", d)
		}
	}
}

// Each number has a source, and each source a number.
func TestEachFigureHasASource(t *testing.T) {
	t.Parallel()
	named := make(map[source]bool)
	for _, p := range presets {
		for _, f := range p.figures(t) {
			if f.from == "" {
				if f.path == "summary.sections" {
					continue
				}
				require.Regexp(t, "^`[A-Za-z_]+`$", f.value, "%s: %s", p.name, f.path)
				continue
			}
			s, _ := p.sourceOf(f.path)
			named[s] = true
		}
	}
	for _, p := range presets {
		for _, s := range p.sources {
			require.True(t, named[s], "%s: nothing is at %s", p.name, s.path)
		}
	}
	for _, s := range baseSources {
		require.True(t, named[s], "nothing is at %s", s.path)
	}
}

// figures returns the figures by which presets differ.
func (p preset) figures(t *testing.T) []figure {
	t.Helper()
	policy, err := Resolve(&compactordv1.Policy{Preset: &p.name, ContextWindow: proto.Uint32(200_000)})
	require.NoError(t, err)
	policy.Preset, policy.ContextWindow, policy.FileTools, policy.Thinking = nil, nil, nil, nil
	policy.Summary = &compactordv1.SummaryPolicy{
		Placement: policy.GetSummary().Placement, Sections: policy.GetSummary().GetSections(),
		Input: policy.GetSummary().GetInput(), FileTags: policy.GetSummary().FileTags,
	}
	return p.figuresOf(nil, "", policy.ProtoReflect())
}

func (p preset) figuresOf(all []figure, path string, m protoreflect.Message) []figure {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		at := strings.TrimPrefix(path+"."+string(f.Name()), ".")
		switch {
		case !m.Has(f):
		case f.Message() != nil && f.Message().Name() == "SectionList":
			list, _ := m.Get(f).Message().Interface().(*compactordv1.SectionList)
			all = append(all, p.figureAt(at, titles(list.GetSections())))
		case f.IsList() && f.Message() != nil:
			for j := range m.Get(f).List().Len() {
				all = p.figuresOf(all, fmt.Sprintf("%s[%d]", at, j), m.Get(f).List().Get(j).Message())
			}
		case f.Message() != nil:
			all = p.figuresOf(all, at, m.Get(f).Message())
		default:
			all = append(all, p.figureAt(at, shown(f, m.Get(f))))
		}
	}
	return all
}

// titles returns the titles of sections in the form of the document.
func titles(sections []*compactordv1.Section) string {
	list := make([]string, len(sections))
	for i, s := range sections {
		list[i] = s.GetTitle()
		if below := s.GetSubsections(); len(below) > 0 {
			list[i] += " (" + strings.ReplaceAll(titles(below), ";", ",") + ")"
		}
	}
	return strings.Join(list, "; ")
}

// shown returns a value in the form of the document.
func shown(f protoreflect.FieldDescriptor, v protoreflect.Value) string {
	switch {
	case f.IsList():
		var names []string
		for i := range v.List().Len() {
			names = append(names, "`"+v.List().Get(i).String()+"`")
		}
		return strings.Join(names, ", ")
	case f.Kind() == protoreflect.Uint32Kind:
		return grouped(v.String())
	case f.Kind() == protoreflect.DoubleKind:
		return plain(f, v)
	default:
		return "`" + strings.ReplaceAll(plain(f, v), "\n", `\n`) + "`"
	}
}

// grouped puts commas between thousands.
func grouped(digits string) string {
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

func (p preset) figureAt(path, value string) figure {
	s, _ := p.sourceOf(path)
	return figure{path, value, s.from}
}

var anyPosition = regexp.MustCompile(`\[\d+\]`)

// sourceOf returns the source with the longest path that a path ends with. The preset's sources come before those of
// all presets.
func (p preset) sourceOf(path string) (source, bool) {
	path = anyPosition.ReplaceAllString(path, "")
	for _, list := range [][]source{p.sources, baseSources} {
		var best source
		for _, s := range list {
			if (path == s.path || strings.HasSuffix(path, "."+s.path)) && len(s.path) > len(best.path) {
				best = s
			}
		}
		if best.path != "" {
			return best, true
		}
	}
	return source{}, false
}
