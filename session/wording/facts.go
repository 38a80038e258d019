package wording

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/quotation"
)

// facts returns what stands beside a summary: slots, and with files also the files that the summary does not name. Each
// has an empty line before it. If the entry bounds them, to-dos get a third of the bytes, the last request what the files
// leave of the rest but at least half of it, and the files what is left then.
func facts(e *compactordv1.CompactionEntry, said string, files bool) string {
	lists := &compactordv1.FileLists{}
	if files {
		lists = e.GetFiles()
	}
	todos, last := e.GetSlots().GetOpenTodos(), e.GetSlots().GetLastUserRequest()
	if e.MaxFactsBytes == nil {
		const most = math.MaxInt
		return todoList(todos, most) + unnamedFiles(lists, said, most) + lastRequest(last, said, most)
	}
	left := int(e.GetMaxFactsBytes())
	open := todoList(todos, left/3)
	left -= len(open)
	request := lastRequest(last, said, left-min(left/2, len(unnamedFiles(lists, said, left))))
	return open + unnamedFiles(lists, said, left-len(request)) + request
}

// todoList returns the open to-dos in at most this many bytes, with the number of those that are left out. It is empty
// where not even one fits.
func todoList(todos []*compactordv1.Todo, most int) string {
	if len(todos) == 0 {
		return ""
	}
	list := fmt.Sprintf("\n\nTo-do list as of [#%d], what is still open:", todos[0].GetIndex())
	for i, t := range todos {
		mark := "pending"
		if t.GetInProgress() {
			mark = "in progress"
		}
		line := fmt.Sprintf("\n- (%s) %s", mark, quotation.Defuse(t.GetText()))
		more := fmt.Sprintf("\n- and %d more", len(todos)-i)
		over := len(list)+len(line) > most
		if i < len(todos)-1 {
			over = over || len(list)+len(line)+len(more) > most
		}
		switch {
		case over && i == 0:
			return ""
		case over:
			return list + more
		}
		list += line
	}
	return list
}

// unnamedFiles returns the lists of the files that the summary does not name, in at most this many bytes. Those that were
// modified come first.
func unnamedFiles(files *compactordv1.FileLists, said string, most int) string {
	modified := unnamedFileList("modified", files.GetModified(), said, most)
	return modified + unnamedFileList("read", files.GetRead(), said, most-len(modified))
}

// unnamedFileList returns a list of the files that the summary does not name: at most maxPathLineBytes of paths, and at
// most this many bytes with what it says about them. It is empty where not even the number of the files fits.
func unnamedFileList(how string, paths []string, said string, most int) string {
	heading := fmt.Sprintf("\n\nFiles %s that the summary does not name:", how)
	further := func(more int) string { return fmt.Sprintf("\n\nFurther files %s: %d", how, more) }
	room := most - len(heading) - len(further(len(paths)))
	lines, more := pathLines(paths, min(maxPathLineBytes, max(0, room)), func(path string) bool { return names(said, path) })
	list := ""
	if lines != "" {
		list = heading + lines
	}
	if more > 0 {
		list += further(more)
	}
	if len(list) > most {
		return ""
	}
	return list
}

// minShownRequest is how many characters of a shortened request are worth its heading.
const minShownRequest = 40

// lastRequest returns the user's last request in at most this many bytes. It is empty where the summary quotes it, and
// where too little of it fits.
func lastRequest(req *compactordv1.UserRequest, said string, most int) string {
	if req == nil || len(req.GetText()) >= minQuoteBytes && strings.Contains(said, req.GetText()) {
		return ""
	}
	text, shortened := req.GetText(), req.GetShortened()
	show := func() string {
		how := "word for word"
		if shortened {
			how = "shortened"
		}
		return fmt.Sprintf("\n\nThe user's last request [#%d], %s:\n%s", req.GetIndex(), how, text)
	}
	if shown := show(); len(shown) <= most {
		return shown
	}
	shortened = true
	for n := utf8.RuneCountInString(req.GetText()) * 7 / 8; n >= minShownRequest; n = n * 7 / 8 {
		text = Shorten(req.GetText(), n)
		if shown := show(); len(shown) <= most {
			return shown
		}
	}
	return ""
}
