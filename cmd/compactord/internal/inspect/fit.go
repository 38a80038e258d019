package inspect

import (
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/service/inspector"
)

// describe begins what the file says of itself.
func (h *held) describe(redacted bool, secrets uint32) {
	h.About = []string{
		"This file was made by compactord " + terminal.ThisBuild().Version + " from " + h.name + ". It needs no daemon, asks nobody for anything, and changes nothing.",
	}
	if !redacted {
		h.About = append(h.About, "Secrets were not replaced.")
		return
	}
	h.About = append(h.About, fmt.Sprintf("Secrets were replaced in %s. No rule finds all of them.", terminal.Count(secrets, "text")))
}

// longest are the lengths to which texts are cut where nothing else makes a file small enough, in characters.
var longest = []int{65536, 16384, 4096, 1024, 256}

// fit returns the page with as much of what is held as fits into so many bytes, and says what it leaves out.
func (h *held) fit(most int) (page []byte, leftOut []string, err error) {
	if h.older > 0 {
		leftOut = append(leftOut, "the views as of the oldest "+terminal.Count(h.older, "point"))
	}
	if page, err = h.page(leftOut); err != nil || len(page) <= most {
		return page, leftOut, err
	}
	h.Requests = nil
	leftOut = append(leftOut, "the requests as JSON")
	if page, err = h.page(leftOut); err != nil || len(page) <= most {
		return page, leftOut, err
	}
	h.keepNewestView()
	leftOut = []string{"the requests as JSON", "the views as of earlier points"}
	if page, err = h.page(leftOut); err != nil || len(page) <= most {
		return page, leftOut, err
	}
	for _, limit := range longest {
		without := append(slices.Clone(leftOut), "what texts have beyond their first "+terminal.Count(limit, "character"))
		if page, err = h.shortened(limit).page(without); err != nil || len(page) <= most {
			return page, without, err
		}
	}
	return nil, nil, fmt.Errorf("the conversation does not fit into a file of %s bytes: even with only the beginnings of its texts it has %s",
		terminal.Number(most), terminal.Number(len(page)))
}

// shortened returns the same with shorter texts.
func (h *held) shortened(limit int) *held {
	with := *h
	for _, list := range []*[]any{&with.Log, &with.Records, &with.Messages} {
		all := make([]any, len(*list))
		for i, value := range *list {
			all[i] = shortened(value, limit)
		}
		*list = all
	}
	return &with
}

// page returns the page, which says what it leaves out.
func (h *held) page(leftOut []string) ([]byte, error) {
	shown := *h
	shown.About = slices.Clone(h.About)
	for _, what := range leftOut {
		shown.About = append(shown.About, "Left out, since the file would be too large: "+what+".")
	}
	text, err := json.Marshal(&shown)
	if err != nil {
		return nil, err
	}
	return inspector.Single(text)
}

// keepNewestView drops all other views, and the messages that only they have.
func (h *held) keepNewestView() {
	h.Views = h.Views[:1]
	messages := make([]any, len(h.Views[0].Messages))
	for i, place := range h.Views[0].Messages {
		messages[i] = h.Messages[place]
		h.Views[0].Messages[i] = i
	}
	h.Messages = messages
}

// shortened returns a value of JSON whose texts have at most so many characters, and then say how many are left out.
func shortened(value any, limit int) any {
	switch v := value.(type) {
	case string:
		return shortenedText(v, limit)
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = shortened(v[i], limit)
		}
		return list
	case map[string]any:
		fields := make(map[string]any, len(v))
		for name, field := range v {
			fields[name] = shortened(field, limit)
		}
		return fields
	default:
		return value
	}
}

func shortenedText(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	characters := utf8.RuneCountInString(text)
	if characters <= limit {
		return text
	}
	kept := 0
	for range limit {
		_, size := utf8.DecodeRuneInString(text[kept:])
		kept += size
	}
	return fmt.Sprintf("%s … [%s left out of this file]", text[:kept], terminal.Count(characters-limit, "character"))
}
